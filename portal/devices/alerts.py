"""Alerts about doors: forced open, left open too long, offline too long."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from accessapi.doors import DoorWord
from portal.core.alerts.kinds import AlertKind, Seen, Value, Values, Where, having
from portal.core.alerts.kinds import register as add
from portal.core.alerts.models import Alert, Severity
from portal.core.alerts.of_log import newest, place_of
from portal.core.mirror import log
from portal.core.mirror.log import Narrow
from portal.core.mirror.models import DoorState, History, PassController
from portal.core.timers.clock import ClockTime, database_now
from portal.devices.watch import word_of
from tenants.models import Tenant


def _doors(states: Sequence[DoorState], minutes: int = 0) -> Iterator[Seen]:
    """Doors that have been in one of these states for so long."""
    before = database_now() - timedelta(minutes=minutes)
    for door in PassController.objects.filter(state__in=states, state_since__lte=before):
        facts = {"device": door.device_id, "device_name": door.device_name, "minutes": minutes}
        yield Seen(f"pass_controller:{door.device_id}", door.state_since or before, facts)


def _forced(tenant: Tenant, values: Values) -> Iterator[Seen]:
    return _doors([DoorState.FORCED_OPEN])


def _left(tenant: Tenant, values: Values) -> Iterator[Seen]:
    return _doors([DoorState.LEFT_OPEN, DoorState.OPEN], values["minutes"])


def _offline(tenant: Tenant, values: Values) -> Iterator[Seen]:
    return _doors([DoorState.OFFLINE], values["minutes"])


def _where(*states: DoorState) -> Where:
    """Tenants with doors that have been in one of these states for as long as the most impatient rule allows."""

    def doors(rules: Collection[Values]) -> QuerySet[PassController]:
        since = ClockTime() - timedelta(minutes=min(each.get("minutes", 0) for each in rules))
        return PassController.reachable_objects.filter(state__in=states, state_since__lte=since)

    return having(doors)


def _heard_forced(tenant: Tenant, records: Sequence[History], values: Values) -> Iterator[Seen]:
    states = tenant.environment.catalogue.states
    for each in records:
        forced = states.event([each.text]) == DoorWord.FORCED
        if forced and each.device_id:
            over = word_of(each, states) is DoorWord.OVER
            yield Seen(f"pass_controller:{each.device_id}", each.at, place_of(each), [each], over=over)


def _told(tenant: Tenant, patterns: Sequence[str], since: datetime, until: datetime) -> list[History]:
    """Return the records of a time that name one of these events, by time."""
    found: dict[str, History] = {}
    for pattern in patterns:
        words = log.words_of(max(pattern.split("*"), key=len))
        found |= {each.history_id: each for each in newest(Narrow(since=since, until=until, words=words))}
    return sorted(found.values(), key=lambda each: (each.at, each.pk))


def _forced_before(tenant: Tenant, since: datetime, until: datetime, values: Values) -> Iterator[Seen]:
    patterns = tenant.environment.catalogue.states.forced_open
    return _heard_forced(tenant, _told(tenant, patterns, since, until), values)


def _left_before(tenant: Tenant, since: datetime, until: datetime, values: Values) -> Iterator[Seen]:
    """By the records that tell of it: those after which none said within the minutes that it is over."""
    states, within = tenant.environment.catalogue.states, timedelta(minutes=values["minutes"])
    begun: dict[str, History] = {}
    for each in _told(tenant, states.left_open, since, until):
        first = begun.pop(each.device_id, None) if word_of(each, states) is DoorWord.OVER else None
        if first is not None and each.at - first.at >= within:
            yield Seen(f"pass_controller:{each.device_id}", first.at + within, place_of(first))
        elif word_of(each, states) is DoorWord.LEFT:
            begun.setdefault(each.device_id, each)
    for each in begun.values():
        if each.at + within <= until:
            yield Seen(f"pass_controller:{each.device_id}", each.at + within, place_of(each))


def _tells(*words: DoorWord) -> Callable[[Tenant, Alert, Iterable[History]], list[History]]:
    """Return what finds the records of one of these events that an alert is about, not of one that was over before."""

    def found(tenant: Tenant, alert: Alert, records: Iterable[History]) -> list[History]:
        states, told = tenant.environment.catalogue.states, list[History]()
        for each in records:
            word = word_of(each, states)
            if word in words:
                told.append(each)
            elif word is DoorWord.OVER and each.at < alert.began_at:
                told = []
        return told

    return found


def register() -> None:
    add(
        AlertKind(
            name="forced",
            said=_("%(place)s was forced open."),
            severity=Severity.ALARM,
            of_door=True,
            heard=_heard_forced,
            look=_forced,
            where=_where(DoorState.FORCED_OPEN),
            past=_forced_before,
            tells=_tells(DoorWord.FORCED),
        )
    )
    add(
        AlertKind(
            name="left_open",
            said=_("%(place)s was open for more than %(minutes)s minutes."),
            severity=Severity.WARNING,
            values=(Value("minutes", _("Open longer than (minutes)"), 5, 1, 1440),),
            of_door=True,
            look=_left,
            where=_where(DoorState.LEFT_OPEN, DoorState.OPEN),
            past=_left_before,
            tells=_tells(DoorWord.LEFT),
        )
    )
    add(
        AlertKind(
            name="offline",
            said=_("%(place)s was offline for more than %(minutes)s minutes."),
            severity=Severity.WARNING,
            values=(Value("minutes", _("Offline longer than (minutes)"), 15, 1, 1440),),
            look=_offline,
            where=_where(DoorState.OFFLINE),
        )
    )
