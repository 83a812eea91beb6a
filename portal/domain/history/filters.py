"""The filters of the activity log, by names and values of a URL. Lists, saved searches and exports use them.

| name | values |
|---|---|
| `period` | today, yesterday, 7d, 30d: relative to the current day |
| `from`, `to` | a day, or a day and a time, of the service's clock; a day as the end is included |
| `person` | a member_id or guest_id |
| `device` | a device_id or key_device_id; several: any of them |
| `area` | an area_id: the doors that lead into it |
| `category`, `status` | the service's values; several: any of them |
| `only` | refused, suspicious, notified |
| `q` | words of the record's texts |
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import QuerySet, TextChoices, Value
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.overrides import Records, States
from portal.base.files import date_parsing
from portal.base.ui import batching
from portal.base.ui.tables import Filter
from portal.base.ui.tables.filters import Choice
from portal.base.ui.times import local, time_tag
from portal.base.ui.url_lookup import url_in_tenant
from portal.base.ui.value_words import add_label, join_values, service_word
from portal.domain.events import MirrorKind
from portal.domain.history import search, visibility
from portal.domain.history.coverage import Coverage, build_coverage, start_of_day
from portal.domain.history.models import HistorySearch
from portal.domain.history.search import RecordFilter
from portal.domain.people.text_folding import search_words
from portal.domain.places.models import Area, KeyBox, PassController
from tenants.access import TenantRequest
from tenants.models import current_tenant
from tenants.roles import Permission

Keys = QuerySet[HistorySearch]
_DAY = timedelta(days=1)
_MOST = 200  # values of one filter; more than anyone chooses


class Period(TextChoices):
    """Periods relative to the current day: a saved search of "7d" always finds the last seven days."""

    TODAY = "today", pgettext_lazy("log", "Today")
    YESTERDAY = "yesterday", gettext_lazy("Yesterday")
    WEEK = "7d", gettext_lazy("Last 7 days")
    MONTH = "30d", gettext_lazy("Last 30 days")

    def span(self) -> tuple[datetime, datetime | None]:
        """Return the begin of the period and its end, or None if it has not ended."""
        today = start_of_day(local(timezone.now()).date())
        begin = {self.YESTERDAY: today - _DAY, self.WEEK: today - 6 * _DAY, self.MONTH: today - 29 * _DAY}
        return begin.get(self, today), today if self is Period.YESTERDAY else None


class QuickFilter(TextChoices):
    """Filters for people who do not know the service's categories."""

    REFUSED = "refused", pgettext_lazy("log", "Refused")
    SUSPICIOUS = "suspicious", pgettext_lazy("log", "Suspicious")
    NOTIFIED = "notified", gettext_lazy("Details not loaded")

    def to_conditions(self, records: Records) -> RecordFilter:
        if self is QuickFilter.REFUSED:
            return RecordFilter(categories=records.refused, has_person=True)
        return (
            RecordFilter(is_notified=True)
            if self is QuickFilter.NOTIFIED
            else RecordFilter(categories=records.suspicious)
        )


def parse_bound(text: str, *, end: bool = False) -> datetime | None:
    """Return the moment of `from` or `to`; None for anything else."""
    return date_parsing.parse_typed_moment(text, end=end)


def _period(rows: Keys, values: list[str]) -> Keys:
    since, until = Period(values[0]).span()
    return search.filter_records(rows, RecordFilter(since=since, until=until))


def _from(rows: Keys, values: list[str]) -> Keys:
    return search.filter_records(rows, RecordFilter(since=parse_bound(values[0])))


def _to(rows: Keys, values: list[str]) -> Keys:
    end = parse_bound(values[0], end=True)
    return search.filter_records(rows, RecordFilter(until=end + timedelta(seconds=1) if end else None))


def _area(rows: Keys, values: list[str]) -> Keys:
    return search.filter_records(rows, RecordFilter(device_ids=doors_of(values)))


def _only(rows: Keys, values: list[str]) -> Keys:
    for value in values:
        rows = search.filter_records(rows, QuickFilter(value).to_conditions(_record_words()))
    return rows


def _record_words() -> Records:
    return current_tenant().environment.catalogue.records


def doors_of(area_ids: Iterable[str]) -> list[str]:
    """Return the device_ids of the doors that lead into any of these areas."""
    lists = Area.objects.filter(area_id__in=list(area_ids)).values_list("devices_list", flat=True)
    return sorted({str(each.get("device_id", "")) for each in chain.from_iterable(lists) if isinstance(each, dict)})


def _categories(request: TenantRequest) -> list[Choice]:
    known = [*_record_words().categories, *coverage_of(request).categories, *_chosen(request, "category")]
    return [(value, service_word("category", value)) for value in dict.fromkeys(known)]


def _statuses(request: TenantRequest) -> list[Choice]:
    states = request.tenant.environment.catalogue.states
    usual = (next((each for each in words if "*" not in each), "") for words in (states.begun, states.over))
    known = [*filter(None, usual), *coverage_of(request).statuses, *_chosen(request, "status")]
    return [(value, status_word(value, states)) for value in dict.fromkeys(known)]


def status_word(value: str, states: States) -> str:
    """Return the word for a record's status, independent of how the service names "begun" and "over"."""
    if states.is_over(value):
        return service_word("record", "restore", value)
    return service_word("record", "occur" if value and states.is_begun(value) else value, value)


def coverage_of(request: TenantRequest) -> Coverage:
    """Return which parts of the log are complete, loaded once per page."""
    found: Coverage | None = getattr(request, "log_coverage", None)
    if found is None:
        batching.prefetch(request, DAYS)
        states = [each for each in batching.load_rows(request, "freshness") if each.kind == MirrorKind.HISTORIES]
        found = build_coverage(states[0], batching.load_rows(request, DAYS)) if states else Coverage()
        setattr(request, "log_coverage", found)  # noqa: B010 - a name that the type of requests does not have
    return found


def devices_of(request: TenantRequest) -> dict[str, str]:
    """Return the names of doors and key boxes by their IDs, in the order of names."""
    rows = sorted(batching.load_rows(request, DEVICES), key=lambda row: (row[1], row[0]))
    return {key: name or key for key, name, _kind in rows}


def device_kinds_of(request: TenantRequest) -> dict[str, str]:
    """Return the kinds of devices by their IDs: `door` or `box`."""
    return {key: kind for key, _name, kind in batching.load_rows(request, DEVICES)}


def _people(request: TenantRequest) -> list[Choice]:
    """Return the people in the URL, with their names. Names are loaded only if there are any."""
    chosen = _chosen(request, "person")
    known = visibility.names_by_id(request.access, chosen) if chosen else {}
    return [(value, known.get(value) or value) for value in chosen]


def _people_search_url(request: TenantRequest) -> str:
    """Return the address that finds people by name; empty for readers who may not see people."""
    if not (request.access.can(Permission.MEMBERS_VIEW) or request.access.can(Permission.GUESTS_VIEW)):
        return ""
    return url_in_tenant("history:people", request.tenant.slug)


def _since(request: TenantRequest) -> list[Choice]:
    return [(text, time_tag(at)) for text in _chosen(request, "from") if (at := parse_bound(text))]


def _until(request: TenantRequest) -> list[Choice]:
    return [(text, time_tag(at)) for text in _chosen(request, "to") if (at := parse_bound(text, end=True))]


def _chosen(request: TenantRequest, name: str) -> list[str]:
    return [value for value in request.GET.getlist(name)[:_MOST] if value and "\x00" not in value]


def _areas(request: TenantRequest) -> list[Choice]:
    return [(area_id, name) for area_id, name in batching.load_rows(request, AREAS)]


# Queries that pages combine (`signals.py`).
DEVICES, DAYS, AREAS = "log_devices", "log_days", "log_areas"


def prefetch(request: TenantRequest) -> None:
    """Load everything that filters and lists of the log need with the page's common query."""
    for name in (DAYS, DEVICES, AREAS):
        batching.prefetch(request, name)


def area_rows() -> QuerySet[Area, tuple[str, str]]:
    return Area.objects.order_by("name_order", "pk").values_list("area_id", "area_name")


def device_rows() -> QuerySet[PassController, tuple[str, str, str]]:
    doors = PassController.objects.values_list("device_id", "device_name", Value("door"))
    return doors.union(KeyBox.objects.values_list("key_device_id", "key_device_name", Value("box")), all=True)


FILTERS = (
    Filter("period", gettext_lazy("Period"), Period.choices, _period, is_single=True),
    Filter("from", pgettext_lazy("time", "From"), _since, _from, is_single=True),
    Filter("to", pgettext_lazy("time", "To"), _until, _to, is_single=True),
    Filter(
        "person",
        pgettext_lazy("log", "Person"),
        _people,
        lambda rows, values: search.filter_records(rows, RecordFilter(member_id=values[0])),
        is_single=True,
        find_url=_people_search_url,
    ),
    Filter(
        "device",
        gettext_lazy("Door or key box"),
        lambda request: list(devices_of(request).items()),
        lambda rows, values: search.filter_records(rows, RecordFilter(device_ids=values)),
    ),
    Filter("area", gettext_lazy("Area"), _areas, _area),
    Filter("only", pgettext_lazy("log", "Show only"), QuickFilter.choices, _only),
    Filter(
        "category",
        pgettext_lazy("log", "Category"),
        _categories,
        lambda rows, values: search.filter_records(rows, RecordFilter(categories=values)),
    ),
    Filter(
        "status",
        pgettext_lazy("log", "Status"),
        _statuses,
        lambda rows, values: search.filter_records(rows, RecordFilter(statuses=values)),
    ),
)
_VALID: Mapping[str, Callable[[str], object]] = {
    "period": lambda value: value in Period.values,
    "only": lambda value: value in QuickFilter.values,
    "from": parse_bound,
    "to": lambda value: parse_bound(value, end=True),
}


def apply_filters(rows: Keys, query: QueryDict) -> Keys:
    """Return the records for a URL. A filter with only invalid values finds nothing, as in the list."""
    for each in FILTERS:
        known = _valid_values(each, query)
        if any(query.getlist(each.name)):
            rows = each.apply(rows, known) if known else rows.none()
    words = search_words(query.get("q", ""))
    return search.filter_records(rows, RecordFilter(words=words)) if words else rows


def time_span(query: QueryDict) -> tuple[datetime | None, datetime | None]:
    """Return the time span of a URL; None for an open end."""
    since, until = parse_bound(query.get("from", "")), parse_bound(query.get("to", ""), end=True)
    if (period := query.get("period", "")) in Period.values:
        begin, end = Period(period).span()
        since, until = max(since or begin, begin), min(until or end, end) if end and until else until or end
    return since, until


def chosen_filters(query: QueryDict) -> QueryDict:
    """Return the valid filters of a URL and its search, in a fixed order."""
    found = QueryDict(mutable=True)
    for each in FILTERS:
        found.setlist(each.name, _valid_values(each, query))
    found["q"] = query.get("q", "").replace("\x00", "").strip()
    for name in [name for name in found if not any(found.getlist(name))]:
        del found[name]
    return found


Labels = Mapping[str, Mapping[str, object]]


def labels(request: TenantRequest, queries: Iterable[QueryDict]) -> Labels:
    """Return the labels of all filters' values, loaded once for all these queries."""
    people = {value: value for query in queries for value in query.getlist("person")}
    called = {each.name: _labels_of(each, request) for each in FILTERS if each.name != "person"}
    return called | {"person": people | visibility.names_by_id(request.access, people)}


def describe(request: TenantRequest, query: QueryDict, known: Labels | None = None) -> list[str]:
    """Return the filters of a URL in words, for files and saved searches. `known` are labels for several URLs."""
    descriptions = []
    for each in FILTERS:
        values = [value for value in query.getlist(each.name)[:_MOST] if value]
        if values:
            called = known[each.name] if known else _labels_of(each, request)
            chosen = join_values(called.get(value, value) for value in values)
            descriptions.append(add_label(chosen, each.label))
    if text := query.get("q", "").strip():
        descriptions.append(_("Search: %(text)s") % {"text": text})
    return descriptions


def _valid_values(each: Filter, query: QueryDict) -> list[str]:
    """Return the valid values of a filter."""
    means = _VALID.get(each.name, bool)
    return [value for value in query.getlist(each.name)[:_MOST] if value and "\x00" not in value and means(value)]


def _labels_of(each: Filter, request: TenantRequest) -> Mapping[str, object]:
    return dict(each.choices(request) if callable(each.choices) else each.choices)
