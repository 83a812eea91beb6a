"""The thin meters in every page's footer."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext as _

from portal.core.budget import ledger
from portal.core.budget.outlook import Outlook, outlook
from portal.core.ui import frame, together
from tenants.models import Connection


def known(request: HttpRequest) -> Outlook | None:
    """What is left of the hour for the tenant's token, read once a page; None without a working connection."""
    connection = _connection(request)
    if connection is None or not connection.is_connected:
        return None
    if not hasattr(request, "budget_outlook"):
        request.budget_outlook = outlook(connection, together.told(request, "gauges"))
    return request.budget_outlook


def facts(request: HttpRequest) -> dict[str, object] | None:
    """Both classes, as meters."""
    seen = known(request)
    if seen is None:
        return None
    labelled = ((_("API calls left"), seen.general), (_("Device API calls left"), seen.device))
    return {
        "meters": [
            {"label": label, "left": one.left, "limit": one.limit, "refills_at": one.refills_at}
            for label, one in labelled
        ]
    }


def _connection(request: HttpRequest) -> Connection | None:
    return getattr(request.tenant, "connection", None)  # type: ignore[attr-defined]


def _number(of: Callable[[Connection], int]) -> Callable[[HttpRequest], int]:
    """A number of the tenant's connection; without one it finds nothing."""
    return lambda request: of(connection) if (connection := _connection(request)) is not None else -1


def register() -> None:
    together.ask(
        "gauges",
        ledger.gauges,
        connection_id=_number(lambda connection: connection.pk),
        generation=_number(lambda connection: connection.token_generation),
        early=_number(ledger.early),
    )
    frame.register("budget", facts)
