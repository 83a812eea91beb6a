"""Update the state of keys after a command, and look up the outcome of uncertain commands."""

from django.utils.translation import gettext as _

from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.task_queue import enqueue_after_commit
from portal.domain.budget.priorities import Priority
from portal.domain.intents.handlers import Finding, OutcomeText
from portal.domain.intents.models import Intent
from portal.domain.intents.states import Reason, State
from portal.domain.intents.words import uncertain_text
from portal.domain.mirror import single_reads
from portal.domain.mirror.models import KeyBox
from portal.keys.status_reading import READ_STALE
from tenants.connections.service_clients import current_connection


def find_outcome(intent: Intent) -> Finding:
    """Read the box once. Only locking can be proven: a key that is locked now may have been released before."""
    connection = current_connection()
    status = single_reads.read_key_box_status(connection, intent.path["key_device_id"], Priority.DOORS)
    wanted = set((intent.body or {}).get("targets", ()))
    said = {unit.unit_no: str(unit.lock or "") for unit in status.units_status if unit.unit_no in wanted}
    words = connection.tenant.environment.catalogue.states
    locked = set(said) == wanted and all(words.lock_state(word) == "locked" for word in said.values())
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": ", ".join(f"{number} {word}" for number, word in sorted(said.items())),
    }
    return Finding(True if intent.is_lock and locked else None, evidence)


def on_command_finished(intent: Intent) -> None:
    """Save the request's details unencrypted, and make the box due: its keys may change soon."""
    intent.result["control"] = str((intent.body or {}).get("control", ""))
    intent.save(update_fields=["result"])
    if intent.state == State.SUCCEEDED or intent.reason == Reason.REQUEST_FAILED:
        box = KeyBox.objects.filter(key_device_id=intent.path.get("key_device_id", ""))
        if box.update(look_at=ClockTime()):
            enqueue_after_commit(READ_STALE, intent.tenant_id)


def describe_outcome(intent: Intent) -> OutcomeText:
    """Return the outcome text. A command that the service reported as failed may still have moved the lock."""
    if intent.state == State.UNCERTAIN and not intent.is_lock:
        return OutcomeText(
            uncertain_text(intent, _("The key may have been released. The command will not be sent again."))
        )
    if intent.reason != Reason.REQUEST_FAILED:
        return OutcomeText()
    if intent.is_lock:
        told = _("The service accepted it, then reported a failure. The key may not be locked.")
    else:
        told = _("The service accepted it, then reported a failure. The key may have been released.")
    return OutcomeText(told, [_("Check the key box or its status before you try again.")])
