"""Detect alerts in new records, in their transaction, and once a minute in current states, and store them.

If a kind fails on new records, only its work is rolled back and noted as behind. The next check repeats it.

There is one row for each fact, even if several rules of its kind find it: the most serious one counts. It remains one
row if the fact ends and begins again for a short time. The writer of observations has locked
the tenant's `DetectionState`, so that no alert begins twice and no record is counted twice.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from portal.base.timers import rounds
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import DueRows
from portal.domain.alerts.kinds import KINDS, AlertKind, Observation
from portal.domain.alerts.models import Alert, AlertRecord, DetectionState, Rule
from portal.domain.alerts.rules import EffectiveRule, load_active_rules, rules_of, strictest_values
from portal.domain.history.models import History
from tenants.models import Connection, Tenant, current_tenant
from tenants.scope import across_tenants

_listeners: list[Callable[[Sequence[Alert]], None]] = []


def subscribe_to_new_alerts(listener: Callable[[Sequence[Alert]], None]) -> None:
    """Register a listener for alerts that are new or became more serious. It is called in their transaction."""
    _listeners.append(listener)


def save_observations(rule: EffectiveRule, observations: Iterable[Observation], now: datetime | None = None) -> None:
    """Save observations: begin new alerts, continue existing ones, and end those that are over.

    `now`: the facts are still the case now, so that the hours of the rule may have begun after the facts.
    """
    found = sorted(observations, key=lambda each: each.at)
    known, begun = _saved_record_ids(rule, found), []
    for each in found:
        fresh = [record for record in each.records if record.history_id not in known]
        if each.has_ended:
            _open_alerts(rule, each.subject).filter(began_at__lte=each.at).update(ended_at=each.at)
        elif (fresh or not each.records) and (rule.is_active_at(each.at) or (now and rule.is_active_at(now))):
            alert = _continue_alert(rule, each)
            if alert is None:
                begun.append(alert := _create_alert(rule, each))
            elif _raise_severity(rule, alert):
                begun.append(alert)
            _save_records(alert, fresh)
            known |= {record.history_id for record in fresh}
    _notify_listeners(begun)


def save_current_state(
    kind: AlertKind, found: Sequence[tuple[EffectiveRule, Sequence[Observation]]], now: datetime
) -> None:
    """Save the result of a check by the rules of a kind, and end alerts that no rule found any more.

    The most serious rule comes first, so that it begins the alert. An open alert becomes as serious as its rules say.
    """
    rows = Alert.objects.filter(kind=kind.name, ended_at=None)
    known = {row.subject: row for row in rows}
    over = known.keys() - {each.subject for _rule, observations in found for each in observations}
    if over:
        rows.filter(subject__in=over).update(ended_at=now)
    for rule, observations in found:
        active = [each for each in observations if rule.is_active_at(each.at) or rule.is_active_at(now)]
        save_observations(rule, [each for each in active if each.subject not in known], now)
        worse = [each for each in active if (row := known.get(each.subject)) and _raise_severity(rule, row, each)]
        _notify_listeners([known[each.subject] for each in worse])
        begun = rows.filter(subject__in={each.subject for each in active} - known.keys()) if active else ()
        known |= {row.subject: row for row in begun}


def end_expired(kind: AlertKind, rules: Sequence[EffectiveRule], now: datetime) -> None:
    """End alerts of single events after the longest repeat interval of these rules; all of them without any."""
    rows = Alert.objects.filter(kind=kind.name, ended_at=None)
    if rules:
        rows = rows.filter(last_at__lt=now - max(rule.repeat_interval for rule in rules))
    rows.update(ended_at=now)


def start_times(observations: Iterable[Observation], rule: EffectiveRule) -> list[datetime]:
    """Return when alerts would have begun, with the same grouping as for real ones."""
    last: dict[str, datetime] = {}
    begun = []
    for each in sorted(observations, key=lambda each: each.at):
        at = None if each.has_ended else rule.first_active(each.at, each.over_at)
        if at is None:
            continue
        if each.subject not in last or at - last[each.subject] > rule.repeat_interval:
            begun.append(at)
        last[each.subject] = at
    return begun


def _saved_record_ids(rule: EffectiveRule, observations: Sequence[Observation]) -> set[str]:
    names = {record.history_id for each in observations for record in each.records}
    rows = (
        AlertRecord.objects.filter(kind=rule.kind.name, history_id__in=names) if names else AlertRecord.objects.none()
    )
    return set(rows.values_list("history_id", flat=True))


def _open_alerts(rule: EffectiveRule, subject: str) -> QuerySet[Alert]:
    return Alert.objects.filter(kind=rule.kind.name, subject=subject, ended_at=None)


def _continue_alert(rule: EffectiveRule, observation: Observation) -> Alert | None:
    """Return the alert that an observation continues, counted once more; None if a new one begins."""
    row = Alert.objects.filter(kind=rule.kind.name, subject=observation.subject).order_by("-pk").first()
    if row is None or (row.ended_at is not None and not _should_reopen(row, observation.at, rule.repeat_interval)):
        return None
    is_first_record = row.ended_at is None and bool(observation.records) and not row.records.exists()
    row.times += 0 if is_first_record else 1
    row.began_at, row.last_at = min(row.began_at, observation.at), max(row.last_at, observation.at)
    row.ended_at, row.facts = None, dict(observation.facts)
    row.save(update_fields=["times", "began_at", "last_at", "ended_at", "facts"])
    return row


def _should_reopen(row: Alert, at: datetime, quiet: timedelta) -> bool:
    return row.closed_at is None and row.ended_at is not None and row.began_at - quiet <= at <= row.ended_at + quiet


def _create_alert(rule: EffectiveRule, observation: Observation) -> Alert:
    return Alert.objects.create(
        kind=rule.kind.name,
        subject=observation.subject,
        severity=rule.severity,
        weight=rule.severity,
        facts=dict(observation.facts),
        began_at=observation.at,
        last_at=observation.at,
    )


def _raise_severity(rule: EffectiveRule, alert: Alert, observation: Observation | None = None) -> bool:
    """Give an open alert the severity of a more serious rule, and the facts that it found. Return True if it did."""
    if rule.severity <= alert.severity or alert.closed_at is not None:
        return False
    alert.severity = alert.weight = rule.severity
    alert.facts = dict(observation.facts) if observation is not None else alert.facts
    alert.save(update_fields=["severity", "weight", "facts"])
    return True


def _notify_listeners(alerts: Sequence[Alert]) -> None:
    if alerts:
        for listener in _listeners:
            listener(alerts)


def _save_records(alert: Alert, records: Iterable[History]) -> None:
    AlertRecord.objects.bulk_create(
        AlertRecord(alert=alert, kind=alert.kind, history_id=each.history_id, at=each.at) for each in records
    )


log = structlog.get_logger(__name__)
INTERVAL = timedelta(seconds=60)
_BATCH = 1000


def on_histories(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Check new records, oldest first. Called by the mirror, in the transaction that stores them."""
    watch = _lock_watch(tenant)
    records = [each for each in histories if each.at >= watch.since]
    if not records:
        return
    before = dict(watch.behind)
    for kind, rules in load_active_rules():
        if (
            rules
            and kind.find_in_new_records is not None
            and (kind.name in before or not _detect_in_records(kind, rules, tenant, records))
        ):
            watch.behind[kind.name] = _backlog_start(records, before.get(kind.name))
    if watch.behind != before:
        watch.save(update_fields=["behind"])


def _detect_in_records(
    kind: AlertKind, rules: Sequence[EffectiveRule], tenant: Tenant, records: Sequence[History]
) -> bool:
    """Detect alerts of a kind in records. Return False if it failed; nothing of it was saved then."""
    try:
        with transaction.atomic():
            for rule in rules:
                covered = [each for each in records if rule.scope.covers(each.device_id)]
                if kind.find_in_new_records is not None and covered:
                    save_observations(rule, kind.find_in_new_records(tenant, covered, rule.values, rule.scope))
    except Exception:
        log.exception("alerts_kind_failed", kind=kind.name)
        return False
    return True


def _backlog_start(records: Sequence[History], before: Sequence[str | int] | None) -> list[str | int]:
    """Return the first key and the oldest moment of records, including those that wait already."""
    first, oldest = min(each.pk for each in records), min(each.at for each in records)
    if before is not None:
        first, oldest = min(first, int(before[0])), min(oldest, datetime.fromisoformat(str(before[1])))
    return [first, oldest.isoformat()]


def check_tenant(kinds: Collection[str] | None = None) -> None:
    """Check the current tenant: records that were left behind, current states, and alerts that ended.

    `kinds` are the kinds for which a check may find or end something, if they are known.
    """
    tenant = current_tenant()
    with transaction.atomic():
        watch = _lock_watch(tenant)
        now = database_now()
        kinds = set(_kinds_to_check([tenant.pk])[tenant.pk] if kinds is None else kinds)
        for kind, rules in load_active_rules():
            if not rules:
                watch.behind.pop(kind.name, None)
            elif kind.name in watch.behind:
                _catch_up(watch, kind, rules, tenant)
                kinds.add(kind.name)
            if kind.name in kinds:
                _check_kind(kind, rules, tenant, now)
        watch.due_at, watch.woken_at = now + INTERVAL, None
        watch.save(update_fields=["behind", "due_at", "woken_at"])


def _kinds_to_check(tenants: Collection[int]) -> Mapping[int, set[str]]:
    """Return, by tenant, the kinds for which a check may find or end something. Tenants without any need no check.

    Ten statements for any number of tenants, because most tenants have nothing to check most of the time.
    """
    try:
        with transaction.atomic():
            return _find_kinds_to_check(tenants)
    except Exception:  # a kind failed: check all kinds
        log.exception("alerts_not_narrowed", tenants=len(tenants))
        return {pk: set(KINDS) for pk in tenants}


def _find_kinds_to_check(tenants: Collection[int]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {pk: set() for pk in tenants}
    open_alerts = Alert.reachable_objects.filter(tenant_id__in=tenants, ended_at=None)
    for tenant, name in open_alerts.values_list("tenant_id", "kind"):
        found[tenant].add(name)
    changed: dict[tuple[int, str], list[Rule]] = defaultdict(list)
    for row in Rule.reachable_objects.filter(tenant_id__in=tenants):
        changed[row.tenant_id, row.kind].append(row)
    for name, kind in KINDS.items():
        if kind.find_current is None:
            continue
        usual = rules_of(kind, (), {})
        rules = {pk: rules_of(kind, rows, {}) if (rows := changed.get((pk, name))) else usual for pk in tenants}
        active = {pk: [rule for rule in some if rule.is_on] for pk, some in rules.items()}
        values = {pk: strictest_values(kind, some) for pk, some in active.items() if some}
        for tenant in kind.tenants_to_check(values) if kind.tenants_to_check and values else values:
            found[tenant].add(name)
    return found


def _check_kind(kind: AlertKind, rules: Sequence[EffectiveRule], tenant: Tenant, now: datetime) -> None:
    if not rules or kind.find_current is None:
        end_expired(kind, rules, now)
        return
    try:
        with transaction.atomic():
            save_current_state(kind, [(rule, _find_current(rule, tenant)) for rule in rules], now)
    except Exception:  # the other kinds are still checked, and this one again in a minute
        log.exception("alerts_kind_failed", kind=kind.name)


def _find_current(rule: EffectiveRule, tenant: Tenant) -> list[Observation]:
    """Return what a rule finds now at the doors of its scope."""
    found = rule.kind.find_current(tenant, rule.values) if rule.kind.find_current is not None else ()
    return [each for each in found if rule.scope.covers(str(each.facts.get("device", "")))]


def _catch_up(watch: DetectionState, kind: AlertKind, rules: Sequence[EffectiveRule], tenant: Tenant) -> None:
    """Check the records at which a kind failed, a batch at a time."""
    first, oldest = watch.behind[kind.name]
    found = History.objects.filter(pk__gte=first, at__gte=max(datetime.fromisoformat(oldest), watch.since))
    records = list(found.order_by("pk")[:_BATCH])
    if records and not _detect_in_records(kind, rules, tenant, records):
        return
    if len(records) == _BATCH:
        watch.behind[kind.name] = [records[-1].pk + 1, oldest]
    else:
        del watch.behind[kind.name]


def _lock_watch(tenant: Tenant) -> DetectionState:
    rows = DetectionState.objects.select_for_update(no_key=True)
    if (watch := rows.first()) is None:
        DetectionState.objects.get_or_create(tenant=tenant)
        watch = rows.get()
    return watch


def _due() -> QuerySet[DetectionState]:
    return DetectionState.objects_across_tenants.filter(due_at__lte=ClockTime())


def _due_and_unclaimed() -> QuerySet[DetectionState]:
    return _due().filter(Q(woken_at=None) | Q(woken_at__lt=ClockTime() - INTERVAL))


def _unwatched() -> QuerySet[Connection]:
    watched = DetectionState.objects_across_tenants.values("tenant_id")
    return Connection.objects_across_tenants.exclude(state=Connection.State.NONE).exclude(tenant__in=watched)


_DUE = DueRows(
    rows=_due_and_unclaimed, claim_values=lambda: {"woken_at": ClockTime()}, columns=("behind",), batch_size=100
)


def check_due() -> None:
    """Watch every connected tenant, and check those that are due. More workers start while more are due."""
    with across_tenants("each connected tenant is watched"):
        rows = [DetectionState(tenant_id=each) for each in _unwatched().values_list("tenant_id", flat=True)]
        DetectionState.objects_across_tenants.bulk_create(rows, ignore_conflicts=True)
    for watches in _DUE.claim_batches():
        _check_tenants(watches)


def _check_tenants(watches: Collection[DetectionState]) -> None:
    """Check these tenants: those without anything to check in one statement, the others one by one."""
    with across_tenants("tenants without anything to check are updated together"):
        now = database_now()
        kinds = _kinds_to_check([each.tenant_id for each in watches])
        others = [each for each in watches if kinds[each.tenant_id] or each.behind]
        idle = {each.pk for each in watches} - {each.pk for each in others}
        DetectionState.objects_across_tenants.filter(pk__in=idle).update(due_at=now + INTERVAL, woken_at=None)
        tenants = Tenant.objects.select_related("environment").in_bulk([each.tenant_id for each in others])
    for tenant in tenants.values():
        rounds.run_for_tenant(tenant, lambda each: check_tenant(kinds[each.pk]))


def rows_to_check() -> list[QuerySet[Any]]:
    return [_due_and_unclaimed().order_by("due_at"), _unwatched()]


def rows_that_lag() -> list[QuerySet[Any]]:
    return [_due().order_by("due_at")]
