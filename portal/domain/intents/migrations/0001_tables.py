import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import tenants.sentences
import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Intent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.CharField(max_length=64)),
                ("operation", models.CharField(max_length=40)),
                ("delivery", models.CharField(max_length=10)),
                ("target", models.CharField(blank=True, max_length=140)),
                ("title", tenants.sentences.SentenceField()),
                ("audit_title", tenants.sentences.SentenceField(blank=True, db_default="", default="")),
                ("path", models.JSONField(default=dict)),
                ("body", tenants.vault.EncryptedJSON(null=True)),
                ("snapshot", tenants.vault.EncryptedJSON(null=True)),
                ("automatic", models.BooleanField(db_default=False, default=False)),
                ("permission", models.CharField(max_length=40)),
                ("priority", models.SmallIntegerField()),
                ("queue", models.CharField(max_length=12)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Waiting to be sent"),
                            ("sending", "Being sent"),
                            ("accepted", "Accepted, in progress"),
                            ("succeeded", "Done"),
                            ("failed", "Refused"),
                            ("uncertain", "Uncertain"),
                            ("expired", "Too late, not sent"),
                            ("cancelled", "Not sent"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", ""),
                            ("too_late", "More than 15 seconds passed since the click."),
                            ("rights", "The person who requested it no longer has permission."),
                            ("connection", "The connection to the service is not working."),
                            ("licence", "No licence key for remote operation is stored."),
                            ("newer", "Replaced by a newer command for the same door."),
                            ("budget", "No API calls left this hour."),
                            ("stopped", "Stopped by staff"),
                            ("not_sent", "The service could not be reached."),
                            ("invalid", "Not sent: outside the service's limits."),
                            ("timed_out", "The service did not respond in time."),
                            ("lost", "The connection was lost before the response arrived."),
                            ("fault", "The service reported an error."),
                            ("unreadable", "The service's response could not be read."),
                            ("process", "Sending was interrupted before the response was recorded."),
                            ("unfollowed", "The service did not report a result in time."),
                            ("refused", "Refused by the service."),
                            ("absent", "A later check showed that it was not applied."),
                            ("decided", "Decided by staff."),
                            ("step_before", "Waiting for the previous step."),
                            ("step_missing", "The previous step was not completed."),
                            ("restored", "The portal's data was restored from a backup. It may have been sent before."),
                            ("request_failed", "The service accepted it, then reported a failure."),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("deadline", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True)),
                ("woken_at", models.DateTimeField(null=True)),
                ("claim", models.UUIDField(null=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("accepted_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("polls", models.PositiveIntegerField(default=0)),
                ("request_id", models.CharField(blank=True, max_length=200)),
                ("request_status", models.CharField(blank=True, max_length=100)),
                ("result", models.JSONField(default=dict)),
                ("http_status", models.PositiveSmallIntegerField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=20)),
                ("error_detail", models.TextField(blank=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="intents_due"),
                    models.Index(
                        condition=models.Q(("state", "sending")), fields=["claimed_at"], name="intents_claimed"
                    ),
                    models.Index(condition=models.Q(("state", "queued")), fields=["deadline"], name="intents_deadline"),
                    models.Index(fields=["tenant", "target", "id"], name="intents_target"),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "sending", "accepted"])),
                        fields=["tenant", "operation", "id"],
                        name="intents_under_way",
                    ),
                    models.Index(fields=["tenant", "-id"], name="intents_newest"),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "sending", "accepted", "uncertain"])),
                        fields=["tenant", "-id"],
                        name="intents_open",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="intents_one_per_nonce")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", tenants.vault.EncryptedBytes()),
                ("content_type", models.CharField(max_length=40)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "intent",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="enclosure", to="intents.intent"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "reachable_objects",
                "default_manager_name": "objects",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("intents_intent"),
        EnableRowSecurity("intents_attachment"),
    ]
