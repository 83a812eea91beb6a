"""Whom a change is for: the members ticked in a list, or all that match there."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from portal.core.mirror import queries
from portal.core.mirror.models import Member
from portal.core.ui.tables import Selection, Table, chosen
from portal.core.ui.tables.table import Table as AnyTable


def selection(request: HttpRequest) -> Selection:
    """The selection that was posted. `?group=` in the address: the list was one group's."""
    base = queries.members()
    group = request.GET.get("group", "")
    if group:
        base = queries.in_groups(base, [group])
    return chosen(request, _members, base)  # type: ignore[arg-type]


def _members(request: HttpRequest, queryset: QuerySet[Member], *, query: QueryDict) -> AnyTable:
    """The list that was looked at, so that search and filters mean here what they meant there.

    `?leavers=` in the address: it was one of the leavers' lists, which holds by itself only some of the members.
    """
    which = request.GET.get("leavers", "")
    listed: Any = Table.registry["leavers" if which else "members"]
    table: AnyTable = listed.selecting(request, which, query) if which else listed(request, query=query)
    if not which:
        table.base = queryset
    return table
