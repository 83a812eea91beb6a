"""Keep the doors' status up to date: read each regularly, and at once after an alarm in the log.

The list of doors contains no status (operation 25), and a reading costs one of 180 calls an hour. Regular readings use
at most the share of sync, doors that waited longest first, and stop when calls run short. Alarming doors are read first
and beyond that share, but never from the reserve for commands and people.

While anyone has a board open, doors whose state is only known by reading are read more often, once for all viewers.
These readings may exceed the share of sync (`Priority.WATCHED`). The boards' own requests show that they are open.
A board in a hidden tab sends no requests, so it soon counts as closed.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import connection as database
from django.db.models import F, Q, QuerySet

from accessapi.doors import DoorEvent
from accessapi.errors import NotFound, ServiceError
from accessapi.operations import CallClass
from accessapi.overrides import States
from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import Process
from portal.devices.models import BoardView
from portal.domain.budget import ledger
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.history.models import History
from portal.domain.places import door_states
from portal.domain.places.models import IS_READ_SOON, DoorState, PassController
from portal.domain.sync import single_reads
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Tenant
from tenants.scope import current_tenant_id

log = structlog.get_logger(__name__)
_AT_ONCE = 20
READ_STALE = "portal.devices.read_stale"
# A board sends a request every five seconds, or less often if many pages are open.
_VIEWED_FOR = timedelta(seconds=60)
_RECORD_EVERY = timedelta(seconds=20)
# Limits with an open board: the age of a reading in a state that no log record ends, and of any reading.
_UNLOGGED_STATES = (DoorState.UNKNOWN, DoorState.OFFLINE, DoorState.UNLOCKED)
_UNLOGGED_MAX_AGE, _ANY_MAX_AGE = timedelta(minutes=2), timedelta(minutes=5)

_RECORD_BOARD_VIEWER = """
INSERT INTO devices_boardview AS s (tenant_id, looked_at) VALUES (%(tenant)s, clock_timestamp())
ON CONFLICT (tenant_id) DO UPDATE SET looked_at = EXCLUDED.looked_at
WHERE s.looked_at < EXCLUDED.looked_at - %(grain)s
"""


def record_board_viewer() -> None:
    """Record that the board of the tenant in scope is open, at most every 20 seconds."""
    values: dict[str, Any] = {"tenant": current_tenant_id(), "grain": _RECORD_EVERY}
    with database.cursor() as cursor:
        cursor.execute(_RECORD_BOARD_VIEWER, values)


def boards_viewed_now(rows: QuerySet[BoardView]) -> QuerySet[BoardView]:
    """Return the rows whose board is open now."""
    return rows.filter(looked_at__gt=ClockTime() - _VIEWED_FOR)


def due_doors() -> list[QuerySet[PassController]]:
    """Return the doors to be read, of all connected tenants. Call inside `across_tenants`."""
    watched = boards_viewed_now(BoardView.objects_across_tenants.all()).values("tenant_id")
    found = PassController.objects_across_tenants.filter(tenant_id__in=Connection.connected_tenants())
    return [found.filter(_due() | (_due_for_board() & Q(tenant_id__in=watched)))]


def read_stale() -> int:
    """Read the due doors of the tenant in scope, within the budget. Return the number read."""
    in_sight = boards_viewed_now(BoardView.objects.all()).exists()
    read, _is_all = _read(_due() | _due_for_board() if in_sight else _due(), in_sight)
    return read


def read_soon() -> int:
    """Read the urgent doors of the tenant in scope, and postpone those that were missed. Return the number read."""
    read, is_all = _read(_due() & IS_READ_SOON, in_sight=False)
    if not is_all:
        door_states.postpone_missed()
    return read


def _read(condition: Q, in_sight: bool) -> tuple[int, bool]:
    """Read doors, urgent ones first. Return the number read, and whether all could be read."""
    connection, read = current_connection(), 0
    if not connection.is_connected:
        return 0, False
    for device_id, urgent in _next_doors(condition):
        beyond = in_sight and not urgent and _is_share_used(connection)
        usual = Priority.WATCHED if beyond else Priority.SYNC
        try:
            single_reads.read_door_status(connection, device_id, Priority.JOBS if urgent else usual)
            read += 1
        except NotFound:
            door_states.postpone_door(device_id)
        except (BudgetExhausted, ServiceError):
            return read, False
    return read, True


def _due() -> Q:
    return Q(look_at__isnull=True) | Q(look_at__lte=ClockTime())


def _due_for_board() -> Q:
    """Return the condition for doors that an open board needs earlier than their regular time.

    Doors that the service does not know are postponed for longer, so they wait for their regular time.
    """
    now = ClockTime()
    unlogged = Q(state__in=_UNLOGGED_STATES, status_as_of__lte=now - _UNLOGGED_MAX_AGE)
    waited = Q(look_at__lte=now + door_states.USUAL_INTERVAL - _UNLOGGED_MAX_AGE)
    return waited & (unlogged | Q(status_as_of__lte=now - _ANY_MAX_AGE))


def _is_share_used(connection: Connection) -> bool:
    """Return whether the share of sync has no room for another reading."""
    return not ledger.read_gauge(connection, CallClass.DEVICE).has_room_for(Priority.SYNC)


def _next_doors(due_now: Q) -> list[tuple[str, bool]]:
    due = PassController.objects.filter(due_now).order_by("-urgent", F("look_at").asc(nulls_first=True), "pk")
    return list(due.values_list("device_id", "urgent")[:_AT_ONCE])


def on_histories(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Update doors from new records, oldest first. Called by the mirror in the transaction that stores the records."""
    catalogue = tenant.environment.catalogue
    # Records of these categories need a reading, because the door was operated or the event is serious.
    relevant = {*catalogue.records.operated, *catalogue.records.device_alarm_categories}
    reading_due: dict[str, datetime | None] = {}
    for record in filter(lambda record: record.device_id, histories):
        word = door_word_of(record, catalogue.states)
        if word and door_states.apply_event(tenant, record.device_id, word, at=record.at, content=record.text):
            if word is DoorEvent.CONNECTION_LOST:  # the record is enough; a reading confirms it when a call is free
                door_states.request_reading(record.device_id, is_urgent=False)
            else:
                reading_due[record.device_id] = None
        elif record.category in relevant:
            reading_due.setdefault(record.device_id, record.at)
    if sum(
        door_states.request_reading(device_id, unless_read_after=at) for device_id, at in sorted(reading_due.items())
    ):
        URGENT_DOORS.wake(tenant.pk)


def door_word_of(record: History, states: States) -> DoorEvent | None:
    """Return the event in a record if it is about an alarm, a hold or the door's connection."""
    word = states.event_of([record.text])
    return _ENDED_WORDS.get(word, word) if word is not None and states.is_over(record.status) else word


_ENDED_WORDS = {
    DoorEvent.FORCED_OPEN: DoorEvent.PROBLEM_OVER,
    DoorEvent.LEFT_OPEN: DoorEvent.PROBLEM_OVER,
    DoorEvent.CONNECTION_LOST: DoorEvent.CONNECTION_RESTORED,
}


def _due_soon() -> QuerySet[PassController]:
    return PassController.objects_across_tenants.filter(
        IS_READ_SOON, look_at__lte=ClockTime(), tenant_id__in=Connection.connected_tenants()
    )


URGENT_DOORS = Process(
    name="doors_soon",
    rows=_due_soon,
    step=read_soon,
    queue="interactive",
    every=1.0,
    seconds=110,
    is_per_row=False,
    order=("look_at", "pk"),
)
