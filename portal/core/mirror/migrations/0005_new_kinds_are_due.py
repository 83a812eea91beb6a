"""Room for what a reader remembers, and timers of the new kinds for tenants that are connected already."""

from typing import Any

from django.db import migrations, models
from django.utils import timezone

from tenants.scope import across_tenants

_NEW = ("guests", "histories", "tenant")


def due(apps: Any, schema_editor: Any) -> None:
    state = apps.get_model("mirror", "MirrorState")
    with across_tenants("tenants connected before this release have the new kinds read, too"):
        known = state.objects.values_list("tenant_id", flat=True).distinct()
        now = timezone.now()
        state.objects.bulk_create(
            [state(tenant_id=tenant_id, kind=kind, due_at=now) for tenant_id in known for kind in _NEW],
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [("mirror", "0004_guests_histories_tenant")]

    operations = [
        migrations.AddField("mirrorstate", "memory", models.JSONField(default=dict)),
        migrations.AddField("guest", "digest", models.BinaryField(null=True)),
        migrations.RunPython(due, migrations.RunPython.noop),
    ]
