"""Register the app's parts that other apps run or show: the meters in the footer, and the end of old counts."""

from collections.abc import Callable

from django.utils.translation import gettext as _

from portal.base.timers import rounds
from portal.base.ui import batching, frame
from portal.domain.budget import ledger, quota
from tenants.access import TenantRequest
from tenants.models import Connection


def _meters(request: TenantRequest) -> dict[str, object] | None:
    """Return the meters of both classes for the footer."""
    page_quota = quota.quota_of_page(request)
    if page_quota is None:
        return None
    labelled = ((_("API calls left"), page_quota.general), (_("Device API calls left"), page_quota.device))
    return {
        "meters": [
            {"label": label, "left": one.remaining, "limit": one.limit, "refills_at": one.refills_at}
            for label, one in labelled
        ]
    }


def _connection_number(of: Callable[[Connection], int]) -> Callable[[TenantRequest], int]:
    """Return a function that returns a number of the tenant's connection, or -1, which finds nothing."""
    return lambda request: of(connection) if (connection := quota.connection_of(request)) is not None else -1


batching.register_query(
    "gauges",
    ledger.gauges,
    connection_id=_connection_number(lambda connection: connection.pk),
    generation=_connection_number(lambda connection: connection.token_generation),
    first_step=_connection_number(ledger.first_step_to_read),
)
frame.register_fact("budget", _meters)
rounds.register("spent_calls", rounds.delete_steps(ledger.expired_steps), every=1800.0, queue="sync", seconds=60)
