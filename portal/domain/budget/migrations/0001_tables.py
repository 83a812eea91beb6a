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
            name="Gauge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("generation", models.PositiveIntegerField()),
                ("call_class", models.CharField(max_length=10)),
                ("taken", models.BigIntegerField(default=0)),
                ("limit_seen", models.PositiveIntegerField(null=True)),
                ("answered", models.BigIntegerField(default=0)),
                ("answered_used", models.PositiveIntegerField(default=0)),
                ("others", models.PositiveIntegerField(default=0)),
                ("others_until", models.DateTimeField(null=True)),
                ("reset_at", models.DateTimeField(null=True)),
                ("limited_at", models.BigIntegerField(null=True)),
                ("blocked_until", models.DateTimeField(null=True)),
                ("guessed", models.BooleanField(default=False)),
                ("tried_at", models.DateTimeField(null=True)),
                ("refused", models.PositiveIntegerField(db_default=0, default=0)),
                ("doubted_until", models.DateTimeField(null=True)),
                ("connection", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.connection")),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("connection", "generation", "call_class"), name="budget_one_gauge")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CallCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.BigIntegerField()),
                ("priority", models.SmallIntegerField()),
                ("calls", models.PositiveIntegerField()),
                ("counted", models.PositiveIntegerField()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                ("gauge", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="budget.gauge")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("gauge", "step", "priority"), name="budget_one_step")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("budget_gauge"),
        EnableRowSecurity("budget_callcount"),
    ]
