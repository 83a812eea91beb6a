"""The end of holds: the times to choose from, and locking the door when the time is over.

At the end time, the portal locks the door once, unless a newer command was sent. The end is stored in the row (`due_at`
is its timer), so it survives restarts and a lost broker. The lock command is a separate intent with its own 15 seconds.
If it fails, another one follows while the hold is the newest command. The timer takes the same lock on the door
(`lock_target`) as every new command. So either the timer sees the newer command, or the newer command sees the claim of
the lock. See decision 0063.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, TextChoices, Value
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now, growing_pause
from portal.base.timers.timer_registry import Process, due
from portal.base.ui import times
from portal.devices.actions import DoorCommand, service_command
from portal.devices.models import OPEN, Hold
from portal.domain.intents import actions as intents
from portal.domain.intents.models import NOT_APPLIED, UNDER_WAY, Intent, Reason, State, target_of
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester, lock_target, record_intent
from portal.domain.places.models import PassController
from tenants.models import Connection, Staff
from tenants.permission_conditions import holds_permission
from tenants.roles import Permission
from tenants.scope import tenant_scope

# Seconds between two checks; the first and the longest pause between two attempts.
_CHECK_AGAIN, _FIRST_RETRY, _LONGEST_RETRY = 2.0, 5.0, 300.0
# Commands with a lasting effect. A single passage has none, so a due lock waits PASSAGE_TIME for it.
_LASTING = (DoorCommand.HOLD.value, DoorCommand.LOCK.value)
PASSAGE_TIME = timedelta(seconds=30)


def process_due(hold_id: int) -> None:
    """Run the timer of one hold, in one process at a time. Safe to call any number of times."""
    with transaction.atomic():
        rows = Hold.objects.select_related("tenant__environment", "by", "support_session", "intent", "lock")
        due = rows.select_for_update(of=("self",)).filter(pk=hold_id, state__in=OPEN, due_at__lte=ClockTime())
        for hold in due:
            if marking.is_waiting("holds", hold.pk):
                Hold.objects.filter(pk=hold.pk).update(due_at=None)
                continue
            lock_target(hold.tenant, target_of("pass_controller", hold.device_id))
            _advance(hold)


def _advance(hold: Hold) -> None:
    newer = _newer_commands(hold)
    if has_no_effect(hold.intent):
        _close(hold, Hold.State.FAILED)
    elif newer.filter(_was_applied()).exists():
        _close(hold, Hold.State.SUPERSEDED)
    elif hold.lock is not None and hold.lock.state == State.SUCCEEDED:
        _close(hold, Hold.State.ENDED)
    elif _is_pending(hold) or newer.filter(_is_in_progress()).exists():
        _reschedule(Hold.objects.filter(pk=hold.pk), _CHECK_AGAIN)
    else:
        _lock(hold)


def _is_pending(hold: Hold) -> bool:
    return hold.intent.state in UNDER_WAY or (hold.lock is not None and hold.lock.state in UNDER_WAY)


def _lock(hold: Hold) -> None:
    """Record the next lock command together with its number on the hold."""
    door = PassController.objects.filter(device_id=hold.device_id).first() or PassController(
        device_id=hold.device_id, device_name=hold.device_id
    )
    command, nonce = service_command(door, DoorCommand.LOCK, hold.by), Nonce(f"{_nonce_prefix(hold)}{hold.attempts}")
    intent, _is_new = record_intent(command, by=_asker(hold), nonce=nonce, automatic=True)
    Hold.objects.filter(pk=hold.pk).update(lock=intent, attempts=F("attempts") + 1)
    _reschedule(Hold.objects.filter(pk=hold.pk), _CHECK_AGAIN)
    intents.dispatch(intent, inline=False)


def _asker(hold: Hold) -> Requester:
    """Return the requester of the lock: the person of the hold, or another one if that person lost the permission."""
    may = holds_permission(Permission.DOORS_OPERATE)
    if Hold.objects.filter(may, pk=hold.pk).exists():
        return Requester(hold.tenant, hold.by, hold.support_session)
    staff = Staff.objects.annotate(nobody=Value(None, output_field=Hold._meta.get_field("id")))
    others = staff.filter(holds_permission(Permission.DOORS_OPERATE, user="user_id", session="nobody"))
    other = others.select_related("user").order_by("pk").first()
    return Requester(hold.tenant, other.user if other is not None else hold.by)


def on_command(intent: Intent, control: str) -> None:
    """Update holds after a command has finished: its own hold, the hold that it ends, and older holds."""
    if control == DoorCommand.HOLD:
        state, due = (Hold.State.FAILED, Value(None)) if has_no_effect(intent) else (Hold.State.STANDING, F("due_at"))
        Hold.objects.filter(intent=intent, state=Hold.State.ASKED).update(state=state, due_at=due)
    elif control == DoorCommand.LOCK:
        _on_lock(intent)
    if _supersedes_holds(intent, control):
        older = Hold.objects.filter(device_id=intent.path["device_id"], state__in=OPEN, intent_id__lt=intent.pk)
        older.exclude(lock=intent).update(state=Hold.State.SUPERSEDED, due_at=None)


def _on_lock(lock: Intent) -> None:
    for hold in Hold.objects.filter(lock=lock, state__in=OPEN):
        if lock.state == State.SUCCEEDED:
            _close(hold, Hold.State.ENDED)
        else:
            _reschedule(Hold.objects.filter(pk=hold.pk), retry_delay(hold.attempts))


def has_no_effect(intent: Intent) -> bool:
    """Return whether the command certainly had no effect."""
    return intent.state in NOT_APPLIED and intent.reason != Reason.REQUEST_FAILED


def _supersedes_holds(intent: Intent, control: str) -> bool:
    """Return whether the command replaces older holds, because it changed the door for longer, or may have done so.

    An uncertain lock does not count: it is sent again. A single passage does not count either: otherwise the door would
    stay unlocked after letting in a visitor.
    """
    maybe = intent.state == State.UNCERTAIN or intent.reason == Reason.REQUEST_FAILED
    return (intent.state == State.SUCCEEDED and control in _LASTING) or (maybe and control == DoorCommand.HOLD)


def _was_applied() -> Q:
    """Return the same condition for database rows."""
    maybe = Q(state=State.UNCERTAIN) | Q(reason=Reason.REQUEST_FAILED)
    return Q(state=State.SUCCEEDED, result__control__in=_LASTING) | maybe & Q(result__control=DoorCommand.HOLD.value)


def _is_in_progress() -> Q:
    """Return the condition for commands under way, and for single passages until PASSAGE_TIME is over."""
    return Q(state__in=UNDER_WAY) | Q(finished_at__gt=ClockTime() - PASSAGE_TIME) & ~Q(result__control__in=_LASTING)


def _newer_commands(hold: Hold) -> QuerySet[Intent]:
    """Return commands for the door after the hold, without the hold's own locks."""
    target = target_of("pass_controller", hold.device_id)
    return Intent.objects.filter(target=target, pk__gt=hold.intent_id).exclude(nonce__startswith=_nonce_prefix(hold))


def _nonce_prefix(hold: Hold) -> str:
    return f"hold-{hold.pk}-"


def retry_delay(attempts: int) -> float:
    """Return the seconds until the next attempt."""
    return growing_pause(_FIRST_RETRY, attempts - 1, _LONGEST_RETRY)


def _reschedule(holds: QuerySet[Hold], seconds: float) -> None:
    holds.update(due_at=ClockTime() + timedelta(seconds=seconds))


def _close(hold: Hold, state: Hold.State) -> None:
    Hold.objects.filter(pk=hold.pk).update(state=state, due_at=None)


def active_holds(device_ids: Iterable[str]) -> dict[str, Hold]:
    """Return the newest active hold of each of these doors."""
    rows = Hold.objects.filter(device_id__in=list(device_ids), state=Hold.State.STANDING)
    return {hold.device_id: hold for hold in rows.select_related("by", "lock").order_by("pk")}


def on_connected(sender: Any, *, connection: Connection, **more: Any) -> None:
    """Try failed locks again, because the connection is new. Receiver of tenants.connections.oauth_grant.connected."""
    with tenant_scope(connection.tenant):
        _reschedule(Hold.objects.filter(state__in=OPEN, attempts__gt=0), 0)


HOLDS = Process(name="holds", rows=due(Hold, state__in=OPEN), step=process_due, queue="doors", every=1.0, seconds=30)


LONGEST_HOLD = timedelta(hours=24)
_EVENING_HOUR = 18


class HoldEnd(TextChoices):
    QUARTER = "15", gettext_lazy("For 15 minutes")
    HOUR = "60", gettext_lazy("For 1 hour")
    LONG = "240", gettext_lazy("For 4 hours")
    EVENING = "evening", gettext_lazy("Until 18:00 today")
    MOMENT = "moment", gettext_lazy("Until the time below")
    NEVER = "open", gettext_lazy("Until somebody locks it")


def available_ends() -> list[HoldEnd]:
    """Return the ends that can be chosen now. 18:00 is only offered before that time."""
    return [end for end in HoldEnd if end is not HoldEnd.EVENING or _evening(database_now()) > database_now()]


def chosen_end(end: str, moment: str) -> datetime | None:
    """Return the chosen end; None for no end. Raises NotSubmitted for an invalid choice.

    Minutes count from now, so a command that waited for confirmation is held for the full time.
    """
    now = database_now()
    if end not in HoldEnd.values:
        raise NotSubmitted(_("Choose how long to hold the door unlocked. Nothing was sent."))
    if end == HoldEnd.NEVER:
        return None
    until = _end_of(HoldEnd(end), moment, now)
    if until is None or not now < until <= now + LONGEST_HOLD:
        raise NotSubmitted(_("Enter a time within the next 24 hours. Nothing was sent."))
    return until


def _end_of(end: HoldEnd, moment: str, now: datetime) -> datetime | None:
    if end is HoldEnd.MOMENT:
        return times.parse_moment(moment)
    return _evening(now) if end is HoldEnd.EVENING else now + timedelta(minutes=int(end.value))


def _evening(now: datetime) -> datetime:
    return times.local(now).replace(hour=_EVENING_HOUR, minute=0, second=0, microsecond=0)
