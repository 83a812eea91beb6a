import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("jobs", "0001_tables"),
        ("storage", "0001_tables"),
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.UUIDField()),
                ("title", models.CharField(max_length=100)),
                ("areas", models.JSONField()),
                ("rules", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("closing", "Report is being written"),
                            ("finished", "Finished"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_on", models.DateField()),
                ("is_looking", models.BooleanField(default=True)),
                ("place", models.TextField(blank=True, db_collation="C", default="")),
                ("listed_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("members", models.PositiveIntegerField(default=0)),
                ("missing", models.PositiveIntegerField(default=0)),
                ("log_from", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("remind_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("language", models.CharField(blank=True, default="", max_length=10)),
                ("written_from", models.DateTimeField(null=True)),
                ("trouble", models.CharField(blank=True, default="", max_length=20)),
                ("report", models.JSONField(null=True)),
                ("manifest", models.CharField(blank=True, default="", max_length=64)),
                ("key", models.CharField(blank=True, default="", max_length=64)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
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
                    "file",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="storage.storedfile",
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="reviews_newest"),
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="reviews_due"),
                    models.Index(
                        condition=models.Q(("remind_at__isnull", False)), fields=["remind_at"], name="reviews_remind"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="reviews_started_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("area_id", models.TextField(db_collation="C")),
                ("member_id", models.TextField(db_collation="C")),
                ("name", models.TextField()),
                ("name_key", models.TextField(db_collation="C")),
                ("code", models.TextField(blank=True, default="")),
                ("group_id", models.TextField(blank=True, db_collation="C", default="")),
                ("group", models.TextField(blank=True, default="")),
                ("right", models.JSONField()),
                ("digest", models.TextField(db_collation="C")),
                ("now_digest", models.TextField(db_collation="C")),
                (
                    "right_status",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Unchanged"),
                            ("changed", "Changed since the review began"),
                            ("none", "No longer has this right"),
                            ("left", "No longer in the members list"),
                            ("unread", "Right not loaded"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("since_from", models.DateTimeField(null=True)),
                ("since_at", models.DateTimeField(null=True)),
                (
                    "use",
                    models.CharField(
                        choices=[
                            ("area", "At this area’s doors"),
                            ("never", "None in the log"),
                            ("far", "Longer ago at this area’s doors"),
                        ],
                        max_length=8,
                    ),
                ),
                ("used_on", models.DateField(null=True)),
                ("seen_on", models.DateField(null=True)),
                ("added_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("is_late", models.BooleanField(default=False)),
                ("granted", models.JSONField(default=list)),
                ("barred", models.JSONField(default=dict)),
                ("is_barred", models.BooleanField(default=False)),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[("", "Not decided"), ("confirm", "Confirmed"), ("withdraw", "To be withdrawn")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_digest", models.TextField(blank=True, db_collation="C", default="")),
                ("note", models.CharField(blank=True, default="", max_length=300)),
                ("version", models.PositiveIntegerField(default=0)),
                ("is_open", models.BooleanField(default=True)),
                (
                    "applied",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", ""),
                            ("sent", "In progress"),
                            ("withdrawn", "Withdrawn"),
                            ("changed", "Skipped: right changed"),
                            ("refused", "Not applied"),
                            ("kept", "Kept: access to every area"),
                            ("uncertain", "Uncertain"),
                            ("stopped", "Not sent"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="reviews.review",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["review", "name_key", "id"], name="reviews_item_by_name"),
                    models.Index(fields=["review", "reviewer", "name_key", "id"], name="reviews_item_of_person"),
                    models.Index(
                        condition=models.Q(("is_open", True)),
                        fields=["review", "reviewer", "name_key", "id"],
                        name="reviews_item_open",
                    ),
                    models.Index(
                        fields=[
                            "review",
                            "reviewer",
                            "area_id",
                            "is_open",
                            "is_barred",
                            "decision",
                            "right_status",
                            "applied",
                        ],
                        name="reviews_item_counted",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("review", "member_id", "area_id"), name="reviews_item_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Delegation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("note", models.CharField(blank=True, default="", max_length=300)),
                ("items", models.PositiveIntegerField(default=0)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "to",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="delegations", to="reviews.review"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="reviews_delegated_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("confirm", "Confirmed"),
                            ("withdraw", "Marked for withdrawal"),
                            ("undo", "Decision undone"),
                            ("delegate", "Delegated"),
                        ],
                        max_length=8,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("note", models.CharField(blank=True, default="", max_length=300)),
                ("digest", models.TextField(blank=True, db_collation="C", default="")),
                (
                    "by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "delegation",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="reviews.delegation",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="reviews.item",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("item", "number"), name="reviews_step_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("reviews_review"),
        EnableRowSecurity("reviews_item"),
        EnableRowSecurity("reviews_delegation"),
        EnableRowSecurity("reviews_step"),
    ]
