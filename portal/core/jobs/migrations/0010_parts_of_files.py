import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import tenants.vault
from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [
        ("bulk", "0009_halts_that_happen"),
        ("tenants", "0002_row_security"),
    ]

    operations = [
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("rows", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("place", models.JSONField(null=True)),
                ("last", models.BooleanField()),
                ("body", tenants.vault.EncryptedBytes(editable=False)),
                (
                    "job",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="bulk.job",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
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
        EnableRowSecurity("bulk_exportpart"),
    ]
