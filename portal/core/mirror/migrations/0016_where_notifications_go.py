"""Where the service's notifications go is a secret of whoever receives them: it rests encrypted from now on."""

from typing import Any

from django.db import migrations, models
from django.utils import timezone

from tenants.scope import across_tenants
from tenants.vault import EncryptedJSON


def due(apps: Any, schema_editor: Any) -> None:
    """Have the service asked again: what was kept in clear is not moved over."""
    state = apps.get_model("mirror", "MirrorState")
    with across_tenants("the records of all tenants are read again"):
        state.objects.filter(kind="tenant").update(due_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("mirror", "0015_days_asked_for"),
    ]

    operations = [
        migrations.RemoveField("tenantrecord", "webhook"),
        migrations.AddField("tenantrecord", "webhook", EncryptedJSON(null=True)),
        migrations.AddField("tenantrecord", "has_webhook_secret", models.BooleanField(null=True)),
        migrations.RunPython(due, migrations.RunPython.noop),
    ]
