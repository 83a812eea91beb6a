"""Queries for doors: their state in words, their places, their latest records and commands."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Case, CharField, Count, Max, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Concat, JSONObject
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accessapi.doors import DoorEvent
from accessapi.overrides import States
from portal.base.timers.clock import ClockTime
from portal.base.ui import live_updates
from portal.base.ui.chips import CHIPS, Chip
from portal.base.ui.tables import EmptyState
from portal.base.ui.times import local, today
from portal.base.ui.value_words import join_sentences, join_values, service_word
from portal.devices.models import Hold
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.lists import RecentRecords
from portal.domain.history.models import History
from portal.domain.intents import queries as intents
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State, target_of
from portal.domain.places import door_states
from portal.domain.places.models import DoorState, PassController
from portal.domain.sync import freshness
from tenants.access import Access, TenantRequest
from tenants.postgresql.date_limits import moment_from_json

# A state is older than usual when the regular reading is overdue.
USUAL_AGE = door_states.USUAL_INTERVAL + timedelta(minutes=5)
_ERRORS: dict[DoorEvent | None, str] = {DoorEvent.FORCED_OPEN: "forced_open", DoorEvent.LEFT_OPEN: "left_open"}


def state_of(door: PassController, states: States) -> Chip:
    """Return a door's state as all pages and files show it: the most important state and other problems.

    Unknown if there is no data. A state that is older than a page's usual ones has its time.
    """
    known = str(CHIPS.get(door.state, ("",))[0])
    wrong = join_values(each for each in dict.fromkeys(_problems(door, states)) if each != known)
    if door.state:
        return Chip(door.state, as_of=_if_old(door.known_at), problem=wrong)
    unknown_state = door.lock if door.lock and not states.lock_state(door.lock) else "unknown"
    return Chip(unknown_state, as_of=_if_old(door.status_as_of), problem=wrong)


def oldest_usual(doors: Iterable[PassController]) -> datetime | None:
    """Return the age of the states that are shown without a time; None if there are none."""
    return min((door.known_at for door in doors if door.known_at and not _if_old(door.known_at)), default=None)


def _if_old(moment: datetime | None) -> datetime | None:
    return moment if moment is not None and moment < timezone.now() - USUAL_AGE else None


def _problems(door: PassController, states: States) -> Iterator[str]:
    """Yield the problems from the last reading of a door, in words."""
    yield from _errors(door, states)
    if not states.is_powered(door.power_status):
        yield _("No power") if door.power_status == "stopped" else service_word("power", door.power_status)
    if door.state != DoorState.OFFLINE and not states.is_connected(door.cloud_com_status):
        yield service_word("network", door.cloud_com_status)


def _errors(door: PassController, states: States) -> list[str]:
    return [service_word("error", _ERRORS.get(states.event_of([each]), each), each) for each in door.errors]


@dataclass(frozen=True)
class DoorStatusWords:
    """The last reading of a door in the reader's language, or in the service's own words if they are unknown."""

    leaf: str
    lock: str
    errors: list[str]
    power: str
    line: str
    sync: str


def words_of(door: PassController, states: States) -> DoorStatusWords:
    """Return the parts of a door's last reading; empty for parts that are missing."""
    power, network = door.power_status, door.cloud_com_status
    return DoorStatusWords(
        leaf=service_word("leaf", states.leaf_state(door.door), door.door),
        lock=service_word("lock", states.lock_state(door.lock), door.lock),
        errors=_errors(door, states),
        power=service_word("power", "running" if power and states.is_powered(power) else power),
        line=service_word("network", "connected" if network and states.is_connected(network) else network),
        sync=service_word("sync", door.sync_status),
    )


class HoldTexts(NamedTuple):
    """The texts about a door that is held unlocked: without an end, and with one."""

    endless: Promise
    timed: Promise


HELD_DOOR = HoldTexts(gettext_lazy("Until locked manually (%(who)s)"), gettext_lazy("Until %(at)s (%(who)s)"))


def is_held(door: PassController) -> bool:
    return door.state in (DoorState.HELD, DoorState.HELD_OPEN)


def describe_hold(hold: Hold, door: PassController, texts: HoldTexts = HELD_DOOR) -> str:
    """Return until when a door is held unlocked, who holds it and since when, in the form of `texts`."""
    start = [_("since %(at)s") % {"at": _short_time(door.since)}] if door.since is not None else []
    values = {"door": door, "who": join_values([hold.by, *start])}
    if hold.ends_at is None:
        return str(texts.endless) % values
    return str(texts.timed) % (values | {"at": _short_time(hold.ends_at)})


def describe_relock(hold: Hold) -> str:
    """Return why a hold whose time is over still lasts; empty while that is expected."""
    lock = hold.request
    if lock is None or lock.state in (*UNDER_WAY, State.SUCCEEDED):
        return ""
    why = Reason(lock.reason).label if lock.reason in Reason.values else lock.reason
    return join_sentences([_("Relocking failed. Retrying."), str(why)])


def _short_time(moment: datetime) -> str:
    """Return `09:41`, with the date on another day."""
    at = local(moment)
    return format(at, "%H:%M" if at.date() == today() else "%Y-%m-%d %H:%M")


def by_urgency() -> QuerySet[PassController]:
    """Return all doors with their sort key `urgency`: those that need attention first, the most serious on top."""
    loud = [state for state in DoorState if state in door_states.ATTENTION_STATES]
    ranks = [When(state=state, then=Value(str(place))) for place, state in enumerate(loud)]
    rank = Case(*ranks, When(attention=True, then=Value("8")), default=Value("9"))
    rows = PassController.objects.annotate(urgency=Concat(rank, "name_order", output_field=CharField()))
    return rows.order_by("urgency", "pk")


def version_of_doors() -> str:
    """Return a version mark of the tenant's doors. It changes with every new reading, and when a state becomes old."""
    old = Count("pk", filter=Q(known_at__lt=ClockTime() - USUAL_AGE))
    rows = PassController.objects.aggregate(Count("pk"), Max("known_at"), Max("state_since"), Max("pk"), old=old)
    return live_updates.version_of(
        sorted(rows.items()), sorted(PassController.objects.values_list("device_name", flat=True))
    )


_RECORD_FIELDS = (
    *("history_id", "at", "status", "category", "content", "member_id", "member_name", "member_label", "device_id"),
    "notified",
)


def latest_records(access: Access) -> dict[str, History]:
    """Return the newest record at each door that the person has access to, in one query for all doors."""
    if not visibility.may_view_log(access):
        return {}
    records = (
        visibility.visible_records(access)
        .filter(device_id=OuterRef("device_id"))
        .exclude(device_id="")
        .order_by("-at", "-pk")
    )
    last = Subquery(records.values(record=JSONObject(**dict(zip(_RECORD_FIELDS, _RECORD_FIELDS, strict=True))))[:1])
    rows = PassController.objects.annotate(last=last).exclude(last=None).values_list("device_id", "last")
    return {key: History(**record | {"at": moment_from_json(record["at"])}) for key, record in rows}


def empty_state(request: TenantRequest) -> EmptyState | None:
    """Return why no doors are shown: there are none, they are not loaded, or the service refuses the list."""
    usual = EmptyState(_("No doors yet"), _("The vendor sets up door controllers."), "door")
    return freshness.empty_state(request, usual, MirrorKind.PASS_CONTROLLERS)


def latest_commands(door: PassController) -> list[Intent]:
    """Return the newest commands for this door by anyone."""
    return list(intents.latest_intents(target_of("pass_controller", door.device_id)).select_related("tenant")[:5])


def version_of(door: PassController, records: RecentRecords, commands: list[Intent], hold: Hold | None) -> str:
    """Return the version mark of a door's page. Result lines of commands update separately."""
    newest = commands[0].pk if commands else 0
    held = hold and (describe_hold(hold, door), describe_relock(hold))
    return live_updates.version_of(
        door.known_at, door.status_as_of, door.state, door.since, records.version, newest, held
    )
