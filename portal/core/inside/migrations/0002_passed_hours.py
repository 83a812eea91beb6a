import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [("inside", "0001_initial"), ("tenants", "0007_webhooks_have_a_place_of_their_own")]

    operations = [
        migrations.CreateModel(
            name="PassedHour",
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
                    models.UniqueConstraint(fields=("tenant", "hour", "device_id"), name="inside_passed_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("inside_passedhour"),
    ]
