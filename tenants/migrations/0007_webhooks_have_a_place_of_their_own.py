"""The secret of notifications is made by the portal and kept with all else of the webhook.

Where the service sends them was kept in clear with a connection, and is taken out.
"""

from typing import Any

from django.db import migrations

from tenants.scope import across_tenants


def forget_addresses(apps: Any, schema_editor: Any) -> None:
    connections = apps.get_model("tenants", "Connection")
    with across_tenants("what was kept with the connections of all tenants is taken out"):
        for row in connections.objects.filter(service_settings__has_key="webhook").only("service_settings"):
            del row.service_settings["webhook"]
            row.save(update_fields=["service_settings"])


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0006_plain_words"),
    ]

    operations = [
        migrations.RemoveField("connection", "webhook_secret"),
        migrations.RunPython(forget_addresses, migrations.RunPython.noop),
    ]
