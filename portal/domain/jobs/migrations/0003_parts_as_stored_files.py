import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [
        ("bulk", "0002_restored_jobs_and_rows_of_members"),
        ("storage", "0001_stored_files"),
    ]

    operations = [
        migrations.DeleteModel(name="ExportPart"),
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
                (
                    "job",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="bulk.job",
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="bulk_one_exportpart")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("bulk_exportpart"),
    ]
