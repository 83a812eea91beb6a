import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity

# Django makes no partitioned tables.
_LOG_BY_MONTH = """
CREATE SEQUENCE mirror_history_number AS bigint;
CREATE TABLE mirror_history (
    id bigint NOT NULL DEFAULT nextval('mirror_history_number'),
    tenant_id bigint NOT NULL REFERENCES tenants_tenant (id) DEFERRABLE INITIALLY DEFERRED,
    history_id text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    status text NOT NULL,
    category text NOT NULL,
    content text NOT NULL,
    member_id text COLLATE "C" NOT NULL,
    member_name text NOT NULL,
    member_type text NOT NULL,
    member_label text NOT NULL,
    member_attribute text NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    device_name text NOT NULL,
    device_module text NOT NULL,
    units jsonb NOT NULL,
    extra jsonb NOT NULL,
    said_key text COLLATE "C" NOT NULL DEFAULT '',
    notified boolean NOT NULL DEFAULT false,
    told_at timestamptz,
    CONSTRAINT mirror_history_key PRIMARY KEY (id, at),
    CONSTRAINT mirror_history_once_a_moment UNIQUE (tenant_id, history_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE mirror_history_default PARTITION OF mirror_history DEFAULT;
CREATE TABLE mirror_historysearch (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    at timestamptz NOT NULL,
    pieces integer[] NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE mirror_historysearch_default PARTITION OF mirror_historysearch DEFAULT;
ALTER SEQUENCE mirror_history_number OWNED BY mirror_history.id;
CREATE INDEX mirror_history_newest ON mirror_history (tenant_id, at DESC, id DESC);
CREATE INDEX mirror_history_of_member ON mirror_history (tenant_id, member_id, at DESC) WHERE NOT member_id = '';
CREATE INDEX mirror_history_of_device ON mirror_history (tenant_id, device_id, at DESC) WHERE NOT device_id = '';
CREATE INDEX mirror_history_notified ON mirror_history (tenant_id) WHERE notified;
CREATE INDEX mirror_history_dated_again ON mirror_history (tenant_id, told_at) WHERE told_at IS NOT NULL;
CREATE INDEX mirror_historysearch_newest ON mirror_historysearch (tenant_id, at DESC, id DESC);
CREATE INDEX mirror_historysearch_pieces ON mirror_historysearch USING gin (pieces) WITH (gin_pending_list_limit = 1024);
"""


class Migration(migrations.Migration):
    replaces = [
        ("mirror", "0001_initial"),
        ("mirror", "0002_row_security"),
        ("mirror", "0003_counted_by_index"),
        ("mirror", "0004_guests_histories_tenant"),
        ("mirror", "0005_new_kinds_are_due"),
        ("mirror", "0006_one_index_less"),
        ("mirror", "0007_last_seen_and_shared_cards"),
        ("mirror", "0008_what_is_known_of_doors"),
        ("mirror", "0009_rights_changes"),
        ("mirror", "0010_staged_differences"),
        ("mirror", "0011_groups_counted_by_index"),
        ("mirror", "0012_plain_words"),
        ("mirror", "0013_words_outside_of_tables"),
        ("mirror", "0014_log_by_month"),
        ("mirror", "0015_days_asked_for"),
        ("mirror", "0016_where_notifications_go"),
        ("mirror", "0017_dated_again"),
        ("mirror", "0018_keys"),
        ("mirror", "0019_names_in_natural_order"),
    ]

    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("member_id", models.TextField(db_collation="C")),
                ("member_name", models.TextField()),
                ("member_code", models.TextField(blank=True, default="")),
                ("membergroup_id", models.TextField(blank=True, db_collation="C", default="")),
                ("membergroup_name", models.TextField(blank=True, default="")),
                ("name_key", models.TextField(db_collation="C")),
                ("code_key", models.TextField(blank=True, db_collation="C", default="")),
                ("group_key", models.TextField(blank=True, db_collation="C", default="")),
                ("card_data", tenants.vault.EncryptedText(null=True)),
                ("card_fingerprint", models.BinaryField(null=True)),
                ("qrcode", tenants.vault.EncryptedJSON(null=True)),
                ("qr_fingerprint", models.BinaryField(null=True)),
                ("has_card", models.BooleanField(default=False)),
                ("has_qr", models.BooleanField(default=False)),
                ("has_face", models.BooleanField(default=False)),
                ("use_date_start", models.DateTimeField(null=True)),
                ("use_date_end", models.DateTimeField(null=True)),
                ("use_end_key", models.BigIntegerField(default=1152921504606846976)),
                ("account_type", models.TextField(blank=True, default="")),
                ("has_profile_image", models.BooleanField(null=True)),
                ("rights", models.JSONField(null=True)),
                ("rights_read_at", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("digest", models.BinaryField(null=True)),
                ("first_hand_at", models.DateTimeField(null=True)),
                ("gone_at", models.DateTimeField(null=True)),
                ("last_seen_at", models.DateTimeField(null=True)),
                ("shares_card", models.BooleanField(db_default=False, default=False)),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "name_key", "id"], name="mirror_member_by_name"),
                    models.Index(fields=["tenant", "code_key", "id"], name="mirror_member_by_code"),
                    models.Index(fields=["tenant", "group_key", "id"], name="mirror_member_by_group"),
                    models.Index(fields=["tenant", "use_end_key", "id"], name="mirror_member_by_end"),
                    models.Index(
                        condition=models.Q(("has_card", True)),
                        fields=["tenant", "card_fingerprint"],
                        name="mirror_member_card",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["tenant", "membergroup_id", "name_key", "id"],
                        name="mirror_member_of_group",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("has_qr", True)),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_with_qr",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("has_face", True)),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_with_face",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("has_card", False), ("has_face", False), ("has_qr", False)
                        ),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_with_none",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("last_seen_at__isnull", True)),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_never_seen",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("shares_card", True)),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_shares_card",
                    ),
                    models.Index(
                        condition=models.Q(("use_date_start__isnull", False)),
                        fields=["tenant", "use_date_start"],
                        name="mirror_member_start",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)),
                        fields=["tenant", "name_key", "id"],
                        name="mirror_member_gone",
                    ),
                    models.Index(
                        models.F("tenant"),
                        models.OrderBy(models.F("rights_read_at"), nulls_first=True),
                        name="mirror_member_rights",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "member_id"), name="mirror_member_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="KeyBox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.JSONField(default=dict)),
                ("status_as_of", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("key_device_id", models.TextField(db_collation="C")),
                ("key_device_name", models.TextField(blank=True, default="")),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("key_device_name"), models.Value("")
                                        ),
                                        models.F("key_device_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("product_type", models.TextField(blank=True, default="")),
                ("number_of_management", models.IntegerField(null=True)),
                ("units", models.JSONField(default=list)),
                ("look_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "key_device_id"), name="mirror_keybox_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Key",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit_no", models.TextField(db_collation="C")),
                (
                    "number_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("unit_no"), models.Value("")
                                        ),
                                        models.F("unit_no"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("unit_name", models.TextField(blank=True, default="")),
                ("restriction", models.BooleanField(null=True)),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("since", models.DateTimeField(null=True)),
                ("differs", models.BooleanField(default=False)),
                ("known_at", models.DateTimeField(null=True)),
                ("holder_id", models.TextField(blank=True, db_collation="C", default="")),
                ("holder_name", models.TextField(blank=True, default="")),
                (
                    "read_state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("read_since", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("lock", models.CharField(blank=True, default="", max_length=8)),
                ("raw", models.JSONField(default=dict)),
                (
                    "record_state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("record_at", models.DateTimeField(null=True)),
                ("record_heard_at", models.DateTimeField(null=True)),
                ("record_id", models.TextField(blank=True, db_collation="C", default="")),
                ("person_id", models.TextField(blank=True, db_collation="C", default="")),
                ("person_name", models.TextField(blank=True, default="")),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "key_box",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="keys", to="mirror.keybox"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "out")), fields=["tenant", "since"], name="mirror_key_out"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "key_box", "unit_no"), name="mirror_key_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="MemberSearch",
            fields=[
                (
                    "member",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="mirror.member",
                    ),
                ),
                ("pieces", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["pieces"], gin_pending_list_limit=4096, name="mirror_membersearch_pieces"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MirrorState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("as_of", models.DateTimeField(null=True)),
                ("total", models.IntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("rung_at", models.DateTimeField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=60)),
                ("error_at", models.DateTimeField(null=True)),
                ("failures", models.IntegerField(default=0)),
                ("every", models.PositiveIntegerField(null=True)),
                ("memory", models.JSONField(default=dict)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="mirror_state_due")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "kind"), name="mirror_state_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="PassController",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.JSONField(default=dict)),
                ("status_as_of", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("device_id", models.TextField(db_collation="C")),
                ("device_name", models.TextField(blank=True, default="")),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("device_name"), models.Value("")
                                        ),
                                        models.F("device_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("forced_open", "Forced Open"),
                            ("left_open", "Left Open"),
                            ("held_open", "Held Open"),
                            ("held", "Held"),
                            ("offline", "Offline"),
                            ("open", "Open"),
                            ("unlocked", "Unlocked"),
                            ("locked", "Locked"),
                            ("", "Unknown"),
                        ],
                        db_default="",
                        default="",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField(null=True)),
                ("attention", models.BooleanField(db_default=False, default=False)),
                ("told", models.JSONField(db_default={}, default=dict)),
                ("known_at", models.DateTimeField(null=True)),
                ("look_at", models.DateTimeField(null=True)),
                ("urgent", models.BooleanField(db_default=False, default=False)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "device_id"), name="mirror_passcontroller_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="RightsChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("member_id", models.TextField(db_collation="C")),
                ("since", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField()),
                ("before", models.JSONField()),
                ("after", models.JSONField()),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "member_id", "-read_at"], name="mirror_rights_change_of")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SharedReading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.TextField(db_collation="C")),
                ("token", models.UUIDField(default=uuid.uuid4)),
                ("until", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
                ("answer", tenants.vault.EncryptedBytes(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["until"], name="mirror_sharedreading_until")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "key"), name="mirror_sharedreading_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SyncRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("state", models.CharField(default="running", max_length=10)),
                ("cursor", models.TextField(blank=True, default="")),
                ("complete", models.BooleanField(default=False)),
                ("pages", models.IntegerField(default=0)),
                ("rows", models.IntegerField(default=0)),
                ("expected", models.IntegerField(null=True)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=60)),
                ("changed", models.IntegerField(default=0)),
                ("removed", models.IntegerField(default=0)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "kind", "-started_at"], name="mirror_syncrun_latest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("tenant", "kind"),
                        name="mirror_syncrun_one_running",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="StagedPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("cursor", models.TextField(blank=True, default="")),
                (
                    "listed",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("body", tenants.vault.EncryptedBytes()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="mirror.syncrun")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="mirror_stagedpage_once"),
                    models.UniqueConstraint(fields=("run", "cursor"), name="mirror_stagedpage_cursor"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="TenantRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant_name", models.TextField(blank=True, default="")),
                ("holiday", models.JSONField(default=dict)),
                ("webhook", tenants.vault.EncryptedJSON(null=True)),
                ("has_webhook_secret", models.BooleanField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("read_at", models.DateTimeField()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="mirror_tenantrecord_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Area",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("area_id", models.TextField(db_collation="C")),
                ("area_name", models.TextField()),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("area_name"), models.Value("")
                                        ),
                                        models.F("area_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("is_outside", models.BooleanField(null=True)),
                ("is_management", models.BooleanField(null=True)),
                ("devices_list", models.JSONField(default=list)),
                ("extra", models.JSONField(default=dict)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "area_id"), name="mirror_area_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("membergroup_id", models.TextField(db_collation="C")),
                ("membergroup_name", models.TextField()),
                ("name_key", models.TextField(db_collation="C")),
                ("member_count", models.IntegerField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("first_hand_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "name_key", "id"], name="mirror_group_by_name")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "membergroup_id"), name="mirror_group_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Guest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("guest_id", models.TextField(db_collation="C")),
                ("guest_name", models.TextField()),
                ("name_key", models.TextField(db_collation="C")),
                ("email", tenants.vault.EncryptedText(null=True)),
                ("use_date_start", models.DateTimeField(null=True)),
                ("use_date_end", models.DateTimeField(null=True)),
                ("key_return_date_end", models.DateTimeField(null=True)),
                ("is_for_reserve", models.BooleanField(null=True)),
                ("qrcode_data", tenants.vault.EncryptedText(null=True)),
                ("qr_fingerprint", models.BinaryField(null=True)),
                ("detail", tenants.vault.EncryptedJSON(null=True)),
                ("detail_read_at", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("digest", models.BinaryField(null=True)),
                ("first_hand_at", models.DateTimeField(null=True)),
                ("gone_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "use_date_end", "id"], name="mirror_guest_by_end")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "guest_id"), name="mirror_guest_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="HistoryDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("asked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("read_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=60)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "day"), name="mirror_historyday_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    _LOG_BY_MONTH,
                    "DROP TABLE mirror_history, mirror_historysearch; DROP SEQUENCE mirror_history_number",
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="History",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("history_id", models.TextField(db_collation="C")),
                        ("at", models.DateTimeField()),
                        ("status", models.TextField(blank=True, default="")),
                        ("category", models.TextField(blank=True, default="")),
                        ("content", models.TextField(blank=True, default="")),
                        ("member_id", models.TextField(blank=True, db_collation="C", default="")),
                        ("member_name", models.TextField(blank=True, default="")),
                        ("member_type", models.TextField(blank=True, default="")),
                        ("member_label", models.TextField(blank=True, default="")),
                        ("member_attribute", models.TextField(blank=True, default="")),
                        ("device_id", models.TextField(blank=True, db_collation="C", default="")),
                        ("device_name", models.TextField(blank=True, default="")),
                        ("device_module", models.TextField(blank=True, default="")),
                        ("units", models.JSONField(default=list)),
                        ("extra", models.JSONField(default=dict)),
                        ("said_key", models.TextField(blank=True, db_collation="C", db_default="", default="")),
                        ("notified", models.BooleanField(db_default=False, default=False)),
                        ("told_at", models.DateTimeField(null=True)),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant", "-at", "-id"], name="mirror_history_newest"),
                            models.Index(
                                condition=models.Q(("member_id", ""), _negated=True),
                                fields=["tenant", "member_id", "-at"],
                                name="mirror_history_of_member",
                            ),
                            models.Index(
                                condition=models.Q(("device_id", ""), _negated=True),
                                fields=["tenant", "device_id", "-at"],
                                name="mirror_history_of_device",
                            ),
                            models.Index(
                                condition=models.Q(("notified", True)),
                                fields=["tenant"],
                                name="mirror_history_notified",
                            ),
                            models.Index(
                                condition=models.Q(("told_at__isnull", False)),
                                fields=["tenant", "told_at"],
                                name="mirror_history_dated_again",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("tenant", "history_id", "at"), name="mirror_history_once_a_moment"
                            )
                        ],
                    },
                    managers=[
                        ("objects", django.db.models.manager.Manager()),
                        ("reachable_objects", django.db.models.manager.Manager()),
                    ],
                ),
                migrations.CreateModel(
                    name="HistorySearch",
                    fields=[
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("at", models.DateTimeField()),
                        (
                            "pieces",
                            django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                to="tenants.tenant",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant", "-at", "-id"], name="mirror_historysearch_newest"),
                            django.contrib.postgres.indexes.GinIndex(
                                fields=["pieces"], gin_pending_list_limit=1024, name="mirror_historysearch_pieces"
                            ),
                        ],
                    },
                ),
            ],
        ),
        *(
            EnableRowSecurity(f"mirror_{table}")
            for table in (
                "member",
                "keybox",
                "key",
                "mirrorstate",
                "passcontroller",
                "rightschange",
                "sharedreading",
                "syncrun",
                "stagedpage",
                "tenantrecord",
                "area",
                "group",
                "guest",
                "history",
                "historyday",
                "history_default",
            )
        ),
    ]
