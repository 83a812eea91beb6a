import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import tenants.vault
from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("guests", "0001_initial"),
        ("tenants", "0002_row_security"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ExpectedList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("fingerprint", models.BinaryField()),
                ("headings", tenants.vault.EncryptedJSON()),
                ("mail", models.BooleanField(default=False)),
                ("with_doubles", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("checked", "Dry run done"),
                            ("running", "Issuing"),
                            ("done", "Finished"),
                            ("stopped", "Stopped"),
                        ],
                        default="checked",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("stop_asked", models.BooleanField(default=False)),
                ("due_at", models.DateTimeField(null=True)),
                ("last_end", models.DateTimeField(null=True)),
                ("erased_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
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
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ExpectedRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.PositiveIntegerField()),
                (
                    "verdict",
                    models.CharField(
                        choices=[("ready", "New code"), ("double", "Likely a double"), ("refused", "Refused")],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[("", ""), ("pending", "Waiting"), ("asked", "Asked for"), ("left_out", "Not sent")],
                        default="",
                        max_length=10,
                    ),
                ),
                ("content", tenants.vault.EncryptedJSON(null=True)),
                ("problems", models.JSONField(default=list)),
                ("marks", models.JSONField(default=list)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="expected.expectedlist"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "visit",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="guests.visit"
                    ),
                ),
            ],
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name="expectedlist",
            index=models.Index(fields=["tenant", "-id"], name="expected_newest"),
        ),
        migrations.AddIndex(
            model_name="expectedlist",
            index=models.Index(fields=["tenant", "fingerprint"], name="expected_same_file"),
        ),
        migrations.AddIndex(
            model_name="expectedlist",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="expected_due"),
        ),
        migrations.AddIndex(
            model_name="expectedrow",
            index=models.Index(fields=["job", "state", "line"], name="expected_row_by_state"),
        ),
        migrations.AddConstraint(
            model_name="expectedrow",
            constraint=models.UniqueConstraint(fields=("job", "line"), name="expected_one_row_a_line"),
        ),
        EnableRowSecurity("expected_expectedlist"),
        EnableRowSecurity("expected_expectedrow"),
    ]
