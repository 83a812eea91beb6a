"""How much of what sync may spend is spent: long work stops early, so that the short lists stay fresh."""

from accessapi.operations import CallClass
from portal.budget import ledger
from portal.budget.priorities import MOST_FOR_SYNC, Priority
from tenants.models import Connection


def used_up(connection: Connection, share: float) -> bool:
    """Whether sync has spent `share` of its own part of the hour."""
    used = ledger.read(connection, CallClass.GENERAL)
    return used.used_by(Priority.SYNC) >= used.limit * MOST_FOR_SYNC * share


def left(connection: Connection) -> float:
    """The part of the hour's general calls that nobody has used, from 0 to 1."""
    used = ledger.read(connection, CallClass.GENERAL)
    return max(used.limit - used.used, 0) / used.limit
