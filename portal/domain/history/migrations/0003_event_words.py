"""Add the words of events to the search texts of all stored records, in the background."""

from django.db import migrations

from tenants.scope import across_tenants


def _fold_records(apps, schema_editor):
    tenant, refolding = apps.get_model("tenants", "Tenant"), apps.get_model("people", "Refolding")
    with across_tenants("the search texts of all records are written again"):
        refolding.objects.filter(table="records").delete()
        tenants = tenant.objects.values_list("pk", flat=True)
        refolding.objects.bulk_create([refolding(tenant_id=pk, table="records") for pk in tenants])


class Migration(migrations.Migration):
    dependencies = [
        ("history", "0002_monthly_partitions"),
        ("people", "0003_refolding"),
    ]

    operations = [migrations.RunPython(_fold_records, migrations.RunPython.noop)]
