"""What a list shows, as a file: CSV that Excel in Japan opens, or XLSX."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.core.files.sending import send
from portal.core.ui.chips import Chip
from portal.core.ui.tables.table import Table
from portal.core.ui.times import local


def respond(table: Table, kind: str, *, record: Callable[[], object], comes_back: bool = False) -> HttpResponseBase:
    """All rows that match, in the list's order, with its exported columns, whichever are shown, as CSV or XLSX.

    `record` writes down that somebody takes them along (see `portal.core.files.sending.send`).
    """
    name = f"{table.name}-{local(timezone.now()):%Y%m%d-%H%M}"
    return send(lines(table), kind=kind, name=name, title=table.name, record=record, comes_back=comes_back)


def lines(table: Table) -> Iterator[list[Any]]:
    """The heading and then a list of plain values a row; last, what has to be known about all of them."""
    columns = [column for column in table.columns if column.export]
    yield [str(column.label) for column in columns]
    for row in table.ordered.iterator(chunk_size=2000):
        yield [_plain(column.read(row)) for column in columns]
    if table.file_note:
        yield [table.file_note]


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return _("yes") if value else ""
    if isinstance(value, datetime):
        return local(value).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    return value.word if isinstance(value, Chip) else str(value)
