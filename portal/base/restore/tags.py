"""The panel about restored tenants on the platform's page."""

from typing import Any

from django import template

from portal.base.restore.models import Restore
from tenants.scope import across_tenants

register = template.Library()
_NAMED = 10


@register.inclusion_tag("restore/waiting.html")
def restored_tenants() -> dict[str, Any]:
    """Show the tenants whose automatic work waits for an owner: the first ones by name, and the number of others."""
    with across_tenants("operators see which tenants wait after a restore"):
        rows = Restore.objects_across_tenants.filter(released_at=None)
        names = list(rows.order_by("tenant__name").values_list("tenant__name", flat=True)[:_NAMED])
        return {"names": names, "others": rows.count() - len(names) if len(names) == _NAMED else 0}
