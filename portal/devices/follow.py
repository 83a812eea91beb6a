"""What a door's command means for what is known of the door, and what is looked at when it ends uncertain."""

from django.utils.translation import gettext as _

from accessapi.doors import DoorWord
from portal.core.budget.priorities import Priority
from portal.core.cameras import commands
from portal.core.intents import handlers
from portal.core.intents.handlers import Finding, Told
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason, State
from portal.core.intents.words import uncertain_words
from portal.core.mirror import doors, reading
from portal.core.timers.bell import ring_after_commit
from portal.core.timers.clock import database_now
from portal.devices import holds
from portal.devices.actions import Command
from portal.devices.watch import READ_SOON
from tenants.connections.service import current_connection

_TELLS = {
    Command.HOLD.value: DoorWord.HELD,
    Command.LOCK.value: DoorWord.LOCKED,
    Command.UNLOCK.value: DoorWord.PASSING,
    Command.IN.value: DoorWord.PASSING,
    Command.OUT.value: DoorWord.PASSING,
}


def look_at_door(intent: Intent) -> Finding:
    """Read the door once. What is locked now may have been open before: only locking can be proven by looking.

    A hold whose answer was lost and that leaves the door unlocked is said on every page, whoever caused it.
    """
    connection = current_connection()
    status = reading.door_status(connection, intent.path["device_id"], Priority.DOORS)
    door = status.door_status
    said = str(getattr(door, "lock", "") or "")
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": said,
        "door": str(getattr(door, "door", "") or ""),
    }
    lock = connection.tenant.environment.catalogue.states.lock(said)
    if _control(intent) == Command.HOLD and lock == "unlocked":
        doors.tell(connection.tenant, intent.path["device_id"], DoorWord.HELD)
    return Finding(True if intent.is_lock and lock == "locked" else None, evidence)


def finished(intent: Intent) -> None:
    """Keep what was asked for in clear, and tell the mirror what a command that was done makes of the door."""
    control, device_id = _control(intent), intent.path.get("device_id", "")
    intent.result["control"] = control
    intent.save(update_fields=["result"])
    holds.heard(intent, control)
    commands.note(intent, device_id)
    if intent.state == State.SUCCEEDED and control in _TELLS:
        doors.tell(intent.tenant, device_id, _TELLS[control])
    elif intent.reason == Reason.REQUEST_FAILED and doors.look_at(device_id):
        ring_after_commit(READ_SOON, intent.tenant_id)


def words(intent: Intent) -> Told:
    """A request that the service took and then reported as failed may have moved the door all the same."""
    if intent.state == State.UNCERTAIN and not intent.is_lock:
        return Told(uncertain_words(intent, _("The door may have opened. The command will not be sent again.")))
    if intent.reason != Reason.REQUEST_FAILED:
        return Told()
    if _control(intent) == Command.LOCK:
        told = _("The service accepted it, then reported a failure. The door may not be locked.")
    else:
        told = _("The service accepted it, then reported a failure. The door may have opened.")
    return Told(told, [_("Check the door or its status before you try again.")])


def _control(intent: Intent) -> str:
    return str((intent.body or {}).get("control", ""))


def register() -> None:
    handlers.register("operate_door", finished=finished, reconcile=look_at_door, words=words)
