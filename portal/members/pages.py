"""What a member's page shows."""

from typing import Any

from django.http import HttpRequest

from portal.members import queries, standing
from portal.mirror.models import Member
from tenants.roles import Permission


def facts(request: HttpRequest, member: Member) -> dict[str, Any]:
    """What the mirror knows of the member itself."""
    can = request.access.can
    return {
        "member": member,
        "state": standing.validity_of(member),
        "qr": standing.qr_of(member),
        "rights": standing.rights_of(member, queries.names_of_places()),
        "unknown": sorted(member.extra.items()),
        "may_reveal": can(Permission.SECRETS_REVEAL),
        "may_edit": can(Permission.MEMBERS_EDIT),
        "may_delete": can(Permission.MEMBERS_DELETE),
        "shown": {},
    }


def context(request: HttpRequest, member: Member) -> dict[str, Any]:
    """The whole page: the member, what was lately asked of the service, and what staff changed."""
    asked = queries.latest_intents(member)
    return facts(request, member) | {"intents": asked, "changes": queries.staff_changes(member, asked)}
