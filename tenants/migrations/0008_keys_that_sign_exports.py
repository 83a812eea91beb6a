"""The keys with which this installation signs exports. They belong to no tenant."""

import django.db.models.functions.datetime
from django.db import migrations, models

import tenants.vault


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0007_webhooks_have_a_place_of_their_own"),
    ]

    operations = [
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, unique=True)),
                ("public", models.BinaryField(max_length=32)),
                ("private", tenants.vault.EncryptedBytes()),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("retired_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1), condition=models.Q(("retired_at", None)), name="tenants_signing_key_one_in_use"
                    )
                ],
            },
        ),
    ]
