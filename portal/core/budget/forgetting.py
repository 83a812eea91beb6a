"""Forgetting how calls were spent in hours that nobody looks at any more."""

from datetime import UTC, datetime

from accessapi.limits import CALL_WINDOW_SECONDS
from portal.core.budget.models import Spent
from portal.core.budget.priorities import STEP_SECONDS
from portal.core.timers import ticking
from tenants.models import ServiceEnvironment
from tenants.scope import across_tenants


def forget() -> int:
    """Delete the steps that ended a whole window before any that still counts; how many.

    An environment can have windows of its own length: the longest one decides for all.
    """
    with across_tenants("the windows of all tenants are looked at together"):
        known = [each.catalogue.limits.window_seconds for each in ServiceEnvironment.objects.all()]
        kept_from = int(datetime.now(UTC).timestamp()) - 2 * max(CALL_WINDOW_SECONDS, *known)
        count, _ = Spent.objects_across_tenants.filter(step__lt=kept_from // STEP_SECONDS).delete()
    return int(count)


def register() -> None:
    ticking.register("spent_calls", forget, every=1800.0, queue="sync", seconds=60)
