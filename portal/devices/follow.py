"""The effect of a door command on the stored state of the door, and the check after an uncertain result."""

from django.utils.translation import gettext as _

from accessapi.doors import DoorEvent
from portal.base.timers.clock import database_now
from portal.base.timers.task_queue import enqueue_after_commit
from portal.devices import holds
from portal.devices.actions import DoorCommand
from portal.devices.status_reading import READ_SOON
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import door_command_pictures
from portal.domain.intents.handlers import Finding, OutcomeText
from portal.domain.intents.models import Intent
from portal.domain.intents.states import Reason, State
from portal.domain.intents.words import uncertain_text
from portal.domain.mirror import door_states, single_reads
from tenants.connections.service_clients import current_connection

_DOOR_WORDS = {
    DoorCommand.HOLD.value: DoorEvent.HELD_UNLOCKED,
    DoorCommand.LOCK.value: DoorEvent.LOCKED,
    DoorCommand.UNLOCK.value: DoorEvent.PASSING,
    DoorCommand.IN.value: DoorEvent.PASSING,
    DoorCommand.OUT.value: DoorEvent.PASSING,
}


def find_outcome(intent: Intent) -> Finding:
    """Read the door once.

    Only locking can be proven by reading, because an unlocked door may have been locked again.

    If a hold's answer was lost and the door is held unlocked, this is recorded so that every page shows it.
    """
    connection = current_connection()
    status = single_reads.read_door_status(connection, intent.path["device_id"], Priority.DOORS)
    door = status.door_status
    said = str(getattr(door, "lock", "") or "")
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": said,
        "door": str(getattr(door, "door", "") or ""),
    }
    lock = connection.tenant.environment.catalogue.states.lock_state(said)
    if _control(intent) == DoorCommand.HOLD and lock == "unlocked":
        door_states.apply_event(connection.tenant, intent.path["device_id"], DoorEvent.HELD_UNLOCKED)
    return Finding(True if intent.is_lock and lock == "locked" else None, evidence)


def on_command_finished(intent: Intent) -> None:
    """Store the command's control as plain text, and update holds, pictures and the door's state."""
    control, device_id = _control(intent), intent.path.get("device_id", "")
    intent.result["control"] = control
    intent.save(update_fields=["result"])
    holds.on_command(intent, control)
    door_command_pictures.schedule_pictures(intent, device_id)
    if intent.state == State.SUCCEEDED and control in _DOOR_WORDS:
        door_states.apply_event(intent.tenant, device_id, _DOOR_WORDS[control])
    elif intent.reason == Reason.REQUEST_FAILED and door_states.request_reading(device_id):
        enqueue_after_commit(READ_SOON, intent.tenant_id)


def describe_outcome(intent: Intent) -> OutcomeText:
    """Return the result's text.

    A request that was accepted and then reported as failed may still have moved the door.
    """
    if intent.state == State.UNCERTAIN and not intent.is_lock:
        return OutcomeText(uncertain_text(intent, _("The door may have opened. The command will not be sent again.")))
    if intent.reason != Reason.REQUEST_FAILED:
        return OutcomeText()
    if _control(intent) == DoorCommand.LOCK:
        told = _("The service accepted it, then reported a failure. The door may not be locked.")
    else:
        told = _("The service accepted it, then reported a failure. The door may have opened.")
    return OutcomeText(told, [_("Check the door or its status before you try again.")])


def _control(intent: Intent) -> str:
    return str((intent.body or {}).get("control", ""))
