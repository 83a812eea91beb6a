"""The thin meters in every page's footer."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from portal.budget.outlook import Outlook, outlook
from portal.ui import frame
from tenants.models import Connection


def known(request: HttpRequest) -> Outlook | None:
    """What is left of the hour for the tenant's token, read once a page; None without a working connection."""
    connection: Connection | None = getattr(request.tenant, "connection", None)
    if connection is None or not connection.is_connected:
        return None
    if not hasattr(request, "budget_outlook"):
        request.budget_outlook = outlook(connection)
    return request.budget_outlook


def facts(request: HttpRequest) -> dict[str, object] | None:
    """Both classes, as meters."""
    seen = known(request)
    if seen is None:
        return None
    labelled = ((_("Calls left"), seen.general), (_("Device calls left"), seen.device))
    return {
        "meters": [
            {"label": label, "left": one.left, "limit": one.limit, "refills_at": one.refills_at}
            for label, one in labelled
        ]
    }


def register() -> None:
    frame.register("budget", facts)
