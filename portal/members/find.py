"""Members in the palette (Ctrl-K)."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.core.mirror import queries, search
from portal.core.ui import palette
from portal.core.ui.palette import Hit
from tenants.roles import Permission


def members(request: HttpRequest, text: str) -> Iterator[Hit]:
    """The first members by name that `text` finds."""
    if not request.access.can(Permission.MEMBERS_VIEW):
        return
    found = search.members(queries.members(), text, reveal=request.access.can(Permission.SECRETS_REVEAL))
    for member in found.order_by("name_key", "pk")[: palette.MOST]:
        address = reverse("members:page", args=[request.tenant.slug, member.member_id])
        hint = " · ".join(filter(None, (member.member_code, member.membergroup_name)))
        yield Hit(member.member_name or member.member_id, address, "user", hint)


def register() -> None:
    palette.register("members", _("Members"), members)
