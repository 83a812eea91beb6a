"""Commands to doors. Each is one intent: at most once, never later than 15 seconds after the click."""

from accessapi.limits import INFO_MAX
from portal.core.budget.priorities import Priority
from portal.core.intents.actions import Asker, submit
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce
from portal.core.mirror.models import PassController
from portal.devices.commands import Command
from tenants.roles import Permission
from tenants.wording import say


def command(*, door: PassController, command: Command, by: Asker, nonce: Nonce) -> Intent:
    """Ask the service to unlock or lock a door (operation 35), now. The returned intent says how far it came."""
    return submit(
        by=by,
        permission=Permission.DOORS_OPERATE,
        operation="operate_door",
        target=target_of("pass_controller", door.device_id),
        title=say(f"door.{command.value}", door=door),
        path={"device_id": door.device_id},
        body={"tag": "lock_operation", "control": command.value, "info": str(by.user.email)[:INFO_MAX]},
        nonce=nonce,
        after={"control": command.value},
        priority=Priority.DOORS,
    )
