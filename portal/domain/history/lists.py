"""The list of log records, and the newest records of a person, a door or an area for their pages.

The list is filtered, ordered and paged with the search rows of `search.py`. Templates draw the newest records with
`{% happened … %}`, and an open page polls for updates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui import batching, live_updates
from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.columns import EMPTY_CELL
from portal.base.ui.tables.filters import BoundFilter
from portal.base.ui.tables.keyset import ListPage
from portal.base.ui.times import local, today
from portal.base.ui.url_lookup import url_in_tenant
from portal.base.ui.value_words import add_label, join_values, service_word
from portal.domain.events import MirrorKind
from portal.domain.history import filters, gaps, search, visibility
from portal.domain.history.coverage import Coverage
from portal.domain.history.event_words import event_text, has_known_event
from portal.domain.history.filters import FILTERS, Period, coverage_of, devices_of, parse_bound, status_word, time_span
from portal.domain.history.gaps import GapNotice
from portal.domain.history.models import History, HistorySearch
from portal.domain.people.text_folding import search_words
from portal.domain.sync import freshness
from portal.domain.sync.freshness import KindFreshness
from tenants.access import TenantRequest
from tenants.models import current_tenant
from tenants.roles import Permission

_PERIOD_FILTERS = ("period", "from", "to")
_CHIP = '<span class="chip chip-{}">{}</span>'
_PAGES = {"member": "members:page", "guest": "guests:guest"}


class Links:
    """The addresses of people and places in records, for readers who may see them, loaded once per page."""

    def __init__(
        self, request: TenantRequest, records: list[History], *, people: bool = True, places: bool = True
    ) -> None:
        self.slug, access = request.tenant.slug, request.access
        ids = {record.member_id for record in records if record.member_id} if people else set()
        self.people = visibility.people_by_id(access, ids)
        self.kinds = filters.device_kinds_of(request) if places and access.can(Permission.DEVICES_VIEW) else {}

    def person(self, record: History) -> str:
        """Return the address of the record's person; empty if there is none."""
        known = self.people.get(record.member_id)
        if known is None or not known.is_current:
            return ""
        return url_in_tenant(_PAGES[known.kind], self.slug, record.member_id)

    def place(self, record: History) -> str:
        """Return the address of the record's door or key box; empty if there is none."""
        kind = self.kinds.get(record.device_id)
        page = {"box": "keys:box", "door": "devices:door"}.get(kind or "")
        return url_in_tenant(page, self.slug, record.device_id) if page else ""


def event_cell(record: History) -> SafeString:
    """Return the event of a record in words, with chips for anything unusual."""
    chips = []
    catalogue = current_tenant().environment.catalogue
    is_loud = record.category in catalogue.records.alarm_categories
    is_of_device = record.category in catalogue.records.device_alarm_categories
    is_usual = has_known_event(record) or (record.category in catalogue.records.used and record.content)
    if record.category and record.text and (is_of_device or not is_usual):
        chips.append(("loud" if is_loud else "quiet", service_word("category", record.category)))
    if not catalogue.states.is_begun(record.status):
        chips.append(("quiet", status_word(record.status, catalogue.states)))
    if record.notified:
        chips.append(("unknown", _("Reported by notification, details not loaded")))
    return format_html("{} {}", event_text(record), format_html_join(" ", _CHIP, chips))


def link_html(text: str, href: str) -> str | SafeString:
    return format_html('<a href="{}">{}</a>', href, text) if href and text else text


def _category(row: History) -> str:
    return service_word("category", row.category)


class ActivityLogTable(Table):
    """All records that a person may see, the newest first. Rows are `HistorySearch` until the page is loaded."""

    name = "log"
    caption = gettext_lazy("Activity log")
    search_label = gettext_lazy("Event, person or door")
    default_sort, key = "-at", "id"
    max_counted = 1_000
    poll_pace = "live"
    extra_template = "log/known.html"
    filters = FILTERS
    columns = (
        Column("at", pgettext_lazy("log", "Time"), value="at", kind="time", sort="at", fixed=True),
        Column("what", pgettext_lazy("log", "Event"), cell=event_cell, phone="title", fixed=True),
        Column("person", pgettext_lazy("log", "Person")),
        Column("place", gettext_lazy("Door or key box")),
        Column("units", gettext_lazy("Keys"), shown=False),
        Column("text", pgettext_lazy("log", "Service’s text"), kind="mono", shown=False),
        Column("category", pgettext_lazy("log", "Category"), value=_category, shown=False),
        Column("member_label", pgettext_lazy("log", "Label"), value="member_label", phone="hide", shown=False),
        Column("history_id", pgettext_lazy("log", "Record ID"), kind="mono", phone="hide", shown=False),
    )

    def __init__(self, request: TenantRequest, *args: Any, **more: Any) -> None:
        filters.prefetch(request)
        rows = visibility.visible_search_rows(request.access)
        super().__init__(request, rows, total=self._total if request.access.can(Permission.LOGS_VIEW) else None, **more)
        if self.is_first_page and not self.address.get("sort"):
            self.version = live_updates.version_of(
                search.newest_record_key(),
                visibility.visible_since(request.access),
                coverage_of(request).version,
            )

    def _total(self) -> int:
        return freshness.freshness_for(self.request)[MirrorKind.HISTORIES].total

    @property
    def is_counted_with_page(self) -> bool:
        """Return False: the list is only counted up to a limit, because it may be very long."""
        return False

    def search(self, queryset: QuerySet[HistorySearch], text: str) -> QuerySet[HistorySearch]:
        return search.filter_records(queryset, search.RecordFilter(words=search_words(text)))

    def complete_page(self, page: ListPage) -> ListPage:
        """Load the page's records, with row-level security, and their links."""
        records = search.load_records(page.rows)
        links = Links(self.request, records)
        self.complete_columns(
            what={"cell": self._event_link},
            person={"cell": _cell(lambda row: link_html(row.member_name or row.member_id, links.person(row)))},
            place={"cell": _cell(lambda row: link_html(self._place(row), links.place(row)))},
            units={"cell": _cell(_units)},
        )
        return replace(page, rows=records)

    def _event_link(self, row: History) -> SafeString:
        """Return the event with a link to its record, which has the service's own text."""
        return format_html('<a class="row-link" href="{}">{}</a>', self.row_href(row), event_cell(row))

    def _place(self, row: History) -> str:
        return row.device_name or devices_of(self.request).get(row.device_id, row.device_id)

    def row_id(self, row: History) -> str:
        return row.history_id

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        """Return label and address of the export page."""
        if not self.may(Permission.LOGS_VIEW):
            return []
        address = reverse("history:export", args=[self.request.tenant.slug])
        match = self.address.with_().partition("?")[2]
        return [(_("Export…"), f"{address}?{match}" if match else address)]

    def row_href(self, row: History) -> str:
        return reverse("history:record", args=[self.request.tenant.slug, row.history_id])

    def row_class(self, row: History) -> str:
        catalogue = self.request.tenant.environment.catalogue
        is_loud = row.category in catalogue.records.suspicious and not catalogue.states.is_over(row.status)
        return "loud" if is_loud else ""

    @property
    def shown_columns(self) -> list[Column]:
        self.page  # noqa: B018 - loading the page sets how columns are drawn
        return super().shown_columns

    @cached_property
    def coverage(self) -> Coverage:
        return coverage_of(self.request)

    @property
    def is_today_only(self) -> bool:
        return not self.may_load

    @property
    def may_load(self) -> bool:
        """Return True if the person may load older days."""
        return self.may(Permission.LOGS_VIEW)

    @property
    def gap_lines(self) -> list[GapNotice]:
        """Return notices about gaps in the list's time span."""
        since, until = time_span(self.address.query)
        if self.is_today_only:
            since = visibility.visible_since(self.request.access)
        return gaps.gap_notices(self.coverage, since, until)

    @property
    def chosen_in_words(self) -> list[str]:
        """Return the active filters in words, for print."""
        chosen = [
            (each.label, [str(one.label) for one in each.options if one.is_chosen]) for each in self.bound_filters
        ]
        descriptions = [add_label(join_values(values), label) for label, values in chosen if values]
        return [*descriptions, *filter(None, [self.search_text and _("Search: %(text)s") % {"text": self.search_text}])]

    @property
    def is_incomplete(self) -> bool:
        """Return True if the list shows less than happened."""
        return any(line.tone == "loud" for line in self.gap_lines)

    @cached_property
    def filter_menus(self) -> list[tuple[BoundFilter, str, SafeString]]:
        """Return the filters with menus, without the period's three, which share one control."""
        return [each for each in super().filter_menus if each[0].name not in _PERIOD_FILTERS]

    @property
    def hidden_inputs(self) -> list[tuple[str, str]]:
        period = [(name, self.address.get(name)) for name in _PERIOD_FILTERS if self.address.get(name)]
        return [*super().hidden_inputs, *period]

    @property
    def period_words(self) -> str:
        """Return the chosen period in words; empty for no limit."""
        chosen = {each.name: each.summary for each in self.bound_filters if each.name in _PERIOD_FILTERS}
        since, until = chosen["from"], chosen["to"]
        span = f"{since} – {until}" if since or until else ""
        return " · ".join(filter(None, (chosen["period"], span)))

    @property
    def period_links(self) -> list[tuple[str, str, bool]]:
        """Return label, address and whether it is chosen, of each period that depends on the current day."""
        chosen, free = self.address.get("period"), {"from": None, "to": None}
        links = [(each, self.address.with_(period=each.value, **free)) for each in Period]
        return [(str(each.label), href, each.value == chosen) for each, href in links]

    @property
    def any_time_url(self) -> str:
        return self.address.with_(**dict.fromkeys(_PERIOD_FILTERS))

    @property
    def period_form_fields(self) -> list[tuple[str, str]]:
        return self.address.hidden_inputs("from", "to", "period", "export")

    @property
    def from_input_value(self) -> str:
        return _input_value(parse_bound(self.address.get("from")))

    @property
    def to_input_value(self) -> str:
        return _input_value(parse_bound(self.address.get("to"), end=True))

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(
            _("No activity yet"), _("Entries, refusals and alarms appear here as they happen."), "list-check"
        )
        return freshness.empty_state(self.request, usual, MirrorKind.HISTORIES)


def _input_value(at: datetime | None) -> str:
    """Return a moment in the format of the browser's date input."""
    return f"{local(at):%Y-%m-%dT%H:%M}" if at else ""


def _cell(read: Callable[[History], str | SafeString]) -> Callable[[History], SafeString]:
    """Return a function that draws a cell from text or HTML."""

    def cell(row: History) -> SafeString:
        value = read(row)
        return format_html("{}", value) if value else EMPTY_CELL

    return cell


def _units(row: History) -> SafeString:
    units = [(unit.get("unit_no", ""), unit.get("unit_name", "")) for unit in row.units if isinstance(unit, dict)]
    return format_html_join(" ", "<code>{}</code> {}", units)


MAX_RECORDS = 8
# The possible subjects, by the names of the log's filters.
SUBJECTS = ("person", "device", "area")


def prefetch_recent_records(request: TenantRequest) -> None:
    """Load the data that the newest records need with the page's common query."""
    batching.prefetch(request, filters.DEVICES)


@dataclass(frozen=True)
class RecentRecords:
    """The newest records of a subject. `subject` is one of SUBJECTS; `values` are its values."""

    request: TenantRequest
    subject: str
    values: Sequence[str]
    is_polling: bool = True  # the panel polls for updates; False on a page that polls already

    def __post_init__(self) -> None:
        prefetch_recent_records(self.request)

    @property
    def may_view(self) -> bool:
        return visibility.may_view_log(self.request.access)

    @property
    def is_today_only(self) -> bool:
        return not self.request.access.can(Permission.LOGS_VIEW)

    @cached_property
    def records(self) -> list[History]:
        if not self.may_view:
            return []
        query = QueryDict(mutable=True)
        query.setlist(self.subject, list(self.values))
        found = filters.apply_filters(visibility.visible_search_rows(self.request.access), query)
        return search.load_records(found.only("id", "at")[: MAX_RECORDS + 1])

    @cached_property
    def rows(self) -> list[tuple[History, str, str]]:
        """Return each record with the addresses of its person and its place; empty for the page's own subject."""
        links = Links(self.request, self.records[:MAX_RECORDS], people=self.shows_person, places=self.shows_place)
        return [(row, links.person(row), links.place(row)) for row in self.records[:MAX_RECORDS]]

    @property
    def has_more(self) -> bool:
        return len(self.records) > MAX_RECORDS

    @property
    def log_freshness(self) -> KindFreshness:
        """Return how far the log is loaded."""
        return freshness.freshness_for(self.request)[MirrorKind.HISTORIES]

    @property
    def version(self) -> str:
        newest = self.records[0].pk if self.records else 0
        known = self.log_freshness
        parts = (known.as_of, known.known_from, known.error, known.next_at if known.error else None)
        return live_updates.version_of(newest, visibility.visible_since(self.request.access), *parts)

    @property
    def _query(self) -> str:
        return urlencode([(self.subject, value) for value in self.values])

    @property
    def list_url(self) -> str:
        return f"{reverse('history:index', args=[self.request.tenant.slug])}?{self._query}"

    @property
    def day_url(self) -> str:
        """Return the address of today's chart of a person or a device."""
        name = {"person": "history:person_day", "device": "history:door_day"}.get(self.subject)
        return reverse(name, args=[self.request.tenant.slug, self.values[0], today().isoformat()]) if name else ""

    @property
    def poll_url(self) -> str:
        return f"{reverse('history:happened', args=[self.request.tenant.slug])}?{self._query}"

    @property
    def shows_person(self) -> bool:
        return self.subject != "person"

    @property
    def shows_place(self) -> bool:
        return self.subject != "device"
