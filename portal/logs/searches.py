"""Searches of the log that a tenant keeps under a name: kept, renamed, deleted, each in the audit log.

The address's query is kept as it is, so that "the last seven days" are those before whichever day it is opened on.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import CharField, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.log import filters
from portal.core.log.filters import Labels
from portal.core.ui import together
from portal.logs.models import QUERY_MAX, SavedSearch
from tenants import audit
from tenants.access import TenantRequest
from tenants.models import Tenant
from tenants.wording import say

# Of a tenant: as many as a person looks through.
MOST = 50
# Filters whose values are somewhere, and may be gone one day.
_PLACES = ("device", "area")
_ASKED = "log_searches"


class NotKept(ValueError):
    """The search was not kept, or not renamed; the text says why."""


@dataclass(frozen=True)
class Shown:
    """A saved search as a person sees it: where it leads, what it asks for, and what of that is gone."""

    search: SavedSearch
    href: str
    words: list[str]
    gone: list[str]
    is_here: bool


def register() -> None:
    by_whom = Coalesce(NullIf("by__name", Value("")), "by__email", output_field=CharField())
    together.ask(_ASKED, lambda: SavedSearch.objects.annotate(by_whom=by_whom).order_by("name"), everywhere=False)


def want(request: TenantRequest) -> None:
    """Have a page that shows saved searches ask for all that they are drawn from along with what every page asks."""
    filters.want(request)
    together.want(request, _ASKED)


def shown(request: TenantRequest) -> list[Shown]:
    """Return the tenant's saved searches by name. What filters are called is looked up once for all."""
    want(request)
    kept: list[SavedSearch] = together.told(request, _ASKED)
    labels: Labels = filters.labels(request, [QueryDict(each.query) for each in kept]) if kept else {}
    page, here = reverse("logs:index", args=[request.tenant.slug]), filters.asked(request.GET).urlencode()
    return [_shown(request, search, page, here, labels) for search in kept]


def _shown(request: TenantRequest, search: SavedSearch, page: str, here: str, labels: Labels) -> Shown:
    query = QueryDict(search.query)
    gone = [value for name in _PLACES for value in query.getlist(name) if value not in labels[name]]
    words = filters.in_words(request, query, labels)
    return Shown(search, f"{page}?{search.query}", words, gone, search.query == here)


def keep(*, name: str, query: QueryDict, by: Asker) -> SavedSearch:
    """Keep what an address asks for under a name that no other search has; the same again is the same one.

    Raises NotKept.
    """
    text = filters.asked(query).urlencode()
    if not text:
        raise NotKept(_("Choose a filter or enter a search first."))
    if len(text) > QUERY_MAX:
        raise NotKept(_("This search has too many filters to be saved."))
    with transaction.atomic():
        known = _locked(by.tenant)
        same = next((each for each in known if each.name == name), None)
        if same is not None and same.query == text:
            return same
        _check_name(name, known)
        if len(known) >= MOST:
            raise NotKept(_("At most %(n)d searches can be saved. Delete one that is no longer needed.") % {"n": MOST})
        search = SavedSearch.objects.create(name=name, query=text, by=by.user)
        _write_down(search, by, "log.search_saved", after={"filters": _named(search)})
    return search


def rename(*, search: SavedSearch, name: str, by: Asker) -> None:
    """Give a search another name. Raises NotKept."""
    with transaction.atomic():
        known = _locked(by.tenant)
        if name == search.name:
            return
        _check_name(name, known)
        before, search.name = {"name": search.name}, name
        search.save(update_fields=["name"])
        _write_down(search, by, "log.search_renamed", before=before, after={"name": name})


def delete(*, search: SavedSearch, by: Asker) -> None:
    """Forget a search."""
    with transaction.atomic():
        _write_down(search, by, "log.search_deleted", before={"filters": _named(search)})
        search.delete()


def _locked(tenant: Tenant) -> list[SavedSearch]:
    """The tenant's searches, while nobody else keeps one."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    return list(SavedSearch.objects.all())


def _check_name(name: str, known: list[SavedSearch]) -> None:
    if any(each.name == name for each in known):
        raise NotKept(_("There is already a search with this name."))


def _named(search: SavedSearch) -> str:
    """By what it narrows, without whom: nothing can ever be taken out of the trail."""
    return ", ".join(QueryDict(search.query).keys())


def _write_down(search: SavedSearch, by: Asker, action: str, **told: Any) -> None:
    audit.record(
        **by.author, action=action, target=f"log:search {search.pk}", summary=say(action, name=search.name), **told
    )
