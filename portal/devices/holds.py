"""The end of holds: the times to choose from, and locking the door when the time is over.

While a hold lasts, it only watches for newer commands. At its end it becomes an order to lock the door, which is tried
until done (`door_orders.py`). The end is stored in the row (`due_at` is its timer), so it survives restarts and a lost
broker. See decision 0063.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import F, QuerySet, TextChoices, Value
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui import times
from portal.devices import door_orders
from portal.devices.actions import DoorCommand
from portal.devices.door_orders import DONE, NEWER, SOON, DoorOrder, has_no_effect, is_newer_command
from portal.devices.models import OPEN, Hold
from portal.domain.intents.models import UNDER_WAY, Intent, State
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from tenants.roles import Permission


def door_order_of(hold: Hold) -> DoorOrder:
    """Return the order of locking the door.

    Ending a hold takes nothing away from anyone, so another person replaces one who lost the permission.
    """
    return DoorOrder(
        by=Requester(hold.tenant, hold.by, hold.support_session),
        command=DoorCommand.LOCK,
        permission=Permission.DOORS_OPERATE,
        first_pause=timedelta(seconds=5),
        longest_pause=timedelta(minutes=5),
        has_substitute=True,
    )


def run_step(hold: Hold) -> datetime | None:
    """Lock the door if the hold's time is over. Return the time of the next step, or None."""
    now = database_now()
    if hold.ends_at is None or hold.ends_at > now:
        return hold.ends_at
    if has_no_effect(hold.unlock):
        _close(hold, Hold.State.FAILED)
        return None
    if hold.unlock.state in UNDER_WAY:
        return now + SOON
    door_order = door_order_of(hold)
    door_orders.lock_doors(door_order, [hold])
    (found,) = door_orders.outcomes(door_order, [hold])
    if found.result in (DONE, NEWER) and not found.is_in_progress:
        _close(hold, Hold.State.SUPERSEDED if found.newer is not None else Hold.State.ENDED)
        return None
    return door_orders.retry_doors(door_order, [found])


def _close(hold: Hold, state: Hold.State) -> None:
    Hold.objects.filter(pk=hold.pk).update(state=state, due_at=None)


def on_command(intent: Intent, control: str) -> None:
    """Update holds after a command has finished: its own hold, the hold that it ends, and older holds."""
    if control == DoorCommand.HOLD:
        state, due = (Hold.State.FAILED, Value(None)) if has_no_effect(intent) else (Hold.State.ACTIVE, F("due_at"))
        Hold.objects.filter(unlock=intent, state=Hold.State.REQUESTED).update(state=state, due_at=due)
    elif control == DoorCommand.LOCK:
        is_over = intent.state == State.SUCCEEDED
        ended = {"state": Hold.State.ENDED, "due_at": None} if is_over else {"due_at": ClockTime()}
        Hold.objects.filter(request=intent, state__in=OPEN).update(**ended)
    if is_newer_command(intent, DoorCommand.LOCK):
        older = Hold.objects.filter(device_id=intent.path["device_id"], state__in=OPEN, unlock_id__lt=intent.pk)
        older.update(state=Hold.State.SUPERSEDED, due_at=None)


def open_holds() -> QuerySet[Hold]:
    """Return the holds whose door is held, or soon may be."""
    return Hold.objects.filter(state__in=OPEN)


def active_holds(device_ids: Iterable[str]) -> dict[str, Hold]:
    """Return the newest active hold of each of these doors."""
    rows = Hold.objects.filter(device_id__in=list(device_ids), state=Hold.State.ACTIVE)
    return {hold.device_id: hold for hold in rows.select_related("by", "request").order_by("pk")}


HOLDS = door_orders.order_process(
    "holds",
    Hold,
    states={"state__in": OPEN},
    step=run_step,
    related=("by", "support_session", "unlock", "request"),
)


LONGEST_HOLD = timedelta(hours=24)
_EVENING_HOUR = 18


class HoldEnd(TextChoices):
    QUARTER = "15", gettext_lazy("For 15 minutes")
    HOUR = "60", gettext_lazy("For 1 hour")
    LONG = "240", gettext_lazy("For 4 hours")
    EVENING = "evening", gettext_lazy("Until 18:00 today")
    MOMENT = "moment", gettext_lazy("Until the time below")
    NEVER = "open", gettext_lazy("Until locked manually")


def available_ends() -> list[HoldEnd]:
    """Return the ends that can be chosen now. 18:00 is only offered before that time."""
    return [end for end in HoldEnd if end is not HoldEnd.EVENING or _evening(database_now()) > database_now()]


def chosen_end(end: str, moment: str) -> datetime | None:
    """Return the chosen end; None for no end. Raises NotSubmitted for an invalid choice.

    Minutes count from now, so a command that waited for confirmation is held for the full time.
    """
    now = database_now()
    if end not in HoldEnd.values:
        raise NotSubmitted(_("Nothing was sent. Choose how long to hold the door unlocked."))
    if end == HoldEnd.NEVER:
        return None
    until = _end_of(HoldEnd(end), moment, now)
    if until is None or not now < until <= now + LONGEST_HOLD:
        raise NotSubmitted(_("Nothing was sent. Enter a time within the next 24 hours."))
    return until


def _end_of(end: HoldEnd, moment: str, now: datetime) -> datetime | None:
    if end is HoldEnd.MOMENT:
        return times.parse_moment(moment)
    return _evening(now) if end is HoldEnd.EVENING else now + timedelta(minutes=int(end.value))


def _evening(now: datetime) -> datetime:
    return times.local(now).replace(hour=_EVENING_HOUR, minute=0, second=0, microsecond=0)
