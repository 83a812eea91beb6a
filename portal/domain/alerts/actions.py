"""Changes of alerts and rules by people, with audit rows, and tests of a rule against the past month.

If two people do the same at once, the second gets an error with the first one's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from django.utils.translation import gettext as _
from psycopg.errors import QueryCanceled

from portal.base.timers.clock import database_now
from portal.domain.alerts import rules
from portal.domain.alerts.detection import start_times
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, AlertNote, Rule
from portal.domain.alerts.past_log import MAX_RECORDS, PastLog
from portal.domain.alerts.rules import EffectiveRule
from portal.domain.history import gaps
from portal.domain.history.coverage import load_coverage
from portal.domain.history.gaps import GapNotice
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from tenants import audit
from tenants.models import Tenant
from tenants.sentences import coded_sentence


class AlreadyHandled(ValueError):
    """Another person was first, or the alert is closed. The text says which."""


def assign(*, alert: Alert, by: Requester) -> None:
    """Assign an alert to this person. Raises AlreadyHandled."""
    with transaction.atomic():
        mine = Alert.objects.filter(pk=alert.pk, taken_by=None, closed_at=None)
        if not mine.update(taken_by=by.user, taken_at=database_now()):
            raise AlreadyHandled(_refusal_text(alert))
        _audit(alert, by, "alert.take")


def unassign(*, alert: Alert, by: Requester) -> None:
    """Unassign an alert from this person. Raises AlreadyHandled."""
    with transaction.atomic():
        mine = Alert.objects.filter(pk=alert.pk, taken_by=by.user, closed_at=None)
        if not mine.update(taken_by=None, taken_at=None):
            raise AlreadyHandled(_refusal_text(alert))
        _audit(alert, by, "alert.give_back")


def add_note(*, alert: Alert, text: str, by: Requester) -> None:
    """Save a note on an alert, open or closed."""
    with transaction.atomic():
        AlertNote.objects.create(alert=alert, by=by.user, text=text)
        _audit(alert, by, "alert.note")


def close(*, alert: Alert, done: str, by: Requester) -> None:
    """Close an alert with a text about what was done. Raises AlreadyHandled.

    An alert of single events ends now. An alert of a state lasts until the state ends, without further notifications.
    """
    now = database_now()
    kind = KINDS.get(alert.kind)
    with transaction.atomic():
        closed: dict[str, Any] = {"closed_by": by.user, "closed_at": now, "done": done, "weight": 0}
        if not Alert.objects.filter(pk=alert.pk, closed_at=None).update(**closed):
            raise AlreadyHandled(_refusal_text(alert))
        if kind is None or kind.find_current is None:
            Alert.objects.filter(pk=alert.pk, ended_at=None).update(ended_at=now)
        _audit(alert, by, "alert.close")


def change_rule(*, rule: EffectiveRule, by: Requester) -> ChangeResult:
    """Change one of the tenant's rules. Raises NotChanged."""
    return changing.change(rules.ALERT_RULE, rules.rule_to_json(rule), by=by, subject=rule.subject)


def add_rule(*, rule: EffectiveRule, by: Requester) -> None:
    """Save another rule of a kind. It adds alerts and loosens none, so it applies at once."""
    values = rules.rule_to_json(rule)
    with transaction.atomic():
        row = Rule.objects.create(kind=rule.kind.name, is_added=True, **values)
        rules.record_rule(f"{rule.kind.name}:{row.pk}", {}, values, by, "alert_rule.add")


def remove_rule(*, rule: EffectiveRule, by: Requester) -> ChangeResult:
    """Remove an added rule. Raises NotChanged."""
    return changing.change(rules.ALERT_RULE, {}, by=by, subject=rule.subject)


def _refusal_text(alert: Alert) -> str:
    now = Alert.objects.select_related("taken_by", "closed_by").get(pk=alert.pk)
    if now.closed_by is not None:
        return _("Already closed by %(who)s.") % {"who": now.closed_by}
    if now.taken_by is not None:
        return _("Already assigned to %(who)s.") % {"who": now.taken_by}
    return _("This alert is unassigned. Reload the page.")


def _audit(alert: Alert, by: Requester, action: str) -> None:
    target = f"alert:{alert.pk}"
    audit.record(**by.audit_author, action=action, target=target, summary=coded_sentence(action, alert=str(alert)))


_TRIAL_PERIOD = timedelta(days=30)
# A person waits for the answer: a longer statement is cancelled.
_TRIAL_SECONDS = 5.0


@dataclass(frozen=True)
class TrialResult:
    """The times at which a rule would have raised alerts; None if the log cannot show it.

    `missing` are gaps of the month's log. `is_cut`: only the newest `max_records` matching records were read.
    `has_timed_out`: the log is too long to be searched while a person waits.
    """

    start_times: Sequence[datetime] | None
    missing: Sequence[GapNotice] = ()
    is_cut: bool = False
    has_timed_out: bool = False
    max_records: int = MAX_RECORDS

    @property
    def is_at_least(self) -> bool:
        """Return True if there may have been more alerts than were found."""
        return self.is_cut or bool(self.missing)


def try_rule(tenant: Tenant, rule: EffectiveRule) -> TrialResult:
    """Test a rule against the log of the past month. Only the newest records are read."""
    if rule.kind.find_in_past is None:
        return TrialResult(None)
    until = database_now()
    past = PastLog(tenant, until - _TRIAL_PERIOD, until, rule.scope.device_ids)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{int(_TRIAL_SECONDS * 1000)}ms"])
            times = start_times(rule.kind.find_in_past(past, rule.values), rule)
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        return TrialResult(None, has_timed_out=True)
    return TrialResult(times, gaps.gap_notices(load_coverage(), past.since, until), is_cut=past.is_cut)
