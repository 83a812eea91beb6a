"""Lists of an area of work: a declarative class per list, one object per request.

    class Members(Table):
        name = "members"
        columns = (Column("name", _("Name"), sort="name", phone="title", fixed=True), …)
        filters = (Filter("group", _("Group"), groups_of, by_group),)
        default_sort = "name"

    def index(request):
        return Members(request, queryset).respond("members/list.html")

The same view gives the full page and, when htmx asks for the list alone, the list. Rows are drawn in Python, column by
column: a template would spend most of the page's time on its cells. What the style sheet or the column can say is not
said again in each cell: there are hundreds of them.
"""

from html import escape
from itertools import chain, repeat
from typing import Any

from django.utils.functional import cached_property
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.core.ui.tables import keyset
from portal.core.ui.tables.columns import NOTHING, BulkAction, Column, DrawnAction, Header
from portal.core.ui.tables.filters import Bound, escape_all
from portal.core.ui.tables.listing import SIZES, Listing
from tenants.access import in_tenant
from tenants.roles import Permission

_UNLABELLED = '<span class="none'


class Table(Listing):
    """A list with search, filters, sorting, paging, columns, selection and export, as its templates draw it."""

    @property
    def last(self) -> int:
        return self.page.first + len(self.page.rows) - 1 if self.page.rows else 0

    @cached_property
    def headers(self) -> list[Header]:
        return [Header.of(column, self.order, self.address) for column in self.shown]

    @cached_property
    def shape(self) -> tuple[Any, ...] | None:
        """All that a list's head and tools follow from while nothing narrows it; None where its address says more."""
        asked, order = self.address.query, self.order.text
        plain = {"sort": order, "size": str(self.size), "after": asked.get("after"), "before": asked.get("before")}
        if any(asked.getlist(name) != [plain.get(name)] for name in asked):
            return None
        own = self.columns is not type(self).columns
        columns = tuple((each.name, *((str(each.label), str(each.help)) if own else ())) for each in self.shown)
        leads = (*(each.href for each in self.drawn_actions), *self.files, *getattr(self, "file_pages", ()))
        return type(self), self.address.path, self.address.with_(), order, self.size, columns, leads, self._allowed

    @property
    def _allowed(self) -> frozenset[Permission]:
        return self.request.access.permissions if in_tenant(self.request) else frozenset()

    @cached_property
    def offers(self) -> list[BulkAction]:
        """The bulk actions that this person may take, asked once."""
        return list(self.allowed_actions())

    @property
    def more_to_pick(self) -> bool:
        """Whether more match than are on this page, and all of them can be selected."""
        return not self.more_than_counted and self.total > len(self.page.rows)

    @property
    def total_plain(self) -> str:
        return str(self.total)

    @property
    def total_words(self) -> str:
        return f"{self.total:,}"

    @property
    def bound_words(self) -> str:
        """How many are counted at most: a list that has more says "more than" this."""
        return f"{self.counted_most:,}"

    @property
    def range_words(self) -> str:
        """Which rows of how many are on this page."""
        here = f"{self.page.first:,}–{self.last:,}"
        return here if self.more_than_counted else f"{here} / {self.total_words}"

    @property
    def turns(self) -> tuple[bool, bool]:
        """Whether there is a page before this one, and one after it."""
        return self.page.previous is not None, self.page.next is not None

    @cached_property
    def body(self) -> SafeString:
        """The rows."""
        return _draw(self)

    @property
    def carried(self) -> list[tuple[str, str]]:
        """What the search form takes along besides the search and the filters it has inputs for."""
        return self.address.kept("q", "export", *(each.name for each in self.bound))

    @cached_property
    def drawn_filters(self) -> list[tuple[Bound, str, SafeString]]:
        """Each filter that offers, finds or has a choice, with the address that takes it off and its choices."""
        form, drawn = f"{self.name}-filter", [each for each in self.bound if each.options or each.find]
        return [(each, self.address.with_(**{each.name: None}), each.options_html(form)) for each in drawn]

    @cached_property
    def drawn_actions(self) -> list[DrawnAction]:
        return [DrawnAction(action, action.url(self.request)) for action in self.offers]

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
    def files(self) -> list[tuple[str, str]]:
        """The export links that this person gets: (kind, address)."""
        if not self.may(self.export_permission):
            return []
        return [(kind, self.address.with_(export=kind)) for kind in self.exports]

    @property
    def wanted_file(self) -> str:
        """The kind of file that the address asks for, if this list gives it: the view answers by `files.respond`."""
        kind = self.address.get("export")
        return kind if kind in dict(self.files) else ""


def _draw(table: Table) -> SafeString:
    """`<tr>`s of the page's rows. Every value is escaped by its column; labels here."""
    rows = table.page.rows
    hrefs = escape_all([table.row_href(row) for row in rows])
    linked = any(column.leads for column in table.shown)
    names = escape_all([table.row_id(row) for row in rows])
    leads = repeat("", len(rows)) if linked else hrefs
    begun = [_begun(table.row_class(row), *more) for row, *more in zip(rows, names, leads, strict=True)]
    cells = [_cells(column, rows, hrefs) for column in table.shown]
    picks = [_picks(table, names)] if table.offers else []
    ends = repeat("</tr>", len(rows))
    drawn = chain.from_iterable(zip(begun, *picks, *cells, ends, strict=True))
    return mark_safe("".join(drawn))  # noqa: S308 - escaped piece by piece above


def _begun(mark: str, name: str, href: str) -> str:
    classes = f' class="{escape(mark)}"' if mark else ""
    return f'<tr{classes} data-id="{name}" data-href="{href}">' if href else f'<tr{classes} data-id="{name}">'


def _cells(column: Column, rows: Any, hrefs: list[str]) -> list[str]:
    """A column's cells, each ended by the next. Its label shows on a phone alone, where a title, what is hidden and
    what is empty need none.
    """
    css = column.css
    bare = f'<td class="{css}">' if css else "<td>"
    nothing = f'<td class="{css} none">' if css else '<td class="none">'
    label = f' data-label="{escape(str(column.label))}">' if column.phone == "line" else ">"
    before, drawn = bare[:-1] + label, column.draw(rows)
    if column.leads:
        return [
            f'{bare}<a class="row-link" href="{href}">{each}</a>' if href else f"{bare}{each}"
            for each, href in zip(drawn, hrefs, strict=True)
        ]
    return [
        nothing if each is NOTHING else f"{bare if each.startswith(_UNLABELLED) else before}{each}" for each in drawn
    ]


def _picks(table: Table, names: list[str]) -> list[str]:
    """The boxes that select the rows of these names."""
    label, form = escape(_("Select this row")), escape(table.name)
    before = '<td class="k-pick"><label><input type="checkbox" name="id" value="'
    after = f'" form="{form}-bulk" aria-label="{label}"></label>'
    return [f"{before}{name}{after}" for name in names]
