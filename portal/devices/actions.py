"""The five controls of operation 35 as commands to doors, each sent at most once and within 15 seconds of the click."""

from datetime import datetime

from django.db import transaction
from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.limits import INFO_MAX
from portal.devices.models import Hold
from portal.domain.budget.priorities import Priority
from portal.domain.intents.actions import Requester, dispatch
from portal.domain.intents.models import Intent, Reason, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command, record_intent
from portal.domain.places.models import PassController
from tenants.models import Connection, User
from tenants.roles import Permission
from tenants.sentences import coded_sentence


class DoorCommand(TextChoices):
    UNLOCK = "unlock", _("Unlock")
    LOCK = "lock", _("Lock")
    HOLD = "cont_unlock", _("Hold unlocked")
    IN = "in_unlock", _("Unlock for entry")
    OUT = "out_unlock", _("Unlock for exit")

    def title_for(self, door: object) -> str:
        """Return the command with the door's name, such as "Unlock 倉庫 入口"."""
        return str(_TITLES[self.value]) % {"door": door}

    @property
    def icon(self) -> str:
        return {"lock": "lock", "cont_unlock": "door-enter"}.get(self.value, "lock-open")


_TITLES: dict[str, Promise] = {
    "unlock": _("Unlock %(door)s"),
    "lock": _("Lock %(door)s"),
    "cont_unlock": _("Hold %(door)s unlocked"),
    "in_unlock": _("Unlock %(door)s for entry"),
    "out_unlock": _("Unlock %(door)s for exit"),
}


def send_command(
    *,
    door: PassController,
    command: DoorCommand,
    by: Requester,
    nonce: Nonce,
    until: datetime | None = None,
    permission: Permission = Permission.DOORS_OPERATE,
) -> Intent:
    """Send a command to a door now (operation 35). The returned intent holds the result.

    A hold with `until` ends automatically at that time, unless a newer command is sent. Without it, staff must lock the
    door.
    """
    request = service_command(door, command, by.user, permission)
    if command is DoorCommand.HOLD:
        intent, is_new = _record_hold(request, until, by=by, nonce=nonce)
    else:
        intent, is_new = record_intent(request, by=by, nonce=nonce)
    if is_new:
        dispatch(intent)
    return intent


def _record_hold(command: Command, until: datetime | None, *, by: Requester, nonce: Nonce) -> tuple[Intent, bool]:
    """Record a command to hold a door, together with the hold and its end."""
    with transaction.atomic():
        intent, is_new = record_intent(command, by=by, nonce=nonce)
        if is_new:
            Hold.objects.create(
                tenant=by.tenant,
                device_id=intent.path["device_id"],
                unlock=intent,
                by=by.user,
                support_session=by.support_session,
                ends_at=until,
                due_at=until,
            )
    return intent, is_new


def service_command(
    door: PassController, command: DoorCommand, person: User, permission: Permission = Permission.DOORS_OPERATE
) -> Command:
    """Return the request of a door's command (operation 35). The service's log names `person`."""
    return Command(
        permission=permission,
        operation="operate_door",
        target=target_of("pass_controller", door.device_id),
        title=coded_sentence(f"door.{command.value}", door=door),
        path={"device_id": door.device_id},
        body={"tag": "lock_operation", "control": command.value, "info": str(person.email)[:INFO_MAX]},
        after={"control": command.value},
        priority=Priority.DOORS,
    )


def why_unavailable(connection: Connection) -> str:
    """Return why no command can be sent to any door now; empty if commands are possible."""
    if not connection.is_connected:
        return str(Reason.CONNECTION.label)
    operation = connection.tenant.environment.catalogue.find("operate_door")
    return str(Reason.LICENCE.label) if operation.needs_licence and not connection.licence_key else ""
