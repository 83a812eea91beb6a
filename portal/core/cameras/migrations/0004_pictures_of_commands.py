"""Pictures before and after door commands."""

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [
        ("cameras", "0003_intercoms"),
        ("intents", "0015_permission_of_the_intercom"),
        ("tenants", "0008_keys_that_sign_exports"),
    ]

    operations = [
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
            name="CommandMoment",
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
                "constraints": [models.UniqueConstraint(fields=("intent", "side"), name="cameras_command_moment_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("cameras_camerasettings"),
        EnableRowSecurity("cameras_commandmoment"),
    ]
