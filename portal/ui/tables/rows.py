"""The body of a list. Drawn in Python: a template would spend most of the page's time on its cells."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from portal.ui.tables.columns import Column
    from portal.ui.tables.table import Table

Write = Callable[[Any, str], str]


def draw(table: "Table") -> SafeString:
    """`<tr>`s of the page's rows. Every value is escaped by its column; labels here."""
    cells = [_cell(column) for column in table.shown]
    linked = any(column.leads for column in table.shown)
    before, after = _pick(table) if table.allowed_actions() else ("", "")
    parts = []
    for row in table.page.rows:
        href, name, mark = escape(table.row_href(row)), escape(table.row_id(row)), escape(table.row_class(row))
        parts.append(f'<tr class="{mark}" data-id="{name}"' if mark else f'<tr data-id="{name}"')
        parts.append(f' data-href="{href}">' if href and not linked else ">")
        if before:
            parts.append(f"{before}{name}{after}")
        parts.extend([write(row, href) for write in cells])
        parts.append("</tr>")
    return mark_safe("".join(parts))  # noqa: S308 - escaped piece by piece above


def _cell(column: "Column") -> Write:
    """What draws a whole cell. Its label shows on a phone alone, where a title and what is hidden need none."""
    label = f' data-label="{escape(str(column.label))}"' if column.phone == "line" else ""
    before, inner = f'<td class="{column.css}"{label}>', column.writer()
    if not column.leads:
        return lambda row, _href: f"{before}{inner(row)}</td>"

    def title(row: Any, href: str) -> str:
        link = f'<a class="row-link" href="{href}">' if href else ""
        return f"{before}{link}{inner(row)}{'</a>' if href else ''}</td>"

    return title


def _pick(table: "Table") -> tuple[str, str]:
    """The box that selects a row: what stands before and after the row's name in it."""
    label, form = escape(_("Select this row")), escape(table.name)
    return (
        '<td class="k-pick"><label class="pick"><input type="checkbox" class="form-check-input" name="id" value="',
        f'" form="{form}-bulk" aria-label="{label}"></label></td>',
    )
