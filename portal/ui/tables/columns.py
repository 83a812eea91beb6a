"""Columns of a table, declared as data, and the drawing of their cells."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.ui.icons import icon
from portal.ui.times import stamp

NOTHING = mark_safe('<span class="none" aria-hidden="true">–</span>')


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    - `value`: a callable of the row, or a path of attributes (`"group.name"`); by default the attribute `name`.
      What has `__html__` (a `Chip`, a SafeString) is drawn as it is, everything else is escaped.
    - `kind`: `text`, `mono` (codes), `number` (right, grouped), `time`, `date`, `yes` (a tick or nothing).
    - `href`: a callable of the row giving its page; the table's `row_href` serves the `title` column.
    - `sort`: the ORM path to sort by; without it the header is plain. It should be backed by an index with the key.
    - `phone`: `title` (the card's heading), `line` (a labelled line), `hide`.
    - `shown`: in the table before a person chooses; `fixed`: cannot be hidden. `export`: goes into files.
    - `cell`: draws the whole cell in place of the rest: a callable of the row giving SafeString.
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
    help: str | Promise = ""

    @property
    def css(self) -> str:
        return f"k-{self.kind} p-{self.phone}"

    def read(self, row: Any) -> Any:
        """The value of this column for `row`, as files get it."""
        if callable(self.value):
            return self.value(row)
        found = row
        for name in (self.value or self.name).split("."):
            found = getattr(found, name, None)
            if found is None:
                return None
        return found

    def draw(self, row: Any) -> str:
        """The HTML inside the cell."""
        if self.cell is not None:
            return self.cell(row)
        value = self.read(row)
        if value is None or value == "" or (value is False and self.kind == "yes"):
            return NOTHING
        inner = self._inner(value)
        return format_html('<a href="{}">{}</a>', self.href(row), inner) if self.href else inner

    def _inner(self, value: Any) -> str:
        match self.kind:
            case "time" | "date":
                return conditional_escape(stamp(value))
            case "number":
                return f"{value:,}" if isinstance(value, int | float) else conditional_escape(value)
            case "yes":
                return icon("check", 16, str(_("Yes")))
            case _:
                return _text(value)


def _text(value: Any) -> str:
    """Escaped. Nearly every cell is a plain text, for which Django's own way costs five times as much."""
    return escape(value) if type(value) is str else conditional_escape(value)
