import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    replaces = [("telling", "0001_first_tellings"), ("telling", "0002_line_works")]

    initial = True

    dependencies = [
        ("alerts", "0001_tables"),
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="WebAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("url", tenants.vault.EncryptedText()),
                ("secret", tenants.vault.EncryptedText()),
                (
                    "shape",
                    models.CharField(
                        choices=[
                            ("text", "Text (Slack and others)"),
                            ("card", "Card (Microsoft Teams)"),
                            ("line_works", "LINE WORKS (Incoming Webhook)"),
                        ],
                        default="text",
                        max_length=10,
                    ),
                ),
                (
                    "least",
                    models.PositiveSmallIntegerField(choices=[(1, "Note"), (2, "Warning"), (3, "Alarm")], default=2),
                ),
                ("language", models.CharField(max_length=5)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="telling_one_address_a_name")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Telling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sending", "Sending"),
                            ("told", "Sent"),
                            ("uncertain", "Uncertain, perhaps sent"),
                            ("failed", "Not sent"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("not_before", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("answer", models.TextField(blank=True, default="")),
                (
                    "alert",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tellings",
                        to="alerts.alert",
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "address",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tellings",
                        to="telling.webaddress",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="telling_telling_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("alert", "user"), name="telling_each_person_once"),
                    models.UniqueConstraint(fields=("alert", "address"), name="telling_each_address_once"),
                    models.CheckConstraint(
                        condition=models.Q(("user", None), ("address", None), _connector="XOR"),
                        name="telling_has_one_recipient",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Wish",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("least", models.PositiveSmallIntegerField()),
                ("hours", models.JSONField(default=dict)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "user"), name="telling_one_wish_a_person")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Audience",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "people",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "kind"), name="telling_one_audience_a_rule")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        *(EnableRowSecurity(f"telling_{table}") for table in ("webaddress", "telling", "wish", "audience")),
    ]
