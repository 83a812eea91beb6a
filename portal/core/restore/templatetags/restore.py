"""What the platform's page says of tenants whose data was restored from a backup."""

from typing import Any

from django import template

from portal.core.restore.models import Restored
from tenants.scope import across_tenants

register = template.Library()
_NAMED = 10


@register.inclusion_tag("restore/waiting.html")
def restored_tenants() -> dict[str, Any]:
    """Show the tenants in which automatic work waits for an owner, the first by name and the number of the others."""
    with across_tenants("operators see which tenants wait after a restore"):
        rows = Restored.objects_across_tenants.filter(released_at=None)
        names = list(rows.order_by("tenant__name").values_list("tenant__name", flat=True)[:_NAMED])
        return {"names": names, "others": rows.count() - len(names) if len(names) == _NAMED else 0}
