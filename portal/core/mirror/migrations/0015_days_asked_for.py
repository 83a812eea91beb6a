"""Older days of the log that somebody asked for."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [("mirror", "0014_log_by_month")]

    operations = [
        migrations.CreateModel(
            name="HistoryDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("asked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("read_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=60)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "day"), name="mirror_historyday_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("mirror_historyday"),
    ]
