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
        ("intents", "0001_tables"),
        ("people", "0001_tables"),
        ("storage", "0001_tables"),
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("title", tenants.sentences.SentenceField(blank=True, default="")),
                ("options", models.JSONField(default=dict)),
                ("permission", models.CharField(max_length=40)),
                ("language", models.CharField(default="en", max_length=10)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Map columns"),
                            ("mapped", "Checking"),
                            ("checked", "Ready to start"),
                            ("waiting", "Scheduled"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("stopped", "Stopped"),
                            ("refused", "Not readable"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "halt",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", ""),
                            ("person", "Stopped by staff"),
                            ("rights", "The person who started it no longer has permission."),
                            (
                                "connection",
                                "The service no longer accepts this connection, or a permission or contract is missing.",
                            ),
                            ("restored", "The portal's data was restored from a backup."),
                            ("unreachable", "The service could not be reached."),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("problem", models.JSONField(default=dict)),
                ("headings", tenants.vault.EncryptedJSON(null=True)),
                ("checked_rows", models.PositiveIntegerField(default=0)),
                ("size", models.PositiveIntegerField(default=0)),
                ("unchanged", models.PositiveIntegerField(default=0)),
                ("part_rows", models.PositiveIntegerField(default=0)),
                ("part_bytes", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("checked_at", models.DateTimeField(null=True)),
                ("starts_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("stop_requested", models.BooleanField(default=False)),
                ("due_at", models.DateTimeField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("reads", models.PositiveIntegerField(default=0)),
                ("reading_until", models.DateTimeField(null=True)),
                ("reading_since", models.DateTimeField(null=True)),
                ("blocked_until", models.DateTimeField(null=True)),
                ("last_end", models.DateTimeField(null=True)),
                ("erased_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "retry_of",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="retries", to="jobs.job"
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
                (
                    "undo_of",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="undone_by", to="jobs.job"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="jobs_newest"),
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="jobs_due"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("rows", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("place", models.JSONField(null=True)),
                ("last", models.BooleanField()),
                (
                    "file",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "job",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="jobs_one_exportpart")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Part",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.PositiveIntegerField()),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("create", "New"),
                            ("update", "Changed"),
                            ("delete", "Deleted"),
                            ("double", "Possible duplicate"),
                            ("same", "Unchanged"),
                            ("refused", "Needs correction"),
                        ],
                        max_length=10,
                    ),
                ),
                ("rows", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Under way"), ("reading", "Checking result"), ("closed", "Done")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("ended", models.BooleanField(default=False)),
                ("readings", models.PositiveSmallIntegerField(default=0)),
                ("lost_at", models.DateTimeField(null=True)),
                ("read_until", models.DateTimeField(null=True)),
                ("seen", models.IntegerField(null=True)),
                (
                    "intent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="intents.intent"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="jobs.job"),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("job", "ordinal"), name="jobs_one_part"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "closed"), _negated=True),
                        fields=("job",),
                        name="jobs_one_part_at_a_time",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Row",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.PositiveIntegerField()),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("create", "New"),
                            ("update", "Changed"),
                            ("delete", "Deleted"),
                            ("double", "Possible duplicate"),
                            ("same", "Unchanged"),
                            ("refused", "Needs correction"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("checked", "Checked"),
                            ("pending", "Waiting"),
                            ("sent", "Sent"),
                            ("succeeded", "Done"),
                            ("kept", "Unchanged"),
                            ("failed", "Not applied"),
                            ("uncertain", "Uncertain"),
                            ("stopped", "Not sent"),
                        ],
                        default="checked",
                        max_length=10,
                    ),
                ),
                ("member_id", models.TextField(blank=True, db_collation="C", default="")),
                ("content", tenants.vault.EncryptedJSON(null=True)),
                ("problems", models.JSONField(default=list)),
                ("notes", models.JSONField(default=list)),
                ("code", models.CharField(blank=True, default="", max_length=20)),
                ("detail", models.TextField(blank=True, default="")),
                ("position", models.PositiveIntegerField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("read_at", models.DateTimeField(null=True)),
                ("faults", models.PositiveSmallIntegerField(db_default=0)),
                (
                    "intent",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="intents.intent",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="jobs.job"),
                ),
                (
                    "part",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.part"
                    ),
                ),
                (
                    "retried_in",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["job", "state", "action", "line"], name="jobs_row_by_state"),
                    models.Index(
                        condition=models.Q(("part__isnull", False)),
                        fields=["part", "position"],
                        name="jobs_row_of_part",
                    ),
                    models.Index(
                        condition=models.Q(("intent__isnull", False)), fields=["intent"], name="jobs_row_of_intent"
                    ),
                    models.Index(fields=["tenant", "member_id", "-id"], name="jobs_row_of_member"),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "line"), name="jobs_one_row_a_line")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Suspension",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ends_at", models.DateTimeField()),
                ("former_end", models.DateTimeField(null=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("why", models.CharField(blank=True, default="", max_length=200)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="people.member",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "member", "ends_at"], name="jobs_suspension_of")],
                "constraints": [models.UniqueConstraint(fields=("member", "ends_at"), name="jobs_suspension_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("jobs_job"),
        EnableRowSecurity("jobs_part"),
        EnableRowSecurity("jobs_row"),
        EnableRowSecurity("jobs_exportpart"),
        EnableRowSecurity("jobs_suspension"),
    ]
