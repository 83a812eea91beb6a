"""The five controls of operation 35, as commands to doors, each at most once and within 15 seconds of the click."""

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.limits import INFO_MAX
from portal.core.budget.priorities import Priority
from portal.core.intents.actions import Asker, submit
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce
from portal.core.mirror.models import PassController
from tenants.roles import Permission
from tenants.wording import say


class Command(TextChoices):
    UNLOCK = "unlock", _("Unlock")
    LOCK = "lock", _("Lock")
    HOLD = "cont_unlock", _("Hold unlocked")
    IN = "in_unlock", _("Unlock for entry")
    OUT = "out_unlock", _("Unlock for exit")

    def of(self, door: object) -> str:
        """The command as a person says it: "Unlock 倉庫 入口"."""
        return str(_SAID[self.value]) % {"door": door}

    @property
    def icon(self) -> str:
        return {"lock": "lock", "cont_unlock": "door-enter"}.get(self.value, "lock-open")


_SAID: dict[str, Promise] = {
    "unlock": _("Unlock %(door)s"),
    "lock": _("Lock %(door)s"),
    "cont_unlock": _("Hold %(door)s unlocked"),
    "in_unlock": _("Unlock %(door)s for entry"),
    "out_unlock": _("Unlock %(door)s for exit"),
}


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
