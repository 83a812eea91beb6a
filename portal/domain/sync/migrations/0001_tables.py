import uuid

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
            name="SyncRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("state", models.CharField(default="running", max_length=10)),
                ("cursor", models.TextField(blank=True, default="")),
                ("complete", models.BooleanField(default=False)),
                ("pages", models.IntegerField(default=0)),
                ("rows", models.IntegerField(default=0)),
                ("expected", models.IntegerField(null=True)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=60)),
                ("changed", models.IntegerField(default=0)),
                ("removed", models.IntegerField(default=0)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "kind", "-started_at"], name="sync_syncrun_latest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("tenant", "kind"),
                        name="sync_syncrun_one_running",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="StagedPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("cursor", models.TextField(blank=True, default="")),
                (
                    "listed",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("body", tenants.vault.EncryptedBytes()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="sync.syncrun")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="sync_stagedpage_once"),
                    models.UniqueConstraint(fields=("run", "cursor"), name="sync_stagedpage_cursor"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="MirrorState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("as_of", models.DateTimeField(null=True)),
                ("total", models.IntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("woken_at", models.DateTimeField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=60)),
                ("error_at", models.DateTimeField(null=True)),
                ("failures", models.IntegerField(default=0)),
                ("every", models.PositiveIntegerField(null=True)),
                ("awaited", models.BooleanField(db_default=False, default=False)),
                ("late", models.JSONField(db_default=[], default=list)),
                ("memory", models.JSONField(default=dict)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="sync_state_due")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "kind"), name="sync_state_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SharedReading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.TextField(db_collation="C")),
                ("token", models.UUIDField(default=uuid.uuid4)),
                ("until", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
                ("answer", tenants.vault.EncryptedBytes(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["until"], name="sync_sharedreading_until")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "key"), name="sync_sharedreading_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("sync_mirrorstate"),
        EnableRowSecurity("sync_syncrun"),
        EnableRowSecurity("sync_stagedpage"),
        EnableRowSecurity("sync_sharedreading"),
    ]
