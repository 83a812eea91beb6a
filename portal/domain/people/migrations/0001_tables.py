import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
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
                    models.Index(fields=["tenant", "name_key", "id"], name="people_member_by_name"),
                    models.Index(fields=["tenant", "code_key", "id"], name="people_member_by_code"),
                    models.Index(fields=["tenant", "group_key", "id"], name="people_member_by_group"),
                    models.Index(fields=["tenant", "use_end_key", "id"], name="people_member_by_end"),
                    models.Index(
                        condition=models.Q(("has_card", True)),
                        fields=["tenant", "card_fingerprint"],
                        name="people_member_card",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["tenant", "membergroup_id", "name_key", "id"],
                        name="people_member_of_group",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("has_qr", True)),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_with_qr",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("has_face", True)),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_with_face",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("has_card", False), ("has_face", False), ("has_qr", False)
                        ),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_with_none",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("last_seen_at__isnull", True)),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_never_seen",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True), ("shares_card", True)),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_shares_card",
                    ),
                    models.Index(
                        condition=models.Q(("use_date_start__isnull", False)),
                        fields=["tenant", "use_date_start"],
                        name="people_member_start",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)),
                        fields=["tenant", "name_key", "id"],
                        name="people_member_gone",
                    ),
                    models.Index(
                        models.F("tenant"),
                        models.OrderBy(models.F("rights_read_at"), nulls_first=True),
                        name="people_member_rights",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "member_id"), name="people_member_once")],
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
                "indexes": [models.Index(fields=["tenant", "member_id", "-read_at"], name="people_rights_change_of")],
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
                "indexes": [models.Index(fields=["tenant", "name_key", "id"], name="people_group_by_name")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "membergroup_id"), name="people_group_once")],
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
                "indexes": [models.Index(fields=["tenant", "use_date_end", "id"], name="people_guest_by_end")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "guest_id"), name="people_guest_once")],
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
                        to="people.member",
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
                        fields=["pieces"], gin_pending_list_limit=4096, name="people_membersearch_pieces"
                    )
                ],
            },
        ),
        EnableRowSecurity("people_member"),
        EnableRowSecurity("people_rightschange"),
        EnableRowSecurity("people_group"),
        EnableRowSecurity("people_guest"),
    ]
