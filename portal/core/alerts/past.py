"""Trying a rule against the past month: when alerts would have begun, and what of the month is not known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.core.alerts.keeping import beginnings
from portal.core.alerts.of_log import MOST
from portal.core.alerts.rules import Kept
from portal.core.log import gaps
from portal.core.log.gaps import Line
from portal.core.mirror.coverage import coverage
from portal.core.timers.clock import database_now
from tenants.models import Tenant

MONTH = timedelta(days=30)


@dataclass(frozen=True)
class Tried:
    """When a rule would have fired; `missing` says what of the month is not known. None where the log cannot tell."""

    fired: Sequence[datetime] | None
    missing: Sequence[Line] = ()
    most: int = MOST


def try_against_past(tenant: Tenant, rule: Kept) -> Tried:
    """Try a rule against the log of the past month, of which the newest records are looked at within bounds."""
    if rule.kind.past is None:
        return Tried(None)
    until = database_now()
    since = until - MONTH
    fired = beginnings(rule.kind.past(tenant, since, until, rule.values), rule)
    return Tried(fired, gaps.lines(coverage(), since, until))
