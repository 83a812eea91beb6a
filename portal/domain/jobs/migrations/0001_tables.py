import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import tenants.sentences
import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity

# The mirror removes members in SQL: what is kept about them goes with them.
_WITH_MEMBER = """
ALTER TABLE bulk_suspension ADD CONSTRAINT bulk_suspension_goes_with_member
FOREIGN KEY (member_id) REFERENCES mirror_member (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    replaces = [
        ("bulk", "0001_initial"),
        ("bulk", "0002_faults_of_readings"),
        ("bulk", "0003_rows_of_a_member"),
        ("bulk", "0004_states_kept"),
        ("bulk", "0005_suspensions"),
        ("bulk", "0006_titles_in_no_language"),
        ("bulk", "0007_rows_asked_one_by_one"),
        ("bulk", "0008_plain_words"),
        ("bulk", "0009_halts_that_happen"),
        ("bulk", "0010_parts_of_files"),
    ]

    initial = True

    dependencies = [
        ("intents", "0001_tables"),
        ("mirror", "0001_tables"),
        ("tenants", "0001_tables"),
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
                            ("person", "Stopped by a person."),
                            ("rights", "The person who started it no longer has permission."),
                            (
                                "connection",
                                "The service no longer accepts this connection, or a permission or contract is missing.",
                            ),
                            ("unreachable", "The service could not be reached."),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("problem", models.JSONField(default=dict)),
                ("headings", tenants.vault.EncryptedJSON(null=True)),
                ("looked_at", models.PositiveIntegerField(default=0)),
                ("size", models.PositiveIntegerField(default=0)),
                ("unchanged", models.PositiveIntegerField(default=0)),
                ("part_rows", models.PositiveIntegerField(default=0)),
                ("part_bytes", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("checked_at", models.DateTimeField(null=True)),
                ("starts_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("stop_asked", models.BooleanField(default=False)),
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
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="retries", to="bulk.job"
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
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="undone_by", to="bulk.job"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="bulk_newest"),
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="bulk_due"),
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
                ("body", tenants.vault.EncryptedBytes()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "job",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="bulk.job"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="bulk_one_exportpart")],
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
                            ("refused", "Refused"),
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
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="bulk.job"),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("job", "ordinal"), name="bulk_one_part"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "closed"), _negated=True),
                        fields=("job",),
                        name="bulk_one_part_at_a_time",
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
                            ("refused", "Refused"),
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
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="bulk.job"),
                ),
                (
                    "part",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="bulk.part"
                    ),
                ),
                (
                    "retried_in",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="bulk.job"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["job", "state", "action", "line"], name="bulk_row_by_state"),
                    models.Index(
                        condition=models.Q(("part__isnull", False)),
                        fields=["part", "position"],
                        name="bulk_row_of_part",
                    ),
                    models.Index(
                        condition=models.Q(("intent__isnull", False)), fields=["intent"], name="bulk_row_of_intent"
                    ),
                    models.Index(
                        condition=models.Q(("part__isnull", False), ("state", "succeeded")),
                        fields=["tenant", "member_id", "-id"],
                        name="bulk_row_of_member",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "line"), name="bulk_one_row_a_line")],
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
                        to="mirror.member",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "member", "ends_at"], name="bulk_suspension_of")],
                "constraints": [models.UniqueConstraint(fields=("member", "ends_at"), name="bulk_suspension_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunSQL(_WITH_MEMBER, "ALTER TABLE bulk_suspension DROP CONSTRAINT bulk_suspension_goes_with_member"),
        *(EnableRowSecurity(f"bulk_{table}") for table in ("job", "exportpart", "part", "row", "suspension")),
    ]
