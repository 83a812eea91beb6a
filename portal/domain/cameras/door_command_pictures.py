"""Pictures of a door before and after a command, if the tenant enabled them: two calls for each command.

The service returns pictures of past moments, so nothing is requested before the command is sent. A worker loads them a
little later, within budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accessapi.errors import ServiceError
from accessapi.limits import SNAPSHOT_CAMERAS_MAX
from portal.base.timers.clock import database_now
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import pictures
from portal.domain.cameras.models import Camera, CameraSettings, CommandPicture, Picture
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues, on_or_off
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission
from tenants.sentences import coded_sentence

_BEFORE, _AFTER, _READ_AFTER = timedelta(seconds=-2), timedelta(seconds=5), timedelta(seconds=10)
# Pictures that were not loaded within this time are given up: the budget was needed for something else.
_GIVEN_UP_AFTER = timedelta(hours=1)


def is_enabled() -> bool:
    """Return True if the current tenant enabled pictures of its door commands."""
    return CameraSettings.objects.filter(pictures_of_commands=True).exists()


def set_enabled(*, enabled: bool, by: Requester) -> ChangeResult:
    """Enable or disable pictures of door commands. Raises NotChanged."""
    return changing.change(RULE, {"pictures_of_commands": enabled}, by=by)


def _save(_subject: str, after: SettingValues, by: Requester) -> None:
    CameraSettings.objects.update_or_create(tenant=by.tenant, defaults=dict(after))
    audit.record(
        **by.audit_author,
        action="camera.settings",
        target="camera:settings",
        summary=coded_sentence("camera.settings"),
        after=dict(after),
    )


# Disabling is the looser setting: without pictures, it is less clear who a door was opened for.
RULE = SafetyRule(
    name="command_pictures",
    permission=Permission.CAMERAS_MANAGE,
    title=lambda _subject: coded_sentence("safety_rule.command_pictures"),
    read=lambda _subject: {"pictures_of_commands": is_enabled()},
    is_looser=lambda _subject, _before, after: not after["pictures_of_commands"],
    save=_save,
    describe=lambda _subject, values: {
        _("Pictures before and after door commands"): on_or_off(values["pictures_of_commands"])
    },
    page_route=lambda _subject: ("cameras:settings",),
)


def schedule_pictures(intent: Intent, device_id: str) -> None:
    """Schedule pictures of a door whose command was sent. Call it in the transaction of the command's outcome."""
    if intent.sent_at is None or not is_enabled() or not _cameras(device_id).exists():
        return
    due_at = intent.sent_at + _READ_AFTER
    moments = {CommandPicture.Side.BEFORE: _BEFORE, CommandPicture.Side.AFTER: _AFTER}
    rows = [
        CommandPicture(
            tenant=intent.tenant,
            intent=intent,
            device_id=device_id,
            side=side,
            at=(intent.sent_at + shift).replace(microsecond=0),
            due_at=due_at,
        )
        for side, shift in moments.items()
    ]
    CommandPicture.objects.bulk_create(rows, ignore_conflicts=True)


def _cameras(device_id: str) -> QuerySet[Camera]:
    return Camera.objects.filter(doors__contains=[device_id]).order_by("name_order", "pk")


def read_pictures(moment_id: int) -> None:
    """Load the pictures of a moment of the current tenant, unless they are loaded."""
    moment = CommandPicture.objects.filter(pk=moment_id, due_at__isnull=False).first()
    if moment is None:
        return
    cameras = list(_cameras(moment.device_id)[:SNAPSHOT_CAMERAS_MAX])
    moment.due_at, moment.trouble = None, ""
    connection = current_connection()
    if not connection.is_connected:
        moment.trouble = "not_connected"
    elif cameras:
        try:
            pictures.read(connection, cameras, Priority.JOBS, moment.at)
        except BudgetExhausted as error:
            if error.check_again_at < moment.at + _GIVEN_UP_AFTER:
                moment.due_at = max(error.check_again_at, database_now() + _READ_AFTER)
            moment.trouble = "no_budget"
        except ServiceError as error:
            moment.trouble = pictures.trouble_of(error)
    moment.save(update_fields=["due_at", "trouble"])


@dataclass(frozen=True)
class CommandPictures:
    """A moment with the pictures of the door's cameras, or the reason why there are none.

    `cameras` is filled if the stored pictures have expired: pictures of that moment can be requested again.
    """

    moment: CommandPicture
    problem: str
    pictures: Sequence[Picture] = field(default_factory=list)
    cameras: Sequence[Camera] = field(default_factory=list)

    @property
    def is_awaited(self) -> bool:
        return self.moment.due_at is not None


def pictures_of(intent: Intent) -> list[CommandPictures]:
    """Return the moments before and after a command, with their stored pictures."""
    moments = list(CommandPicture.objects.filter(intent=intent).order_by("at"))
    if not moments:
        return []
    found = Picture.objects.filter(at__in=[each.at for each in moments], camera__doors__contains=[moments[0].device_id])
    rows = list(found.defer("content").select_related("camera").order_by("camera__name_order", "pk"))
    command_pictures = []
    for each in moments:
        mine = [row for row in rows if row.at == each.at]
        wrong = each.trouble or next((row.trouble for row in mine if not row.mark), "")
        stored = [row for row in mine if row.mark]
        over = not stored and not wrong and each.at < database_now() - pictures.MOMENTS_RETENTION
        cameras = list(_cameras(each.device_id)) if over else []
        command_pictures.append(CommandPictures(each, pictures.trouble_text(wrong), stored, cameras))
    return command_pictures


PICTURES = Process(
    name="command_pictures", rows=due(CommandPicture), step=read_pictures, queue="sync", every=5.0,
    claim_values=retry_after(60),
)  # fmt: skip
