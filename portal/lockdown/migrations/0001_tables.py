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
            name="Lockdown",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.CharField(max_length=64)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("lockdown", "Lockdown"),
                            ("evacuation", "Evacuation unlock"),
                            ("relock", "Locking after an evacuation"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Waiting for a second person"),
                            ("active", "Active"),
                            ("released", "Released"),
                            ("replaced", "Replaced by a newer one"),
                            ("withdrawn", "Not confirmed, nothing sent"),
                            ("done", "Done"),
                            ("rehearsed", "Rehearsal, nothing sent"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[("all", "All doors"), ("area", "Doors of an area"), ("chosen", "Chosen doors")],
                        max_length=10,
                    ),
                ),
                ("area_name", models.TextField(blank=True, default="")),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("confirm_by", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "started_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="lockdown_due")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "nonce"), name="lockdown_one_per_nonce"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "active")), fields=("tenant", "kind"), name="lockdown_one_active"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="LockdownDoor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("device_id", models.TextField(db_collation="C")),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("name", models.TextField(blank=True, default="")),
                ("before", models.CharField(blank=True, default="", max_length=20)),
                (
                    "forecast",
                    models.CharField(
                        blank=True,
                        choices=[("offline", "Offline"), ("unknown", "Unknown"), ("calls", "Calls")],
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "lockdown",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="doors", to="lockdown.lockdown"
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="intents.intent"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("lockdown", "device_id"), name="lockdown_door_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="LockdownSetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("evacuation", models.BooleanField(default=False)),
                ("doors", models.JSONField(default=list)),
                (
                    "second",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Nothing"),
                            ("evacuation", "Evacuation unlock"),
                            ("both", "Evacuation unlock and lockdown"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="lockdown_one_setting")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("lockdown_lockdown"),
        EnableRowSecurity("lockdown_lockdowndoor"),
        EnableRowSecurity("lockdown_lockdownsetting"),
    ]
