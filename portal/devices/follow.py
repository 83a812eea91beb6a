"""What is looked at when a door's command ends uncertain."""

from portal.budget.priorities import Priority
from portal.intents import handlers
from portal.intents.clock import database_now
from portal.intents.handlers import Finding
from portal.intents.models import Intent
from portal.mirror import reading
from tenants.models import Connection


def look_at_door(intent: Intent) -> Finding:
    """Read the door once. What is locked now may have been open before: only locking can be proven by looking."""
    connection = Connection.objects.select_related("tenant__environment").get(tenant=intent.tenant_id)
    status = reading.door_status(connection, intent.path["device_id"], Priority.DOORS)
    door = status.door_status
    lock = str(getattr(door, "lock", "") or "")
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": lock,
        "door": str(getattr(door, "door", "") or ""),
    }
    proven = intent.is_lock and lock == "lock"
    return Finding(True if proven else None, evidence)


def keep_control(intent: Intent) -> None:
    """What was asked for, in clear: the banner of doors that are held unlocked reads it."""
    intent.result["control"] = (intent.body or {}).get("control", "")
    intent.save(update_fields=["result"])


def register() -> None:
    handlers.register("operate_door", finished=keep_control, reconcile=look_at_door)
