"""Lists of an area of work: a declarative class per list, one object per request.

    class Members(Table):
        name = "members"
        columns = (Column("name", _("Name"), sort="name", phone="title", fixed=True), …)
        filters = (Filter("group", _("Group"), groups_of, by_group),)
        default_sort = "name"

    def index(request):
        return Members(request, queryset).respond("members/list.html")

The same view returns the full page, or the list alone when htmx requests it. Rows are drawn in Python, column by
column, because templates are slow for many cells. Cells leave out everything that the style sheet or the column can
set, because there are hundreds of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, repeat
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, QueryDict
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.base.files.cells import CellValue
from portal.base.files.writing import send_file
from portal.base.ui.tables import keyset
from portal.base.ui.tables.columns import EMPTY_CELL, ActionLink, BulkAction, Column, Header
from portal.base.ui.tables.filters import BoundFilter, escape_all
from portal.base.ui.tables.listing import SIZES, Listing
from portal.base.ui.times import local
from tenants.access import TenantRequest, in_tenant
from tenants.roles import Permission

_EMPTY_START = '<span class="none'


class Table(Listing):
    """A list with search, filters, sorting, paging, columns, selection and export, for its templates."""

    @property
    def last_number(self) -> int:
        return self.page.first + len(self.page.rows) - 1 if self.page.rows else 0

    @cached_property
    def headers(self) -> list[Header]:
        return [Header.build(column, self.order, self.address) for column in self.shown_columns]

    @cached_property
    def cache_key(self) -> tuple[Any, ...] | None:
        """Return what a list's head and tools depend on while nothing narrows it; None if its URL has more."""
        query, order = self.address.query, self.order.text
        plain = {"sort": order, "size": str(self.size), "after": query.get("after"), "before": query.get("before")}
        if any(query.getlist(name) != [plain.get(name)] for name in query):
            return None
        own = self.columns is not type(self).columns
        columns = tuple((each.name, *((str(each.label), str(each.help)) if own else ())) for each in self.shown_columns)
        leads = (*(each.href for each in self.action_links), *self.export_links, *getattr(self, "file_pages", ()))
        return type(self), self.address.path, self.address.with_(), order, self.size, columns, leads, self._allowed

    @property
    def _allowed(self) -> frozenset[Permission]:
        return self.request.access.permissions if in_tenant(self.request) else frozenset()

    @cached_property
    def offered_actions(self) -> list[BulkAction]:
        """Return the bulk actions that this person may use, cached."""
        return list(self.allowed_actions())

    @property
    def can_select_all(self) -> bool:
        """Return whether more rows match than are on this page, and all of them can be selected."""
        return not self.is_more_than_counted and self.total > len(self.page.rows)

    @property
    def total_plain(self) -> str:
        return str(self.total)

    @property
    def total_words(self) -> str:
        return f"{self.total:,}"

    @property
    def max_counted_words(self) -> str:
        """Return the highest counted number: a list with more rows shows "more than" this."""
        return f"{self.max_counted:,}"

    @property
    def range_words(self) -> str:
        """Return which rows are on this page, and of how many."""
        range_text = f"{self.page.first:,}–{self.last_number:,}"
        return range_text if self.is_more_than_counted else f"{range_text} / {self.total_words}"

    @property
    def neighbours(self) -> tuple[bool, bool]:
        """Return whether there is a page before this one, and one after it."""
        return self.page.previous is not None, self.page.next is not None

    @cached_property
    def rows_html(self) -> SafeString:
        return _draw_rows(self)

    @property
    def hidden_inputs(self) -> list[tuple[str, str]]:
        """Return the hidden inputs of the search form: all but the search and the filters that have inputs."""
        return self.address.hidden_inputs("q", "export", *(each.name for each in self.bound_filters))

    @cached_property
    def filter_menus(self) -> list[tuple[BoundFilter, str, SafeString]]:
        """Return each filter that has choices or a search, with the URL that clears it and its choices."""
        form, drawn = f"{self.name}-filter", [each for each in self.bound_filters if each.options or each.find_url]
        return [(each, self.address.with_(**{each.name: None}), each.options_html(form)) for each in drawn]

    @property
    def filters_in_force(self) -> int:
        return sum(each.is_active for each in self.bound_filters)

    @cached_property
    def action_links(self) -> list[ActionLink]:
        return [ActionLink(action, action.url(self.request)) for action in self.offered_actions]

    @property
    def size_links(self) -> list[tuple[int, str]]:
        return [(size, self.address.with_(size=str(size))) for size in SIZES]

    @property
    def previous_href(self) -> str:
        return self.address.with_(before=self.page.previous)

    @property
    def next_href(self) -> str:
        return self.address.with_(after=self.page.next)

    @property
    def first_href(self) -> str:
        return self.address.with_()

    @property
    def last_href(self) -> str:
        return self.address.with_(before=keyset.END)

    @property
    def empty_url(self) -> str:
        return self.empty.url(self.request) if self.empty and self.empty.url else ""

    @property
    def export_links(self) -> list[tuple[str, str]]:
        """Return the export links for this person: (kind, URL)."""
        if not self.may(self.export_permission):
            return []
        return [(kind, self.address.with_(export=kind)) for kind in self.exports]

    @property
    def requested_file(self) -> str:
        """Return the kind of file that the URL requests, if this person may have it, else "".

        The view then responds with `file_response`.
        """
        kind = self.address.get("export")
        return kind if kind in dict(self.export_links) else ""


def _draw_rows(table: Table) -> SafeString:
    """Return the `<tr>`s of the page's rows. Columns escape their values; labels are escaped here."""
    rows = table.page.rows
    hrefs = escape_all([table.row_href(row) for row in rows])
    linked = any(column.has_row_link for column in table.shown_columns)
    names = escape_all([table.row_id(row) for row in rows])
    leads = repeat("", len(rows)) if linked else hrefs
    begun = [_row_start(table.row_class(row), *more) for row, *more in zip(rows, names, leads, strict=True)]
    cells = [_cells(column, rows, hrefs) for column in table.shown_columns]
    picks = [_select_boxes(table, names)] if table.offered_actions else []
    ends = repeat("</tr>", len(rows))
    drawn = chain.from_iterable(zip(begun, *picks, *cells, ends, strict=True))
    return mark_safe("".join(drawn))  # noqa: S308 - escaped piece by piece above


def _row_start(mark: str, name: str, href: str) -> str:
    classes = f' class="{escape(mark)}"' if mark else ""
    return f'<tr{classes} data-id="{name}" data-href="{href}">' if href else f'<tr{classes} data-id="{name}">'


def _cells(column: Column, rows: Any, hrefs: list[str]) -> list[str]:
    """Return a column's cells; each is closed by the next one.

    Labels are shown on phones only, so titles, hidden cells and empty cells have none.
    """
    css = column.css_classes
    bare = f'<td class="{css}">' if css else "<td>"
    nothing = f'<td class="{css} none">' if css else '<td class="none">'
    label = f' data-label="{escape(str(column.label))}">' if column.phone == "line" else ">"
    before, drawn = bare[:-1] + label, column.draw_cells(rows)
    if column.has_row_link:
        return [
            f'{bare}<a class="row-link" href="{href}">{each}</a>' if href else f"{bare}{each}"
            for each, href in zip(drawn, hrefs, strict=True)
        ]
    return [
        nothing if each is EMPTY_CELL else f"{bare if each.startswith(_EMPTY_START) else before}{each}"
        for each in drawn
    ]


def _select_boxes(table: Table, names: list[str]) -> list[str]:
    """Return the checkboxes that select the rows with these names."""
    label, form = escape(_("Select this row")), escape(table.name)
    before = '<td class="k-pick"><label><input type="checkbox" name="id" value="'
    after = f'" form="{form}-bulk" aria-label="{label}"></label>'
    return [f"{before}{name}{after}" for name in names]


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected rows. `is_everything`: all that matched; `fields`: hidden inputs for a following form."""

    queryset: QuerySet[Any]
    is_everything: bool
    fields: dict[str, str]

    def count(self) -> int:
        return self.queryset.count()


def load_selection(request: TenantRequest, table: type[Table], queryset: QuerySet[Any]) -> Selection:
    """Return the selection posted by the list's bulk form, always within `queryset`.

    IDs that are not in `queryset` select nothing.
    """
    if request.POST.get("scope") == "match":
        match = request.POST.get("match", "")
        listed = table(request, queryset, query=QueryDict(match))
        return Selection(listed.matching_rows, True, {"scope": "match", "match": match})
    ids = [*request.POST.getlist("id"), *request.POST.get("ids", "").split(",")]
    ids = [each for each in dict.fromkeys(ids) if each]
    return Selection(queryset.filter(pk__in=_valid(queryset, ids)), False, {"ids": ",".join(ids)})


def _valid(queryset: QuerySet[Any], ids: list[str]) -> list[Any]:
    found = []
    for each in ids:
        try:
            found.append(queryset.model._meta.pk.to_python(each))
        except Exception:  # noqa: S112 - each field raises different errors for invalid values
            continue
    return found


def file_response(table: Table, kind: str, *, record: Callable[[], object] | None) -> HttpResponseBase:
    """Return all matching rows as CSV or XLSX, in the list's order, with all its exported columns.

    `record` records the download (see `portal.base.files.writing.send_file`).
    """
    name = f"{table.name}-{local(timezone.now()):%Y%m%d-%H%M}"
    lines, notes = _file_rows(table), _file_notes(table)
    return send_file(table.request, lines, kind=kind, name=name, title=table.name, record=record, notes=notes)


def _file_rows(table: Table) -> Iterator[list[CellValue]]:
    """Yield the headings, then the cells of each row."""
    columns = [column for column in table.columns if column.export]
    yield [str(column.label) for column in columns]
    for row in table.ordered_rows.iterator(chunk_size=2000):
        yield [column.file_value(row) for column in columns]


def _file_notes(table: Table) -> Iterator[str]:
    """Yield the list's note, if it has one."""
    if note := table.file_note:
        yield note
