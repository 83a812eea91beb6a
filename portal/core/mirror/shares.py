"""How sync divides its own part of the hour: long work stops early, so that short lists are never kept waiting.

Sync may spend a quarter of the hour's calls (`budget.priorities`). Of that quarter the trickle stops first, then
a backlog of the log, then a long list; the rest is for whatever takes one call: the small lists, and the first page of
the others.
"""

from dataclasses import dataclass
from math import ceil

from accessapi.operations import CallClass
from portal.core.budget import ledger
from portal.core.budget.priorities import MOST_FOR_SYNC, Priority
from tenants.models import Connection

TRICKLE = 0.75
BACKLOG = 0.85
LONG_LIST = 0.92


def free(connection: Connection, share: float, *, left_over: float = 0.0) -> bool:
    """Whether sync has spent less than `share` of its part, and more than `left_over` of the whole hour is unused."""
    hour = ledger.read(connection, CallClass.GENERAL)
    spent = hour.used_by(Priority.SYNC)
    return spent < hour.limit * MOST_FOR_SYNC * share and hour.limit - hour.used >= hour.limit * left_over


@dataclass
class Share:
    """A part of sync's hour for work of many calls. Asks again before it has made a quarter of the calls that were left
    when it asked last: what others of sync spend meanwhile, and a kinder or stricter word of the service, comes to it
    in time, and the last calls are asked for one by one."""

    connection: Connection
    share: float
    _unasked: int = 0

    def goes_on(self) -> bool:
        """Whether, after one more call, another one may be made."""
        self._unasked -= 1
        if self._unasked > 0:
            return True
        hour = ledger.read(self.connection, CallClass.GENERAL)
        left = ceil(hour.limit * MOST_FOR_SYNC * self.share) - hour.used_by(Priority.SYNC)
        self._unasked = left // 4
        return left > 0
