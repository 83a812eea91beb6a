"""Whom a change is for: the members ticked in a list, or all that match there."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from portal.mirror import queries
from portal.mirror.models import Member
from portal.ui.tables import Selection, Table, chosen
from portal.ui.tables.table import Table as AnyTable


def selection(request: HttpRequest) -> Selection:
    """The selection that was posted. `?group=` in the address: the list was one group's."""
    base = queries.members()
    group = request.GET.get("group", "")
    if group:
        base = queries.in_groups(base, [group])
    return chosen(request, _members, base)  # type: ignore[arg-type]


def _members(request: HttpRequest, queryset: QuerySet[Member], *, query: QueryDict) -> AnyTable:
    """The list of members itself, so that search and filters mean here what they meant there."""
    listed: Any = Table.registry["members"]
    table: AnyTable = listed(request, query=query)
    table.base = queryset
    return table
