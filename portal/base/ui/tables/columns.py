"""Parts of a list, declared as data: columns and their cells, headers, bulk actions, the empty state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from html import escape
from typing import Any

from django.utils.functional import Promise
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.base.files.cells import CellValue
from portal.base.ui import batching
from portal.base.ui.chips import Chip, icon
from portal.base.ui.tables.filters import ListAddress, escape_all
from portal.base.ui.tables.keyset import SortOrder
from portal.base.ui.times import local, time_tag
from tenants.access import in_tenant

EMPTY_CELL = mark_safe('<span class="none" aria-hidden="true">–</span>')


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    - `value`: a function of the row, or a path of attributes (`"group.name"`); by default the attribute `name`.
      Values with `__html__` (a `Chip`, a SafeString) are drawn unchanged, all others are escaped.
    - `kind`: `text`, `mono` (codes), `number` (right, grouped), `time`, `date`, `yes` (a tick or nothing). In files,
      numbers of other kinds are text.
    - `href`: a function of the row that returns a URL; the `title` column uses the table's `row_href`.
    - `sort`: the ORM path to sort by; without it the header is plain. It needs an index together with the key.
    - `phone`: `title` (the card's heading), `line` (a labelled line), `hide`.
    - `shown`: shown until a person chooses columns; `fixed`: cannot be hidden. `export`: included in files.
    - `cell`: a function of the row that returns the whole cell's SafeString. `drawer` creates such a function once per
      page, with values that are the same for all of its rows (the language, the present time).
    """

    name: str
    label: str | Promise
    value: Callable[[Any], Any] | str | None = None
    kind: str = "text"
    href: Callable[[Any], str] | None = None
    sort: str = ""
    phone: str = "line"
    shown: bool = True
    fixed: bool = False
    export: bool = True
    cell: Callable[[Any], SafeString] | None = None
    drawer: Callable[[], Callable[[Any], SafeString]] | None = None
    help: str | Promise = ""

    @property
    def has_row_link(self) -> bool:
        """Return whether its cells link to the row's page: those of a title column without its own link or cell."""
        return self.phone == "title" and not (self.href or self.cell or self.drawer)

    @property
    def css_classes(self) -> str:
        """Return the classes of its cells: none for a text that is a labelled line on a phone, the usual case."""
        kind = "" if self.kind == "text" else f"k-{self.kind}"
        return kind if self.phone == "line" else f"{kind} p-{self.phone}".strip()

    def value_of(self, row: Any) -> Any:
        """Return the value of this column for `row`."""
        if callable(self.value):
            return self.value(row)
        found = row
        for name in (self.value or self.name).split("."):
            found = getattr(found, name, None)
            if found is None:
                return None
        return found

    def file_value(self, row: Any) -> CellValue:
        """Return the value of this column for `row` as a cell of a file: typed as its kind, otherwise the text."""
        value = self.value_of(row)
        if isinstance(value, bool):
            return _("yes") if value else ""
        if isinstance(value, datetime):
            return local(value)
        if value is None or isinstance(value, date) or (self.kind == "number" and isinstance(value, int | float)):
            return value
        return value.word if isinstance(value, Chip) else str(value)

    def draw_cells(self, rows: Sequence[Any]) -> list[str]:
        """Return the HTML inside the cells of these rows, escaped. All rows at once is faster."""
        if self.drawer is not None:
            return list(map(self.drawer(), rows))
        if self.cell is not None:
            return list(map(self.cell, rows))
        drawn = [each or EMPTY_CELL for each in self._draw_values(self._values(rows))]
        if self.href is None:
            return drawn
        href = self.href
        return [
            each if each is EMPTY_CELL else f'<a href="{escape(href(row))}">{each}</a>'
            for row, each in zip(rows, drawn, strict=True)
        ]

    def _values(self, rows: Sequence[Any]) -> list[Any]:
        path = self.value or self.name
        if callable(path) or "." in path:
            return list(map(self.value_of, rows))
        return [getattr(row, path, None) for row in rows]

    def _draw_values(self, values: list[Any]) -> list[str]:
        """Return the values as HTML, "" for none."""
        inner = _DRAW_BY_KIND.get(self.kind)
        if inner is not None:
            return ["" if each is None or each == "" else inner(each) for each in values]
        texts = ["" if each is None else each for each in values]
        return escape_all(texts) if {type(each) for each in texts} == {str} else list(map(conditional_escape, texts))


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else conditional_escape(value)


def _yes(value: Any) -> str:
    return icon("check", 16, str(_("Yes"))) if value is not False else ""


_DRAW_BY_KIND: dict[str, Callable[[Any], str]] = {"time": time_tag, "date": time_tag, "number": _number, "yes": _yes}


Text = str | Promise


@dataclass(frozen=True, slots=True)
class BulkAction:
    """An action on many rows: a button that posts the selection to `url(request)`.

    The view there calls `load_selection(request, Members, queryset)` and usually shows a confirmation page first.
    """

    name: str
    label: Text
    url: Callable[[Any], str]
    icon: str = ""
    permission: Any = None
    danger: bool = False


@dataclass(frozen=True, slots=True)
class ActionLink:
    """A bulk action with its URL in this request's tenant."""

    action: BulkAction
    href: str


@dataclass(frozen=True, slots=True)
class EmptyState:
    """The text of an empty list, and the next step."""

    title: Text
    text: Text = ""
    icon: str = "inbox"
    action: Text = ""
    url: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """A column's header: the URL of a click that sorts, and the present sort order."""

    column: Column
    href: str
    aria: str

    @classmethod
    def build(cls, column: Column, order: SortOrder, address: ListAddress) -> "Header":
        if not column.sort:
            return cls(column, "", "")
        mine = column.sort == order.field
        aria = ("descending" if order.is_descending else "ascending") if mine else "none"
        sort = f"-{column.sort}" if mine and not order.is_descending else column.sort
        return cls(column, address.with_(sort=sort), aria)


@dataclass(frozen=True, slots=True)
class ListPreferences:
    """A person's choice of columns and page size for one list; empty for the list's defaults."""

    columns: frozenset[str] = frozenset()
    size: int = 0

    @classmethod
    def load(cls, request: Any, table: str) -> "ListPreferences":
        from portal.base.ui.models import ListChoice  # a model cannot be imported while apps load

        if not getattr(request.user, "is_authenticated", False):
            return cls()
        if in_tenant(request):
            found = [each for each in batching.load_rows(request, "choices") if each.table == table]
        else:
            found = list(ListChoice.objects.filter(user=request.user, table=table))
        return cls(frozenset(found[0].columns), found[0].size) if found else cls()
