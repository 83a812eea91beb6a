"""Test a rule against the past month: when alerts would have begun, and which parts of the log are missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from portal.base.timers.clock import database_now
from portal.domain.alerts.lifecycle import start_times
from portal.domain.alerts.log_alerts import MAX_RECORDS
from portal.domain.alerts.rules import EffectiveRule
from portal.domain.log import gaps
from portal.domain.log.gaps import GapNotice
from portal.domain.mirror.coverage import load_coverage
from tenants.models import Tenant

_TRIAL_PERIOD = timedelta(days=30)
# A person waits for the answer: a longer statement is cancelled.
_TRIAL_SECONDS = 5.0


@dataclass(frozen=True)
class TrialResult:
    """The times at which a rule would have raised alerts; None if the log cannot show it.

    `missing` are gaps of the month's log. `has_timed_out`: the log is too long to be searched while a person waits.
    """

    start_times: Sequence[datetime] | None
    missing: Sequence[GapNotice] = ()
    max_records: int = MAX_RECORDS
    has_timed_out: bool = False


def try_rule(tenant: Tenant, rule: EffectiveRule) -> TrialResult:
    """Test a rule against the log of the past month. Only the newest records are read."""
    if rule.kind.find_in_past is None:
        return TrialResult(None)
    until = database_now()
    since = until - _TRIAL_PERIOD
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{int(_TRIAL_SECONDS * 1000)}ms"])
            fired = start_times(rule.kind.find_in_past(tenant, since, until, rule.values), rule)
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        return TrialResult(None, has_timed_out=True)
    return TrialResult(fired, gaps.gap_notices(load_coverage(), since, until))
