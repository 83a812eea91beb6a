"""The log records that a person may see (all, today's, or none), and the names of people in them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Value

from portal.base.ui.times import today
from portal.domain.history import search
from portal.domain.history.coverage import start_of_day
from portal.domain.history.models import History, HistorySearch
from portal.domain.people.models import Guest, Member
from tenants.access import Access
from tenants.roles import Permission

_MAX_LOOKED_UP = 20  # people whose names are looked up in the log


def visible_since(access: Access) -> datetime | None:
    """Return the time since which a person sees records; None for all records. It does not check `may_view_log`."""
    return None if access.can(Permission.LOGS_VIEW) else start_of_day(today())


def visible_records(access: Access) -> QuerySet[History]:
    """Return the records that a person may see, in no order."""
    begin = visible_since(access)
    if not may_view_log(access):
        return History.objects.none()
    return History.objects.all() if begin is None else History.objects.filter(at__gte=begin)


def visible_search_rows(access: Access) -> QuerySet[HistorySearch]:
    """Return the search rows of these records (`search.py`), the newest first, for lists of any length."""
    begin = visible_since(access)
    if not may_view_log(access):
        return search.search_rows().none()
    return (
        search.search_rows()
        if begin is None
        else search.filter_records(search.search_rows(), search.RecordFilter(since=begin))
    )


def may_view_log(access: Access) -> bool:
    """Return True if a person sees any records."""
    return access.can(Permission.LOGS_VIEW) or access.can(Permission.LOGS_TODAY)


@dataclass(frozen=True)
class KnownPerson:
    """A member or a guest, as a reader may see them. `is_current`: they still exist at the service."""

    kind: str
    name: str
    is_current: bool


def people_by_id(access: Access, ids: Collection[str]) -> dict[str, KnownPerson]:
    """Return the members and guests with these IDs that a person may see, in one statement."""
    sources: list[QuerySet[Any, Any]] = []
    if access.can(Permission.GUESTS_VIEW):
        guests = Guest.objects.filter(guest_id__in=ids)
        sources.append(guests.values_list("guest_id", "guest_name", Value("guest"), "gone_at"))
    if access.can(Permission.MEMBERS_VIEW):
        members = Member.objects.filter(member_id__in=ids)
        sources.append(members.values_list("member_id", "member_name", Value("member"), "gone_at"))
    if not ids or not sources:
        return {}
    found = sorted(sources[0].union(*sources[1:], all=True), key=lambda row: row[2])  # of one ID the member counts
    return {key: KnownPerson(kind, name, gone_at is None) for key, name, kind, gone_at in found}


def names_by_id(access: Access, ids: Collection[str]) -> dict[str, str]:
    """Return the names of people with these IDs: from members and guests that are visible, otherwise from the log."""
    known = {key: each.name for key, each in people_by_id(access, ids).items()}
    unknown = sorted(set(ids) - known.keys())[:_MAX_LOOKED_UP]
    named = visible_records(access).exclude(member_id="").order_by("-at", "-pk").values_list("member_id", "member_name")
    logged = [named.filter(member_id=each)[:1] for each in unknown]
    return known | dict(logged[0].union(*logged[1:], all=True)) if logged else known
