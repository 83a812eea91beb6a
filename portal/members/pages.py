"""What a member's page shows, and the way back to it."""

from functools import partial
from typing import Any

from django.http import HttpRequest

from portal.core.intents.asking import page_of
from portal.core.intents.models import Intent
from portal.core.jobs import suspensions
from portal.core.mirror import queries as mirror
from portal.core.mirror.fields.members import MEMBER
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.members import codes, faces, queries, standing, temporary
from portal.members.explaining import explained
from portal.members.key_forms import TEMPORARY_INPUTS
from tenants.roles import Permission

LATELY = 8


def facts(request: HttpRequest, member: Member) -> dict[str, Any]:
    """What the mirror knows of the member, what runs by our own requests, and what the person lately did."""
    can, about = request.access.can, queries.intents_about(member)
    suspension, named = suspensions.suspension_of(member), {member.membergroup_id: member.membergroup_name}
    member.suspended = suspension is not None  # type: ignore[attr-defined]
    return {
        "suspension": suspension,
        "member": member,
        "who": [(each, each.drawn(each.written(member), named)) for each in MEMBER.in_part("who")],
        "about": about,
        "state": standing.validity_of(member),
        "qr": standing.qr_of(member),
        "face": faces.standing(member, about),
        "running": temporary.running(about),
        "lately": list(mirror.histories_of(member.member_id)[: LATELY + 1]),
        "most": LATELY,
        "log": known(request)[Kind.HISTORIES],
        "unknown": sorted(member.extra.items()),
        "may_reveal": can(Permission.SECRETS_REVEAL),
        "may_edit": can(Permission.MEMBERS_EDIT),
        "may_delete": can(Permission.MEMBERS_DELETE),
        "may_lend": can(Permission.DOORS_OPERATE),
        "shown": {},
    }


def context(request: HttpRequest, member: Member) -> dict[str, Any]:
    """The whole page: the member, what was lately asked of the service, and what staff changed."""
    found = facts(request, member)
    asked = found["about"][:5]
    return found | {"intents": asked, "changes": queries.staff_changes(member, asked)}


def back_to_member(request: HttpRequest) -> dict[str, Any]:
    """How a form about a member leads on (`asking.lead`): to the member's page, unless it was refused."""
    inputs = {**MEMBER.inputs, **TEMPORARY_INPUTS}
    return {"to": _address, "inputs": inputs, "explain": partial(explained, access=request.access)}


def _address(intent: Intent) -> str:
    """The page of the member that an intent is about; none while the mirror could not follow."""
    member_id = intent.path.get("member_id") or intent.result.get("member_id", "")
    known = Member.objects.filter(member_id=member_id).exists()
    return page_of(intent, "members:page", "member_id") if known else ""


def secret(member: Member, what: str, value: str) -> dict[str, Any]:
    """What a revealed secret is drawn with: QR data also as a picture, unless it is more than a code holds."""
    drawn = codes.picture(value, str(member)) if what == "qr" and value else None
    return {"value": value, "drawn": drawn}
