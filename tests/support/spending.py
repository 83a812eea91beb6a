"""Calls that were already made, as the portal counts them."""

from accessapi.operations import CallClass
from portal.domain.budget import ledger
from portal.domain.budget.models import Spent
from portal.domain.budget.priorities import STEP_SECONDS, Priority
from tenants.models import Connection


def spend(connection: Connection, who: Priority, calls: int, *, over: float = 0) -> None:
    """Record so many general calls for this priority: a moment ago, or evenly `over` the last so many seconds."""
    reading = ledger.read_gauge(connection, CallClass.GENERAL)
    steps = max(int(over) // STEP_SECONDS, 1)
    for number in range(steps):
        made = calls * (number + 1) // steps - calls * number // steps
        key = {"gauge": reading.gauge, "step": reading.step - number, "priority": int(who)}
        if made:
            Spent.objects.update_or_create(**key, defaults={"calls": made, "counted": made})
