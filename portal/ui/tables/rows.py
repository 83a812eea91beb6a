"""The body of a list. Drawn in Python: a template would spend most of the page's time on its cells."""

from html import escape
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from portal.ui.tables.table import Table


def draw(table: "Table") -> SafeString:
    """`<tr>`s of the page's rows. Every value is escaped by its column; labels here."""
    columns = [(column, column.css, escape(str(column.label))) for column in table.shown]
    pick = bool(table.allowed_actions())
    parts = []
    for row in table.page.rows:
        href = table.row_href(row)
        name = escape(table.row_id(row))
        extra = table.row_class(row)
        link = f' data-href="{escape(href)}"' if href else ""
        mark = f' class="{escape(extra)}"' if extra else ""
        parts.append(f'<tr{mark} data-id="{name}"{link} tabindex="-1">')
        if pick:
            parts.append(_pick(table, name))
        for column, css, label in columns:
            parts.append(f'<td class="{css}" data-label="{label}">{_cell(column, row, href)}</td>')
        parts.append("</tr>")
    return mark_safe("".join(parts))  # noqa: S308 - escaped piece by piece above


def _cell(column: Any, row: Any, href: str) -> str:
    inner = column.draw(row)
    if column.phone == "title" and href and column.href is None and column.cell is None:
        return f'<a class="row-link" href="{escape(href)}">{inner}</a>'
    return str(inner)


def _pick(table: "Table", name: str) -> str:
    label = escape(_("Select this row"))
    return (
        f'<td class="k-pick"><label class="pick"><input type="checkbox" class="form-check-input" name="id" '
        f'value="{name}" form="{table.name}-bulk" aria-label="{label}"></label></td>'
    )
