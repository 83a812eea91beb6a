"""Alerts about doors: forced open, left open too long, offline too long."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from accessapi.doors import DoorEvent
from portal.base.timers.clock import ClockTime, database_now
from portal.devices.status_reading import door_word_of
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, TenantFilter, tenants_having
from portal.domain.alerts.log_alerts import find_newest, place_of
from portal.domain.alerts.models import Alert, Severity
from portal.domain.mirror import log_search
from portal.domain.mirror.log_search import RecordFilter
from portal.domain.mirror.models import DoorState, History, PassController
from tenants.models import Tenant


def _doors_in(states: Sequence[DoorState], minutes: int = 0) -> Iterator[Observation]:
    """Yield the doors that have been in one of these states for so many minutes."""
    before = database_now() - timedelta(minutes=minutes)
    for door in PassController.objects.filter(state__in=states, state_since__lte=before):
        facts = {"device": door.device_id, "device_name": door.device_name, "minutes": minutes}
        yield Observation(f"pass_controller:{door.device_id}", door.state_since or before, facts)


def _find_forced(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in([DoorState.FORCED_OPEN])


def _find_left_open(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in([DoorState.LEFT_OPEN, DoorState.OPEN], values["minutes"])


def _find_offline(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in([DoorState.OFFLINE], values["minutes"])


def _tenants_with(*states: DoorState) -> TenantFilter:
    """Return the filter for tenants with doors in these states for as long as the rule with the shortest time."""

    def doors(rules: Collection[RuleValues]) -> QuerySet[PassController]:
        since = ClockTime() - timedelta(minutes=min(each.get("minutes", 0) for each in rules))
        return PassController.reachable_objects.filter(state__in=states, state_since__lte=since)

    return tenants_having(doors)


def _find_forced_in_records(tenant: Tenant, records: Sequence[History], values: RuleValues) -> Iterator[Observation]:
    states = tenant.environment.catalogue.states
    for each in records:
        forced = states.event_of([each.text]) == DoorEvent.FORCED_OPEN
        if forced and each.device_id:
            over = door_word_of(each, states) is DoorEvent.PROBLEM_OVER
            yield Observation(f"pass_controller:{each.device_id}", each.at, place_of(each), [each], has_ended=over)


def _records_of(tenant: Tenant, patterns: Sequence[str], since: datetime, until: datetime) -> list[History]:
    """Return the records of a period that contain one of these events, in order of time."""
    found: dict[str, History] = {}
    for pattern in patterns:
        words = log_search.search_words(max(pattern.split("*"), key=len))
        found |= {each.history_id: each for each in find_newest(RecordFilter(since=since, until=until, words=words))}
    return sorted(found.values(), key=lambda each: (each.at, each.pk))


def _find_forced_in_past(tenant: Tenant, since: datetime, until: datetime, values: RuleValues) -> Iterator[Observation]:
    patterns = tenant.environment.catalogue.states.forced_open
    return _find_forced_in_records(tenant, _records_of(tenant, patterns, since, until), values)


def _find_left_open_in_past(
    tenant: Tenant, since: datetime, until: datetime, values: RuleValues
) -> Iterator[Observation]:
    """Yield observations from records of doors left open that were not closed within the rule's minutes."""
    states, within = tenant.environment.catalogue.states, timedelta(minutes=values["minutes"])
    begun: dict[str, History] = {}
    for each in _records_of(tenant, states.left_open, since, until):
        first = begun.pop(each.device_id, None) if door_word_of(each, states) is DoorEvent.PROBLEM_OVER else None
        if first is not None and each.at - first.at >= within:
            yield Observation(f"pass_controller:{each.device_id}", first.at + within, place_of(first))
        elif door_word_of(each, states) is DoorEvent.LEFT_OPEN:
            begun.setdefault(each.device_id, each)
    for each in begun.values():
        if each.at + within <= until:
            yield Observation(f"pass_controller:{each.device_id}", each.at + within, place_of(each))


def _record_finder(*words: DoorEvent) -> Callable[[Tenant, Alert, Iterable[History]], list[History]]:
    """Return the function that finds the records of an alert with one of these events.

    Records of an earlier problem that was over before the alert began are left out.
    """

    def found(tenant: Tenant, alert: Alert, records: Iterable[History]) -> list[History]:
        states, told = tenant.environment.catalogue.states, list[History]()
        for each in records:
            word = door_word_of(each, states)
            if word in words:
                told.append(each)
            elif word is DoorEvent.PROBLEM_OVER and each.at < alert.began_at:
                told = []
        return told

    return found


FORCED = AlertKind(
    name="forced",
    message=gettext_lazy("%(place)s was forced open."),
    severity=Severity.ALARM,
    is_about_door=True,
    find_in_new_records=_find_forced_in_records,
    find_current=_find_forced,
    tenants_to_check=_tenants_with(DoorState.FORCED_OPEN),
    find_in_past=_find_forced_in_past,
    matching_records=_record_finder(DoorEvent.FORCED_OPEN),
)
LEFT_OPEN = AlertKind(
    name="left_open",
    message=gettext_lazy("%(place)s was open for more than %(minutes)s minutes."),
    severity=Severity.WARNING,
    settings=(RuleSetting("minutes", gettext_lazy("Open longer than (minutes)"), 5, 1, 1440),),
    is_about_door=True,
    find_current=_find_left_open,
    tenants_to_check=_tenants_with(DoorState.LEFT_OPEN, DoorState.OPEN),
    find_in_past=_find_left_open_in_past,
    matching_records=_record_finder(DoorEvent.LEFT_OPEN),
)
OFFLINE = AlertKind(
    name="offline",
    message=gettext_lazy("%(place)s was offline for more than %(minutes)s minutes."),
    severity=Severity.WARNING,
    settings=(RuleSetting("minutes", gettext_lazy("Offline longer than (minutes)"), 15, 1, 1440),),
    find_current=_find_offline,
    tenants_to_check=_tenants_with(DoorState.OFFLINE),
)
