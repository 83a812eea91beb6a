"""The body of a list, drawn in Python, column by column: a template would spend most of the page's time on its cells.

What the style sheet or the column can say is not said again in each cell: there are hundreds of them.
"""

from html import escape
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.core.ui.tables.columns import NOTHING

if TYPE_CHECKING:
    from portal.core.ui.tables.columns import Column
    from portal.core.ui.tables.table import Table

_UNLABELLED = '<span class="none'


def draw(table: "Table") -> SafeString:
    """`<tr>`s of the page's rows. Every value is escaped by its column; labels here."""
    rows = table.page.rows
    hrefs = [escape(table.row_href(row)) for row in rows]
    linked = any(column.leads for column in table.shown)
    names = [escape(table.row_id(row)) for row in rows]
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


def _cells(column: "Column", rows: Any, hrefs: list[str]) -> list[str]:
    """A column's cells, each ended by the next. Its label shows on a phone alone, where a title, what is hidden and
    what is empty need none.
    """
    css = column.css
    bare = f'<td class="{css}">' if css else "<td>"
    nothing = f'<td class="{css} none">' if css else '<td class="none">'
    label = f' data-label="{escape(str(column.label))}">' if column.phone == "line" else ">"
    before, drawn = bare[:-1] + label, map(column.writer(), rows)
    if column.leads:
        return [
            f'{bare}<a class="row-link" href="{href}">{each}</a>' if href else f"{bare}{each}"
            for each, href in zip(drawn, hrefs, strict=True)
        ]
    return [
        nothing if each is NOTHING else f"{bare if each.startswith(_UNLABELLED) else before}{each}" for each in drawn
    ]


def _picks(table: "Table", names: list[str]) -> list[str]:
    """The boxes that select the rows of these names."""
    label, form = escape(_("Select this row")), escape(table.name)
    before = '<td class="k-pick"><label><input type="checkbox" name="id" value="'
    after = f'" form="{form}-bulk" aria-label="{label}"></label>'
    return [f"{before}{name}{after}" for name in names]
