"""How the log is narrowed, by names and values of an address: lists, saved searches and exports read it alike.

| name | values |
|---|---|
| `period` | today, yesterday, 7d, 30d: they move with the day |
| `from`, `to` | a day, or a day and a time, of the service's clock; a day that is the end counts whole |
| `person` | a member_id or guest_id |
| `device` | a device_id or key_device_id; several: any of them |
| `area` | an area_id: the doors that lead into it |
| `category`, `status` | the service's values; several: any of them |
| `only` | refused, suspicious, notified |
| `q` | words of what was said |
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
from portal.core.files import date_parsing
from portal.core.log import visibility
from portal.core.mirror import log_search
from portal.core.mirror.coverage import Coverage, build_coverage, start_of_day
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.log_search import RecordFilter
from portal.core.mirror.models import Area, HistoryDay, HistorySearch, KeyBox, PassController
from portal.core.ui import batching
from portal.core.ui.tables import Filter
from portal.core.ui.tables.filters import Choice
from portal.core.ui.times import local, time_tag
from portal.core.ui.url_lookup import url_in_tenant
from portal.core.ui.value_words import service_word
from tenants.access import TenantRequest
from tenants.models import current_tenant
from tenants.roles import Permission

Keys = QuerySet[HistorySearch]
_DAY = timedelta(days=1)
_MOST = 200  # values of one filter; more than anybody chooses


class Period(TextChoices):
    """Days that move: a saved search of "7d" is about the last seven days whenever it is opened."""

    TODAY = "today", pgettext_lazy("log", "Today")
    YESTERDAY = "yesterday", gettext_lazy("Yesterday")
    WEEK = "7d", gettext_lazy("Last 7 days")
    MONTH = "30d", gettext_lazy("Last 30 days")

    def span(self) -> tuple[datetime, datetime | None]:
        """Return when it begins and, unless it lasts, when it is over."""
        today = start_of_day(local(timezone.now()).date())
        begin = {self.YESTERDAY: today - _DAY, self.WEEK: today - 6 * _DAY, self.MONTH: today - 29 * _DAY}
        return begin.get(self, today), today if self is Period.YESTERDAY else None


class QuickFilter(TextChoices):
    """Records that people look for without knowing the service's categories."""

    REFUSED = "refused", pgettext_lazy("log", "Refused")
    SUSPICIOUS = "suspicious", pgettext_lazy("log", "Suspicious")
    NOTIFIED = "notified", gettext_lazy("Details not loaded")

    def to_conditions(self, words: Records) -> RecordFilter:
        if self is QuickFilter.REFUSED:
            return RecordFilter(categories=words.refused, has_person=True)
        return (
            RecordFilter(is_notified=True)
            if self is QuickFilter.NOTIFIED
            else RecordFilter(categories=words.suspicious)
        )


def parse_moment(text: str, *, end: bool = False) -> datetime | None:
    """Read `from` or `to`; None for what is no day or time."""
    return date_parsing.parse_moment(text.replace("T", " ", 1), end=end) if text else None


def _period(rows: Keys, values: list[str]) -> Keys:
    since, until = Period(values[0]).span()
    return log_search.filter_records(rows, RecordFilter(since=since, until=until))


def _from(rows: Keys, values: list[str]) -> Keys:
    return log_search.filter_records(rows, RecordFilter(since=parse_moment(values[0])))


def _to(rows: Keys, values: list[str]) -> Keys:
    end = parse_moment(values[0], end=True)
    return log_search.filter_records(rows, RecordFilter(until=end + timedelta(seconds=1) if end else None))


def _area(rows: Keys, values: list[str]) -> Keys:
    return log_search.filter_records(rows, RecordFilter(device_ids=doors_of(values)))


def _only(rows: Keys, values: list[str]) -> Keys:
    for value in values:
        rows = log_search.filter_records(rows, QuickFilter(value).to_conditions(_record_words()))
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
    """Return the word for a record's status, whatever the service calls one that has happened or is over."""
    if states.is_over(value):
        return service_word("record", "restore", value)
    return service_word("record", "occur" if value and states.is_begun(value) else value, value)


def coverage_of(request: TenantRequest) -> Coverage:
    """Return what the log is complete for, read once for a page."""
    found: Coverage | None = getattr(request, "log_coverage", None)
    if found is None:
        batching.prefetch(request, _DAYS)
        states = [each for each in batching.load_rows(request, "freshness") if each.kind == MirrorKind.HISTORIES]
        found = build_coverage(states[0], batching.load_rows(request, _DAYS)) if states else Coverage()
        setattr(request, "log_coverage", found)  # noqa: B010 - a name that the type of requests does not have
    return found


def devices_of(request: TenantRequest) -> dict[str, str]:
    """Return the names of doors and key boxes by their IDs, in the order of names."""
    rows = sorted(batching.load_rows(request, DEVICES), key=lambda row: (row[1], row[0]))
    return {key: name or key for key, name, _kind in rows}


def device_kinds_of(request: TenantRequest) -> dict[str, str]:
    """Return what the devices of these IDs are: `door` or `box`."""
    return {key: kind for key, _name, kind in batching.load_rows(request, DEVICES)}


def _people(request: TenantRequest) -> list[Choice]:
    """Whom the address names: the person's name is looked for only then."""
    asked = _chosen(request, "person")
    known = visibility.names_by_id(request.access, asked) if asked else {}
    return [(value, known.get(value) or value) for value in asked]


def _people_search_url(request: TenantRequest) -> str:
    """Where people are found by name, for whoever may know any."""
    if not (request.access.can(Permission.MEMBERS_VIEW) or request.access.can(Permission.GUESTS_VIEW)):
        return ""
    return url_in_tenant("logs:people", request.tenant.slug)


def _since(request: TenantRequest) -> list[Choice]:
    return [(text, time_tag(at)) for text in _chosen(request, "from") if (at := parse_moment(text))]


def _until(request: TenantRequest) -> list[Choice]:
    return [(text, time_tag(at)) for text in _chosen(request, "to") if (at := parse_moment(text, end=True))]


def _chosen(request: TenantRequest, name: str) -> list[str]:
    return [value for value in request.GET.getlist(name)[:_MOST] if value and "\x00" not in value]


def _areas(request: TenantRequest) -> list[Choice]:
    return [(area_id, name) for area_id, name in batching.load_rows(request, _AREAS)]


DEVICES, _DAYS, _AREAS = "log_devices", "log_days", "log_areas"


def prefetch(request: TenantRequest) -> None:
    """Have the page ask for all that filters and lists of the log are drawn from, along with what every page asks."""
    for name in (_DAYS, DEVICES, _AREAS):
        batching.prefetch(request, name)


def register() -> None:
    batching.register_query(_DAYS, lambda: HistoryDay.objects.all(), on_every_page=False)
    batching.register_query(DEVICES, _devices, on_every_page=False)
    batching.register_query(
        _AREAS,
        lambda: Area.objects.order_by("name_order", "pk").values_list("area_id", "area_name"),
        on_every_page=False,
    )


def _devices() -> QuerySet[PassController, tuple[str, str, str]]:
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
        lambda rows, values: log_search.filter_records(rows, RecordFilter(member_id=values[0])),
        is_single=True,
        find_url=_people_search_url,
    ),
    Filter(
        "device",
        gettext_lazy("Door or key box"),
        lambda request: list(devices_of(request).items()),
        lambda rows, values: log_search.filter_records(rows, RecordFilter(device_ids=values)),
    ),
    Filter("area", gettext_lazy("Area"), _areas, _area),
    Filter("only", pgettext_lazy("log", "Only"), QuickFilter.choices, _only),
    Filter(
        "category",
        pgettext_lazy("log", "Category"),
        _categories,
        lambda rows, values: log_search.filter_records(rows, RecordFilter(categories=values)),
    ),
    Filter(
        "status",
        pgettext_lazy("log", "Status"),
        _statuses,
        lambda rows, values: log_search.filter_records(rows, RecordFilter(statuses=values)),
    ),
)
_VALID: Mapping[str, Callable[[str], object]] = {
    "period": lambda value: value in Period.values,
    "only": lambda value: value in QuickFilter.values,
    "from": parse_moment,
    "to": lambda value: parse_moment(value, end=True),
}


def apply_filters(rows: Keys, query: QueryDict) -> Keys:
    """Return the records that an address asks for. Values that mean nothing find nothing, as in the list."""
    for each in FILTERS:
        known = _valid_values(each, query)
        if any(query.getlist(each.name)):
            rows = each.apply(rows, known) if known else rows.none()
    words = log_search.search_words(query.get("q", ""))
    return log_search.filter_records(rows, RecordFilter(words=words)) if words else rows


def time_span(query: QueryDict) -> tuple[datetime | None, datetime | None]:
    """Return the time that an address is about, as far as it says one."""
    since, until = parse_moment(query.get("from", "")), parse_moment(query.get("to", ""), end=True)
    if (period := query.get("period", "")) in Period.values:
        begin, end = Period(period).span()
        since, until = max(since or begin, begin), min(until or end, end) if end and until else until or end
    return since, until


def chosen_filters(query: QueryDict) -> QueryDict:
    """Return what an address asks for: filters with values that mean something and the search, in a steady order."""
    found = QueryDict(mutable=True)
    for each in FILTERS:
        found.setlist(each.name, _valid_values(each, query))
    found["q"] = query.get("q", "").replace("\x00", "").strip()
    for name in [name for name in found if not any(found.getlist(name))]:
        del found[name]
    return found


Labels = Mapping[str, Mapping[str, object]]


def labels(request: TenantRequest, queries: Iterable[QueryDict]) -> Labels:
    """Return what the values of all filters are called in what is asked for, looked up once for all of it."""
    people = {value: value for query in queries for value in query.getlist("person")}
    called = {each.name: _labels_of(each, request) for each in FILTERS if each.name != "person"}
    return called | {"person": people | visibility.names_by_id(request.access, people)}


def describe(request: TenantRequest, query: QueryDict, known: Labels | None = None) -> list[str]:
    """Say what an address asks for, filter by filter: for files and for what is kept; `known` by several at once."""
    said = []
    for each in FILTERS:
        values = [value for value in query.getlist(each.name)[:_MOST] if value]
        if values:
            called = known[each.name] if known else _labels_of(each, request)
            said.append(f"{each.label}: {', '.join(str(called.get(value, value)) for value in values)}")
    if text := query.get("q", "").strip():
        said.append(_("Search: %(text)s") % {"text": text})
    return said


def _valid_values(each: Filter, query: QueryDict) -> list[str]:
    """Those of the values of a filter that can mean anything."""
    means = _VALID.get(each.name, bool)
    return [value for value in query.getlist(each.name)[:_MOST] if value and "\x00" not in value and means(value)]


def _labels_of(each: Filter, request: TenantRequest) -> Mapping[str, object]:
    return dict(each.choices(request) if callable(each.choices) else each.choices)
