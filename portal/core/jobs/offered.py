"""What a list of members offers to do with its selection; `portal.changes` asks the rest."""

from collections.abc import Callable
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.core.ui.addresses import within
from portal.core.ui.tables import BulkAction
from tenants.roles import Permission

_OFFERED: tuple[tuple[str, Permission, str, Promise], ...] = (
    ("suspend", Permission.MEMBERS_EDIT, "player-pause", _("Suspend…")),
    ("resume", Permission.MEMBERS_EDIT, "player-play", _("Resume…")),
    ("extend", Permission.MEMBERS_EDIT, "calendar-plus", _("Extend…")),
    ("move", Permission.MEMBERS_EDIT, "users-group", _("Move…")),
    ("rights", Permission.RIGHTS_EDIT, "key", _("Rights…")),
    ("delete", Permission.MEMBERS_DELETE, "trash", _("Delete…")),
)


def actions(query: Callable[[Any], str] = lambda _request: "") -> tuple[BulkAction, ...]:
    """For `Table.actions`. `query(request)` is added to each address, such as "group=G1" for a group's list."""
    return tuple(
        BulkAction(name, label, _address(name, query), icon, permission, danger=name == "delete")
        for name, permission, icon, label in _OFFERED
    )


def _address(name: str, query: Callable[[Any], str]) -> Callable[[Any], str]:
    def address(request: Any) -> str:
        more = query(request)
        return within("changes:ask", request.tenant.slug, name) + (f"?{more}" if more else "")

    return address
