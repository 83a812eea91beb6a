"""Save, rename and delete a tenant's named searches of the log. Each change is recorded in the audit log.

The query of the address is stored unchanged, so that "the last seven days" always count from the present day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui import batching
from portal.base.ui.value_words import join_values
from portal.domain.history import filters
from portal.domain.history.filters import Labels
from portal.domain.intents.recording import Requester
from portal.history.models import QUERY_MAX, SavedSearch
from tenants import audit
from tenants.access import TenantRequest
from tenants.models import Tenant
from tenants.sentences import coded_sentence

# How many searches a tenant may save.
MAX_SEARCHES = 50
# Filters by place. Their values may be deleted later.
_PLACES = ("device", "area")
BATCH_NAME = "log_searches"


class SearchNotSaved(ValueError):
    """Raised when a search is not saved or renamed; the text says why."""


@dataclass(frozen=True)
class ShownSearch:
    """A saved search as a person sees it: its address, its filters, and which of their values no longer exist."""

    search: SavedSearch
    href: str
    words: list[str]
    missing_values: list[str]
    is_current: bool


def all_searches() -> QuerySet[SavedSearch]:
    """Return the tenant's searches by name, each with the name or address of the person who saved it."""
    by_whom = Coalesce(NullIf("by__name", Value("")), "by__email", output_field=CharField())
    return SavedSearch.objects.annotate(by_whom=by_whom).order_by("name")


def prefetch(request: TenantRequest) -> None:
    """Prefetch the queries for saved searches together with the queries of every page."""
    filters.prefetch(request)
    batching.prefetch(request, BATCH_NAME)


def list_searches(request: TenantRequest) -> list[ShownSearch]:
    """Return the tenant's saved searches by name. Names of filter values are looked up once for all searches."""
    prefetch(request)
    saved: list[SavedSearch] = batching.load_rows(request, BATCH_NAME)
    labels: Labels = filters.labels(request, [QueryDict(each.query) for each in saved]) if saved else {}
    page, current = (
        reverse("history:index", args=[request.tenant.slug]),
        filters.chosen_filters(request.GET).urlencode(),
    )
    return [_describe(request, search, page, current, labels) for search in saved]


def _describe(request: TenantRequest, search: SavedSearch, page: str, current: str, labels: Labels) -> ShownSearch:
    query = QueryDict(search.query)
    missing = [value for name in _PLACES for value in query.getlist(name) if value not in labels[name]]
    words = filters.describe(request, query, labels)
    return ShownSearch(search, f"{page}?{search.query}", words, missing, search.query == current)


def save(*, name: str, query: QueryDict, by: Requester) -> SavedSearch:
    """Save an address's filters under a unique name. Saving the same again returns the same search.

    Raises SearchNotSaved.
    """
    text = filters.chosen_filters(query).urlencode()
    if not text:
        raise SearchNotSaved(_("Search not saved: no filter is set. Choose a filter or enter a search."))
    if len(text) > QUERY_MAX:
        raise SearchNotSaved(_("Search not saved: it has too many filters. Remove some and save again."))
    with transaction.atomic():
        known = _lock_searches(by.tenant)
        same = next((each for each in known if each.name == name), None)
        if same is not None and same.query == text:
            return same
        _check_name(name, known)
        if len(known) >= MAX_SEARCHES:
            raise SearchNotSaved(
                _("Search not saved: %(n)d searches are saved already. Delete one you no longer need.")
                % {"n": MAX_SEARCHES}
            )
        search = SavedSearch.objects.create(name=name, query=text, by=by.user)
        _audit(search, by, "log.search_saved", after={"filters": _filter_names(search)})
    return search


def rename(*, search: SavedSearch, name: str, by: Requester) -> None:
    """Rename a search. Raises SearchNotSaved."""
    with transaction.atomic():
        known = _lock_searches(by.tenant)
        if name == search.name:
            return
        _check_name(name, known)
        before, search.name = {"name": search.name}, name
        search.save(update_fields=["name"])
        _audit(search, by, "log.search_renamed", before=before, after={"name": name})


def delete(*, search: SavedSearch, by: Requester) -> None:
    with transaction.atomic():
        _audit(search, by, "log.search_deleted", before={"filters": _filter_names(search)})
        search.delete()


def _lock_searches(tenant: Tenant) -> list[SavedSearch]:
    """Return the tenant's searches, locked until the transaction ends."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    return list(SavedSearch.objects.all())


def _check_name(name: str, known: list[SavedSearch]) -> None:
    if any(each.name == name for each in known):
        raise SearchNotSaved(_("Search not saved: this name is used already. Choose another name."))


def audit_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of the filters that an audit log entry names."""
    labels = {each.name: each.label for each in filters.FILTERS} | {"q": pgettext("log", "Search text")}
    named = filter(None, str(values.get("filters", "")).split(", "))
    return {"filters": join_values(labels.get(name, name) for name in named)} if "filters" in values else {}


def audit_label(name: str) -> str:
    """Return the label of a field of an entry on a saved search; an unknown name unchanged."""
    return {"filters": _("Filters"), "name": pgettext("search", "Name")}.get(name, name)


def _filter_names(search: SavedSearch) -> str:
    """Return the names of the filters without their values: the audit log can never be erased."""
    return ", ".join(QueryDict(search.query).keys())


def _audit(search: SavedSearch, by: Requester, action: str, **changes: Any) -> None:
    audit.record(
        **by.audit_author,
        action=action,
        target=f"log:search {search.pk}",
        summary=coded_sentence(action, name=search.name),
        **changes,
    )
