import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("intents", "0001_tables"),
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Preset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("name_ja", models.CharField(blank=True, default="", max_length=60)),
                ("area_ids", models.JSONField(default=list)),
                ("keys", models.JSONField(default=list)),
                ("minutes", models.PositiveIntegerField(null=True)),
                ("until", models.TimeField(null=True)),
                ("grace_minutes", models.PositiveIntegerField(default=0)),
                ("remarks_ja", models.CharField(blank=True, default="", max_length=200)),
                ("remarks_en", models.CharField(blank=True, default="", max_length=200)),
                ("arrives", models.BooleanField(db_default=True, default=True)),
                ("position", models.PositiveIntegerField(default=0)),
                ("is_default", models.BooleanField(default=False)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "position", "id"], name="visits_preset_order")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)), fields=("tenant",), name="visits_one_default_preset"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("minutes__isnull", True), ("until__isnull", True), _connector="XOR"),
                        name="visits_preset_ends_one_way",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("grace_minutes__lte", 10080)), name="visits_preset_grace"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[("requested", "Requested"), ("issued", "Issued"), ("not_issued", "Not issued")],
                        default="requested",
                        max_length=10,
                    ),
                ),
                ("guest_id", models.TextField(db_collation="C", null=True)),
                ("guest_name", models.TextField()),
                ("name_key", models.TextField(db_collation="C")),
                ("use_date_start", models.DateTimeField()),
                ("use_date_end", models.DateTimeField()),
                ("email_used", models.BooleanField(default=False)),
                ("company", models.CharField(blank=True, default="", max_length=100)),
                ("host_member_id", models.TextField(blank=True, db_collation="C", default="")),
                ("host_name", models.CharField(blank=True, default="", max_length=100)),
                ("host_key", models.TextField(blank=True, db_collation="C", default="")),
                ("party", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("arrives", models.BooleanField(db_default=False, default=False)),
                ("arrived_at", models.DateTimeField(null=True)),
                (
                    "arrived_by",
                    models.CharField(
                        blank=True,
                        choices=[("desk", "Desk"), ("history", "History"), ("issue", "With code")],
                        default="",
                        max_length=10,
                    ),
                ),
                ("left_at", models.DateTimeField(null=True)),
                (
                    "left_by",
                    models.CharField(
                        blank=True,
                        choices=[("desk", "Desk"), ("history", "History"), ("issue", "With code")],
                        default="",
                        max_length=10,
                    ),
                ),
                ("suggested_arrival_at", models.DateTimeField(null=True)),
                ("suggested_leave_at", models.DateTimeField(null=True)),
                ("first_use_place", models.TextField(blank=True, db_default="", default="")),
                ("last_use_at", models.DateTimeField(null=True)),
                ("last_use_place", models.TextField(blank=True, db_default="", default="")),
                ("must_end_at", models.DateTimeField(null=True)),
                ("ended_confirmed_at", models.DateTimeField(null=True)),
                ("cut_due_at", models.DateTimeField(null=True)),
                ("cut_attempts", models.PositiveIntegerField(default=0)),
                ("cut_way", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("gone_at", models.DateTimeField(null=True)),
                ("erased_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cut_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cut_intent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="intents.intent"
                    ),
                ),
                (
                    "cut_session",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.supportsession",
                    ),
                ),
                (
                    "intent",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="visit",
                        to="intents.intent",
                    ),
                ),
                (
                    "preset",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="visits.preset"
                    ),
                ),
                (
                    "revive_intent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="intents.intent"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "use_date_end", "id"], name="visits_by_end"),
                    models.Index(fields=["tenant", "use_date_start", "id"], name="visits_by_start"),
                    models.Index(fields=["tenant", "name_key", "use_date_end"], name="visits_by_name"),
                    models.Index(fields=["tenant", "host_member_id", "use_date_end"], name="visits_by_host"),
                    models.Index(
                        condition=models.Q(("party__isnull", False)), fields=["tenant", "party"], name="visits_by_party"
                    ),
                    models.Index(
                        condition=models.Q(("arrived_at__isnull", False), ("left_at__isnull", True)),
                        fields=["tenant", "arrived_at"],
                        name="visits_here_now",
                    ),
                    models.Index(
                        condition=models.Q(("cut_due_at__isnull", False)), fields=["cut_due_at"], name="visits_cut_due"
                    ),
                    models.Index(
                        condition=models.Q(("ended_confirmed_at__isnull", True), ("must_end_at__isnull", False)),
                        fields=["tenant", "must_end_at"],
                        name="visits_unconfirmed_cuts",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "guest_id"), name="visits_one_visit_per_guest"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("stage", "issued"), _negated=True), ("guest_id__isnull", False), _connector="OR"
                        ),
                        name="visits_issued_is_named",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CodeLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("opened", models.PositiveIntegerField(default=0)),
                ("opened_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "visit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="links", to="visits.visit"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["visit", "-id"], name="visits_links_of_visit")],
                "constraints": [models.UniqueConstraint(fields=("digest",), name="visits_one_link_per_secret")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="DeskAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("changes", models.JSONField(default=list)),
                ("undone_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "by", "-id"], name="visits_actions_of_person")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="DeskSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("keep_days", models.PositiveIntegerField(default=90)),
                (
                    "delivery",
                    models.CharField(
                        choices=[
                            ("direct", "A code is created for the desk (screen, print or link)"),
                            ("mail", "A code is created and e-mailed"),
                        ],
                        default="direct",
                        max_length=10,
                    ),
                ),
                ("link_minutes", models.PositiveIntegerField(default=0)),
                ("arrives_by_history", models.BooleanField(default=True)),
                ("erased_through", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="visits_settings_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("visits_preset"),
        EnableRowSecurity("visits_desksettings"),
        EnableRowSecurity("visits_visit"),
        EnableRowSecurity("visits_deskaction"),
        EnableRowSecurity("visits_codelink"),
    ]
