import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("storage", "0001_tables"),
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.UUIDField()),
                ("kind", models.CharField(max_length=20)),
                ("choices", models.JSONField(default=dict)),
                ("every", models.CharField(choices=[("week", "Week"), ("month", "Month")], max_length=5)),
                ("hour", models.PositiveSmallIntegerField(default=7)),
                ("language", models.CharField(max_length=10)),
                ("recipients", models.JSONField(default=list)),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("next_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_at__isnull", False)), fields=["next_at"], name="reports_schedule_next"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="reports_scheduled_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.UUIDField(null=True)),
                ("kind", models.CharField(max_length=20)),
                ("choices", models.JSONField(default=dict)),
                ("language", models.CharField(max_length=10)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("trouble", models.CharField(blank=True, default="", max_length=20)),
                ("made_at", models.DateTimeField(null=True)),
                ("head", models.JSONField(null=True)),
                ("named_since", models.DateTimeField(null=True)),
                ("files_deleted_at", models.DateTimeField(null=True)),
                ("recipients", models.JSONField(default=list)),
                ("missed", models.PositiveIntegerField(default=0)),
                (
                    "book",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="storage.storedfile",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="storage.storedfile",
                    ),
                ),
                (
                    "pdf",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="storage.storedfile",
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "schedule",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reports",
                        to="reports.schedule",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="reports_newest"),
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="reports_due"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "nonce"), name="reports_asked_once"),
                    models.UniqueConstraint(fields=("schedule", "since"), name="reports_one_of_each_period"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("reports_schedule"),
        EnableRowSecurity("reports_report"),
    ]
