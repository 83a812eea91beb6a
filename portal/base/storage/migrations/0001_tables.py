import django.db.models.deletion
import django.db.models.functions.datetime
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
            name="StoredFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=100, unique=True)),
                ("key", tenants.vault.EncryptedBytes(null=True)),
                ("sha256", models.CharField(blank=True, default="", max_length=64)),
                ("size", models.BigIntegerField(default=0)),
                ("content_type", models.CharField(blank=True, default="", max_length=80)),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("delete_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("delete_at__isnull", False)),
                        fields=["delete_at"],
                        name="storage_file_delete_at",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("storage_storedfile"),
    ]
