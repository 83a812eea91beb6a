"""Orders to doors, tried until done: which doors are tried again and when, and which later requests end that.

A hold at its end, a lockdown, an evacuation and locking after it are orders: they send one command to each of their
doors. The outcome of a door follows from the requests alone. Its latest request of the order decides, unless there is a
newer command for the door; then that decides.

Each try is a separate intent with its own 15 seconds. The timer (`due_at`) is stored in the order's row, so it is not
lost when a process or the broker stops. Before a try is recorded, it takes the lock on the door (`lock_target`) as
every command does. So either the try sees the newer command, or the command is newer than the try. In the second case
the claim of the try refuses. See decisions 0063, 0065 and 0095.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now, growing_pause
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.devices.actions import DoorCommand, service_command, why_unavailable
from portal.devices.models import OrderedDoor
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions as intents
from portal.domain.intents.models import NOT_APPLIED, UNDER_WAY, Intent, Reason, State
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester, lock_target, record_intent
from portal.domain.places.models import PassController
from tenants.connections.oauth_grant import connected
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Staff, TenantModel, User
from tenants.permission_conditions import holds_permission
from tenants.roles import Permission
from tenants.scope import tenant_scope

_Door = TypeVar("_Door", bound=OrderedDoor)
_Order = TypeVar("_Order", bound=TenantModel)

# Commands with a lasting effect. A single passage has none, so a try waits PASSAGE_TIME for it.
LASTING = (DoorCommand.HOLD, DoorCommand.LOCK)
PASSAGE_TIME = timedelta(seconds=30)
# The shortest time between two steps, also while a request is in progress.
SOON = timedelta(seconds=2)
_AT_ONCE = datetime.min.replace(tzinfo=UTC)

# Outcomes of a door, named as chips; in the order in which pages list them.
MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE = "missed", "uncertain", "newer", "sending", "done", "waiting"
RESULTS = (MISSED, UNCERTAIN, NEWER, SENDING, DONE, IDLE)


@dataclass(frozen=True, kw_only=True)
class DoorOrder:
    """What an order sends to its doors, with whose permission, and its pauses between tries.

    With `has_substitute`, another person who has the permission replaces one who lost it. After `person_retries`, only
    a person tries again. For an order that has ended, only requests until `ended_at` count.
    """

    by: Requester
    command: DoorCommand
    permission: Permission
    first_pause: timedelta
    longest_pause: timedelta
    is_active: bool = True
    ended_at: datetime | None = None
    has_substitute: bool = False
    person_retries: tuple[Reason, ...] = ()

    @property
    def is_retried(self) -> bool:
        """Check whether the portal tries doors again. Unlocking is only sent after a person's click."""
        return self.is_active and self.command is DoorCommand.LOCK

    def pause_after(self, attempts: int) -> timedelta:
        """Return the pause after so many tries. It grows, so that an unreachable door does not use up the calls."""
        return growing_pause(self.first_pause, attempts - 1, self.longest_pause)

    def find_requester(self) -> Requester | None:
        """Return the person with whose permission doors are tried now; None if no one has it."""
        if _is_permitted(self.by, self.permission):
            return self.by
        return _find_substitute(self) if self.has_substitute else None

    def blocked_reason(self) -> str:
        """Return why no door can be tried now, apart from API calls; empty if tries are possible."""
        if self.find_requester() is None:
            return _("%(who)s no longer has permission. Another person must send it again.") % {"who": self.by.user}
        return why_unavailable(current_connection())


def _is_permitted(by: Requester, permission: Permission) -> bool:
    session = by.support_session.pk if by.support_session is not None else None
    people = User.objects.annotate(
        of_tenant=Value(by.tenant.pk), of_session=Value(session, output_field=BigIntegerField())
    )
    may = holds_permission(permission, user="pk", tenant="of_tenant", session="of_session")
    return people.filter(may, pk=by.user.pk).exists()


def _find_substitute(door_order: DoorOrder) -> Requester | None:
    staff = Staff.objects.annotate(of_session=Value(None, output_field=BigIntegerField()))
    others = staff.filter(holds_permission(door_order.permission, user="user_id", session="of_session"))
    other = others.select_related("user").order_by("pk").first()
    return Requester(door_order.by.tenant, other.user) if other is not None else None


# Which later requests count


def control_of(intent: Intent) -> str:
    """Return a request's command. `result` has it after the end, when the body may be erased."""
    return str(intent.result.get("control") or (intent.body or {}).get("control", ""))


def has_no_effect(intent: Intent) -> bool:
    """Check whether a request certainly changed nothing."""
    return intent.state in NOT_APPLIED and intent.reason != Reason.REQUEST_FAILED


def is_newer_command(intent: Intent, command: DoorCommand) -> bool:
    """Check whether an order with this command leaves the door alone after a later request.

    An order that unlocks gives way to each request that was or may have been applied, or is on its way.

    An order that locks gives way to a lock that succeeded, and to a hold that was or may have been applied. An
    uncertain lock does not count: it has the same goal and is sent again. A single passage does not count either:
    otherwise the door would stay unlocked after letting in a visitor.
    """
    if has_no_effect(intent):
        return False
    if command is not DoorCommand.LOCK:
        return True
    control = control_of(intent) if intent.state not in UNDER_WAY else ""
    return control == DoorCommand.HOLD or (control == DoorCommand.LOCK and intent.state == State.SUCCEEDED)


def is_passage(intent: Intent) -> bool:
    """Check whether a request unlocks a door for one passage, and surely or perhaps did so."""
    return intent.state not in UNDER_WAY and not has_no_effect(intent) and control_of(intent) not in LASTING


class NewerRequest(NamedTuple):
    """A later request for a door. The order leaves the door alone after a command; otherwise it waits for the end."""

    intent: Intent
    is_command: bool


def newer_requests(
    rows: Iterable[OrderedDoor], command: DoorCommand, ended_at: datetime | None = None
) -> dict[str, NewerRequest]:
    """Return the request for each door that keeps an order with this command from sending, if there is one.

    That is the latest newer command. Or else it is the latest request that is on its way, or a passage so new that no
    one may be locked out in the doorway. Lock the targets before, to be sure.
    """
    after = {row.target: row for row in rows if row.last_request_id is not None}
    if not after:
        return {}
    later = reduce(or_, (Q(target=target, pk__gt=row.last_request_id) for target, row in after.items()))
    is_new = Q(finished_at__gt=ClockTime() - PASSAGE_TIME)
    requests = Intent.objects.filter(later).select_related("by").defer("body", "snapshot").order_by("-pk")
    if ended_at is not None:
        requests = requests.filter(created_at__lte=ended_at)
    commands, others = dict[str, NewerRequest](), dict[str, NewerRequest]()
    for each in requests.annotate(is_new=is_new):
        device_id = after[each.target].device_id
        if is_newer_command(each, command):
            commands.setdefault(device_id, NewerRequest(each, is_command=True))
        elif each.state in UNDER_WAY or (each.is_new and is_passage(each)):
            others.setdefault(device_id, NewerRequest(each, is_command=False))
    return others | commands


@dataclass(frozen=True)
class DoorOutcome(Generic[_Door]):
    """The outcome of one door of an order. A newer request decides instead of the order's own."""

    row: _Door
    newer_request: NewerRequest | None
    door_order: DoorOrder

    @property
    def newer(self) -> Intent | None:
        return self.newer_request.intent if self.newer_request is not None else None

    @property
    def last(self) -> Intent | None:
        """Return the request that decides."""
        return self.newer or self.row.request

    @property
    def result(self) -> str:
        """Return one of RESULTS."""
        if self.newer is not None:
            is_same = control_of(self.newer) == self.door_order.command and self.newer.state == State.SUCCEEDED
            return DONE if is_same else NEWER
        if self.row.request is None:
            return IDLE
        if self.row.request.state in UNDER_WAY:
            return SENDING
        return {State.SUCCEEDED: DONE, State.UNCERTAIN: UNCERTAIN}.get(State(self.row.request.state), MISSED)

    @property
    def is_sending(self) -> bool:
        """Check whether the request that decides is on its way."""
        return self.last is not None and self.last.state in UNDER_WAY

    @property
    def is_in_progress(self) -> bool:
        """Check whether the outcome will change without another try."""
        return self.is_sending or (self.newer_request is not None and not self.newer_request.is_command)

    @property
    def should_retry(self) -> bool:
        """Check whether the door is tried automatically, again or for the first time."""
        request = self.row.request
        needs_person = (
            request is not None and request.reason in self.door_order.person_retries and self.result == MISSED
        )
        return self.door_order.is_retried and self.result in (MISSED, UNCERTAIN, IDLE) and not needs_person

    def next_try_at(self, connected_at: datetime | None) -> datetime | None:
        """Return when the portal tries this door, if calls are left then; None if it does not.

        There is no pause after a try that was not sent because no calls were left, or under an earlier connection.
        """
        if not self.should_retry:
            return None
        request = self.row.request
        if request is None:
            return _AT_ONCE
        ended = request.finished_at or request.created_at
        if request.reason == Reason.BUDGET or (connected_at is not None and ended < connected_at):
            return ended
        return ended + self.door_order.pause_after(self.row.attempts)


def outcomes(door_order: DoorOrder, rows: Sequence[_Door]) -> list[DoorOutcome[_Door]]:
    """Return the outcome of each of these doors of an order."""
    for row in rows:
        if row.request is not None:
            row.request.tenant = door_order.by.tenant
    newer = newer_requests(rows, door_order.command, door_order.ended_at)
    return [DoorOutcome(row, newer.get(row.device_id), door_order) for row in rows]


# Trying


def retry_doors(door_order: DoorOrder, found: Sequence[DoorOutcome[_Door]]) -> datetime | None:
    """Try the doors that are due, those with the fewest tries first. Return the time of the next step, or None.

    The first try of a door is always recorded: its outcome is the reason that pages show. Others are recorded only if
    they can be sent.
    """
    now, connection = database_now(), current_connection()
    tries = [(at, each) for each in found if (at := each.next_try_at(connection.granted_at)) is not None]
    by = door_order.find_requester() if tries else None
    blocked = by is None or bool(why_unavailable(connection))
    sending = sum(each.is_sending for each in found)
    free = 0 if blocked else max(_free_calls() - sending, 0)
    due = sorted((each.row for at, each in tries if at <= now), key=lambda row: row.attempts)
    tried = [row for place, row in enumerate(due) if place < free or row.request is None]
    lock_doors(door_order, tried)
    for row in tried:
        nonce = Nonce(f"{row._meta.label_lower}-{row.pk}-{row.attempts}")
        send_command(row, door_order, by=by or door_order.by, nonce=nonce, automatic=True)
    if tried or any(each.is_in_progress for each in found):
        return now + SOON
    if not tries:
        return None
    if blocked:
        return now + door_order.first_pause
    free_at = min(calls_available_at(), now + door_order.longest_pause)
    return max(min(at for at, _each in tries), free_at, now + SOON)


def lock_doors(door_order: DoorOrder, rows: Iterable[OrderedDoor]) -> None:
    """Lock doors in one order for all transactions, to avoid deadlocks."""
    for target in sorted(row.target for row in rows):
        lock_target(door_order.by.tenant, target)


def send_command(
    row: OrderedDoor, door_order: DoorOrder, *, by: Requester, nonce: Nonce, automatic: bool = False
) -> None:
    """Record the order's command for a door, unless there is a newer command. Call it within a transaction."""
    lock_doors(door_order, [row])
    if newer_requests([row], door_order.command):
        return
    door = PassController(device_id=row.device_id, device_name=row.door_name)
    command = service_command(door, door_order.command, by.user, door_order.permission)
    intent, is_new = record_intent(command, by=by, nonce=nonce, automatic=automatic)
    if is_new:
        type(row).objects.filter(pk=row.pk).update(request=intent, attempts=F("attempts") + 1)
        intents.dispatch(intent, inline=False)


def _free_calls() -> int:
    return quota.count_free_calls(current_connection(), Priority.DOORS, CallClass.DEVICE)


def calls_available_at() -> datetime:
    """Return when a call for a door is expected to be available."""
    return quota.next_call_at(current_connection(), Priority.DOORS, CallClass.DEVICE)


# The process


def order_process(
    name: str,
    model: type[_Order],
    *,
    states: Mapping[str, Any],
    step: Callable[[_Order], datetime | None],
    related: Sequence[str] = (),
) -> Process[_Order]:
    """Return the process of orders in these states. `step` gets a locked row and returns when it is due again.

    Only one process runs a step at a time. Calling it more often does no harm.
    """

    def run_step(pk: int) -> None:
        rows = model.objects.select_related("tenant__environment", *related)
        with transaction.atomic():
            free = rows.select_for_update(of=("self",), skip_locked=True, no_key=True)
            for order in free.filter(pk=pk, **states):
                due_at = None if marking.is_waiting(name, order.pk) else step(order)
                model.objects.filter(pk=order.pk, **states).update(due_at=due_at)

    # If a worker dies during a step, another one takes over after this pause.
    rows, pause = due(model, **states), retry_after(SOON)
    return Process(name=name, rows=rows, step=run_step, queue="doors", every=1.0, seconds=30, claim_values=pause)


def register(process: Process[_Order], open_orders: Callable[[], QuerySet[_Order]]) -> None:
    """Register an order's process; its pause after a restore, and a step at once when the tenant is connected."""

    def on_connected(sender: object, *, connection: Connection, **more: object) -> None:
        with tenant_scope(connection.tenant):
            open_orders().filter(due_at__isnull=False).update(due_at=ClockTime())

    marking.register_timer(process.name, open_orders)
    process.register()
    connected.connect(on_connected, dispatch_uid=process.name, weak=False)
