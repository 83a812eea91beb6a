"""Fold accents, apostrophes, wave dashes and invisible characters in all stored names, in the background."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity
from tenants.scope import across_tenants

_TABLES = ("members", "groups", "guests", "visits", "review_items", "records")


def _fold_all_tables(apps, schema_editor):
    tenant, refolding = apps.get_model("tenants", "Tenant"), apps.get_model("people", "Refolding")
    with across_tenants("the names of all tenants are folded again"):
        tenants = tenant.objects.values_list("pk", flat=True)
        refolding.objects.bulk_create([refolding(tenant_id=pk, table=table) for pk in tenants for table in _TABLES])


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0002_search_upkeep"),
        ("tenants", "0002_audit_log"),
    ]

    operations = [
        migrations.CreateModel(
            name="Refolding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("table", models.CharField(max_length=20)),
                ("place", models.JSONField(null=True)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "table"), name="people_refolding_once")],
                "indexes": [models.Index(fields=["due_at"], name="people_refolding_due")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("people_refolding"),
        migrations.RunPython(_fold_all_tables, migrations.RunPython.noop),
    ]
