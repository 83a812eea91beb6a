"""Store observations as alerts: one row for each fact, even if it ends and begins again for a short time.

Callers lock the tenant's `Watch`, so that no alert begins twice and no record is counted twice.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet

from portal.domain.alerts.kinds import Observation
from portal.domain.alerts.models import Alert, AlertRecord
from portal.domain.alerts.rules import EffectiveRule
from portal.domain.mirror.models import History

_listeners: list[Callable[[Sequence[Alert]], None]] = []


def subscribe_to_new_alerts(listener: Callable[[Sequence[Alert]], None]) -> None:
    """Register a listener for new alerts. It is called in their transaction."""
    _listeners.append(listener)


def save_observations(rule: EffectiveRule, observations: Iterable[Observation]) -> None:
    """Save observations: begin new alerts, continue existing ones, and end those that are over."""
    found = sorted(observations, key=lambda each: each.at)
    known, begun = _saved_record_ids(rule, found), []
    for each in found:
        fresh = [record for record in each.records if record.history_id not in known]
        if each.has_ended:
            _open_alerts(rule, each.subject).filter(began_at__lte=each.at).update(ended_at=each.at)
        elif (fresh or not each.records) and rule.is_active_at(each.at):
            alert = _continue_alert(rule, each)
            if alert is None:
                begun.append(alert := _create_alert(rule, each))
            _save_records(alert, fresh)
            known |= {record.history_id for record in fresh}
    if begun:
        for listener in _listeners:
            listener(begun)


def save_current_state(rule: EffectiveRule, observations: Iterable[Observation], now: datetime) -> None:
    """Save the result of a check, and end alerts that it no longer found."""
    found = {each.subject: each for each in observations}
    going = set(Alert.objects.filter(kind=rule.kind.name, ended_at=None).values_list("subject", flat=True))
    if over := going - found.keys():
        Alert.objects.filter(kind=rule.kind.name, ended_at=None, subject__in=over).update(ended_at=now)
    save_observations(rule, [each for subject, each in found.items() if subject not in going])


def end_expired(rule: EffectiveRule, now: datetime) -> None:
    """End alerts of single events after their repeat interval; all of them if the rule is off."""
    rows = Alert.objects.filter(kind=rule.kind.name, ended_at=None)
    (rows.filter(last_at__lt=now - rule.repeat_interval) if rule.is_on else rows).update(ended_at=now)


def start_times(observations: Iterable[Observation], rule: EffectiveRule) -> list[datetime]:
    """Return when alerts would have begun, with the same grouping as for real ones."""
    last: dict[str, datetime] = {}
    begun = []
    for each in sorted(observations, key=lambda each: each.at):
        if each.has_ended or not rule.is_active_at(each.at):
            continue
        if each.subject not in last or each.at - last[each.subject] > rule.repeat_interval:
            begun.append(each.at)
        last[each.subject] = each.at
    return begun


def _saved_record_ids(rule: EffectiveRule, seen: Sequence[Observation]) -> set[str]:
    names = {record.history_id for each in seen for record in each.records}
    rows = (
        AlertRecord.objects.filter(kind=rule.kind.name, history_id__in=names) if names else AlertRecord.objects.none()
    )
    return set(rows.values_list("history_id", flat=True))


def _open_alerts(rule: EffectiveRule, subject: str) -> QuerySet[Alert]:
    return Alert.objects.filter(kind=rule.kind.name, subject=subject, ended_at=None)


def _continue_alert(rule: EffectiveRule, seen: Observation) -> Alert | None:
    """Return the alert that an observation continues, counted once more; None if a new one begins."""
    row = Alert.objects.filter(kind=rule.kind.name, subject=seen.subject).order_by("-pk").first()
    if row is None or (row.ended_at is not None and not _should_reopen(row, seen.at, rule.repeat_interval)):
        return None
    told_first = row.ended_at is None and bool(seen.records) and not row.records.exists()
    row.times += 0 if told_first else 1
    row.began_at, row.last_at = min(row.began_at, seen.at), max(row.last_at, seen.at)
    row.ended_at, row.facts = None, dict(seen.facts)
    row.save(update_fields=["times", "began_at", "last_at", "ended_at", "facts"])
    return row


def _should_reopen(row: Alert, at: datetime, quiet: timedelta) -> bool:
    return row.closed_at is None and row.ended_at is not None and row.began_at - quiet <= at <= row.ended_at + quiet


def _create_alert(rule: EffectiveRule, seen: Observation) -> Alert:
    return Alert.objects.create(
        kind=rule.kind.name,
        subject=seen.subject,
        severity=rule.severity,
        weight=rule.severity,
        facts=dict(seen.facts),
        began_at=seen.at,
        last_at=seen.at,
    )


def _save_records(alert: Alert, records: Iterable[History]) -> None:
    AlertRecord.objects.bulk_create(
        AlertRecord(alert=alert, kind=alert.kind, history_id=each.history_id, at=each.at) for each in records
    )
