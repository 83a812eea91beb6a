import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="HourlyPassages",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField()),
                ("device_id", models.TextField(db_collation="C")),
                ("number", models.PositiveIntegerField()),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "hour", "device_id"), name="presence_passages_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="LastPassage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("member_id", models.TextField(db_collation="C")),
                ("at", models.DateTimeField()),
                ("history_id", models.TextField(db_collation="C")),
                ("device_id", models.TextField(db_collation="C")),
                ("device_name", models.TextField(blank=True, default="")),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "-at"], name="presence_newest_passage")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "member_id"), name="presence_last_passage_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("presence_lastpassage"),
        EnableRowSecurity("presence_hourlypassages"),
    ]
