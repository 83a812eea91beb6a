import django.contrib.postgres.fields
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
            name="Notification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("history_id", models.TextField(db_collation="C")),
                ("delivery_id", models.TextField(blank=True, db_collation="C", default="")),
                ("received_at", models.DateTimeField()),
                ("at", models.DateTimeField(null=True)),
                ("body", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("shown", "Shown"), ("read", "Read"), ("kept", "Kept")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "read"), _negated=True),
                        fields=["tenant", "received_at"],
                        name="webhooks_notification_waiting",
                    ),
                    models.Index(fields=["received_at"], name="webhooks_notification_received"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "history_id"), name="webhooks_notification_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", tenants.vault.EncryptedText()),
                ("token_digest", models.BinaryField(max_length=32, unique=True)),
                ("former_digest", models.BinaryField(max_length=32, null=True, unique=True)),
                ("secret", tenants.vault.EncryptedText(null=True)),
                ("former_secret", tenants.vault.EncryptedText(null=True)),
                ("former_until", models.DateTimeField(null=True)),
                ("is_on", models.BooleanField(default=False)),
                (
                    "categories",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("set_at", models.DateTimeField(null=True)),
                ("last_received_at", models.DateTimeField(null=True)),
                ("lost_at", models.DateTimeField(null=True)),
                ("tested_at", models.DateTimeField(null=True)),
                ("missed", models.PositiveIntegerField(default=0)),
                ("missed_at", models.DateTimeField(null=True)),
                ("lacks_record_ids", models.BooleanField(db_default=False, default=False)),
                (
                    "working",
                    models.CharField(
                        choices=[
                            ("off", "Off"),
                            ("waiting", "On, nothing heard yet"),
                            ("working", "Working"),
                            ("silent", "Silent"),
                            ("lossy", "Losing notifications"),
                        ],
                        default="off",
                        max_length=10,
                    ),
                ),
                ("working_at", models.DateTimeField(null=True)),
                ("unnotified", models.JSONField(default=dict)),
                ("rhythm", models.JSONField(default=list)),
                ("rhythm_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("last_run_at", models.DateTimeField(null=True)),
                ("log_read_at", models.DateTimeField(null=True)),
                ("pause", models.PositiveSmallIntegerField(default=0)),
                ("extra_pause", models.PositiveIntegerField(db_default=0, default=0)),
                ("tenant", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="webhooks_webhook_due"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("webhooks_webhook"),
        EnableRowSecurity("webhooks_notification"),
    ]
