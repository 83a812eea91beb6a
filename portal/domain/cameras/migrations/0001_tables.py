import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import tenants.vault
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
            name="Camera",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("camera_id", models.CharField(db_collation="C", max_length=200)),
                ("name", models.CharField(blank=True, default="", max_length=60)),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("name"), models.Value("")
                                        ),
                                        models.F("camera_id"),
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
                    "doors",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "areas",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("is_intercom", models.BooleanField(db_default=False, default=False)),
                ("is_connected", models.BooleanField(null=True)),
                ("is_streaming", models.BooleanField(null=True)),
                ("is_missing", models.BooleanField(default=False)),
                ("is_suspect", models.BooleanField(default=False)),
                ("status_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["looked_at"], name="cameras_camera_looked_at")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "camera_id"), name="cameras_camera_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CameraSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pictures_of_commands", models.BooleanField(default=False)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="cameras_settings_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CameraUsage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(null=True)),
                ("until", models.DateTimeField(null=True)),
                ("streaming_total", models.FloatField(null=True)),
                ("streaming_limit", models.FloatField(null=True)),
                ("download_total", models.FloatField(null=True)),
                ("download_limit", models.FloatField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="cameras_usage_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Clip",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("history_id", models.TextField(db_collation="C")),
                ("at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("ready", "Ready"), ("never", "Never"), ("failed", "Failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("camera_name", models.TextField(blank=True, default="")),
                ("address", tenants.vault.EncryptedText(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("trouble", models.TextField(blank=True, default="")),
                ("shown", models.PositiveIntegerField(default=0)),
                ("shown_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="cameras_clip_due"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "history_id"), name="cameras_clip_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CommandPicture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("device_id", models.TextField(db_collation="C")),
                ("side", models.CharField(choices=[("before", "Before"), ("after", "After")], max_length=6)),
                ("at", models.DateTimeField()),
                ("due_at", models.DateTimeField(null=True)),
                ("trouble", models.CharField(blank=True, default="", max_length=60)),
                (
                    "intent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="intents.intent"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="cameras_command_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("intent", "side"), name="cameras_command_picture_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Picture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(null=True)),
                ("content", tenants.vault.EncryptedBytes(null=True)),
                ("mark", models.CharField(blank=True, default="", max_length=32)),
                ("taken_at", models.DateTimeField(null=True)),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("trouble", models.CharField(blank=True, default="", max_length=60)),
                (
                    "camera",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pictures", to="cameras.camera"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("camera", "at"), name="cameras_picture_once", nulls_distinct=False)
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Viewing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(null=True)),
                ("until", models.DateTimeField(null=True)),
                ("address", tenants.vault.EncryptedText(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("seconds", models.PositiveIntegerField()),
                ("began_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ends_at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "camera",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="viewings", to="cameras.camera"
                    ),
                ),
                (
                    "support_session",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.supportsession",
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "ends_at"], name="cameras_viewing_ends")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("cameras_camera"),
        EnableRowSecurity("cameras_picture"),
        EnableRowSecurity("cameras_viewing"),
        EnableRowSecurity("cameras_clip"),
        EnableRowSecurity("cameras_camerasettings"),
        EnableRowSecurity("cameras_commandpicture"),
        EnableRowSecurity("cameras_camerausage"),
    ]
