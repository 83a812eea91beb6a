"""The dry run: checks a file row by row against presets, members and existing guests. Nothing is sent."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.domain.jobs.states import Action
from portal.domain.visits.models import Stage, Visit
from portal.expected.row_parsing import Lookups, ParsedRow, Problem, column_places, parse_row, texts_of
from portal.guests.issuing import CodeOrder
from tenants import vault
from tenants.scope import current_tenant_id

# Each row costs one of the hour's 720 calls, and doors and people need a share of them.
MOST_ROWS = 500
MOST_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class CheckedRow:
    """The dry run's result for one row. `double_ids` are visits that it probably duplicates."""

    row: ParsedRow
    action: Action
    problems: list[Problem]
    double_ids: list[int]


@dataclass(frozen=True)
class GuestSheet:
    """A file that was read completely."""

    headings: list[str]
    lines: list[tuple[int, list[str]]]
    fingerprint: bytes


def read_sheet(upload: "UploadedFile[bytes]") -> GuestSheet:
    """Return the file's rows. Raises FileFault, also if there is no column of names; then nothing is saved."""
    if (upload.size or 0) > MOST_BYTES:
        raise FileFault("size", mb=MOST_BYTES // 2**20)
    shape = reading.inspect_file(lambda: upload.chunks(file_limits.CHUNK_BYTES))
    headings, rows = reading.open_rows(
        shape.kind, shape.encoding, shape.delimiter, lambda: upload.chunks(file_limits.CHUNK_BYTES)
    )
    if "name" not in column_places(headings):
        raise FileFault("no_names")
    lines: list[reading.Line] = []
    for each in rows:
        if len(lines) >= MOST_ROWS:
            raise FileFault("rows", most=MOST_ROWS)
        lines.append(each)
    digest = hashlib.sha256()
    for chunk in upload.chunks(file_limits.CHUNK_BYTES):
        digest.update(chunk)
    return GuestSheet(headings, lines, vault.fingerprint(current_tenant_id(), "guests.expected", digest.hexdigest()))


def check_rows(found: GuestSheet, *, mail: bool) -> list[CheckedRow]:
    """Return every row with its expected result, in a few queries."""
    columns = column_places(found.headings)
    hosts = [texts_of(cells, columns).get("host", "") for _line, cells in found.lines]
    known = Lookups.of(hosts, mail=mail)
    rows = [parse_row(line, cells, columns, known) for line, cells in found.lines]
    there = _active_visits(row.order for row in rows if row.order)
    seen: dict[str, list[tuple[int, CodeOrder]]] = {}
    return [_check_row(row, there, seen) for row in rows]


def _check_row(
    row: ParsedRow, there: dict[str, list[Visit]], seen: dict[str, list[tuple[int, CodeOrder]]]
) -> CheckedRow:
    order = row.order
    if order is None:
        return CheckedRow(row, Action.REFUSED, row.problems, [])
    name = order.hours.name_key
    visits = [visit for visit in there.get(name, []) if _overlaps(order, visit.use_date_start, visit.use_date_end)]
    earlier = next((line for line, other in seen.get(name, []) if _overlaps(order, other.start, other.end)), 0)
    seen.setdefault(name, []).append((row.line, order))
    problems: list[Problem] = (
        [("name", "double_guest", {"until": visits[0].use_date_end.isoformat()})] if visits else []
    )
    if earlier:
        problems.append(("name", "double_line", {"line": earlier}))
    action = Action.DOUBLE if problems else Action.CREATE
    return CheckedRow(row, action, problems, [visit.pk for visit in visits])


def _overlaps(order: CodeOrder, start: Any, end: Any) -> bool:
    return bool(order.start < end and start < order.end)


def _active_visits(orders: Iterable[CodeOrder]) -> dict[str, list[Visit]]:
    """Return visits of these names that have, or may have, a code that has not ended."""
    names = {order.hours.name_key for order in orders}
    rows = Visit.objects.filter(name_key__in=names, use_date_end__gt=timezone.now(), gone_at=None)
    found: dict[str, list[Visit]] = {}
    for visit in rows.exclude(stage=Stage.NOT_ISSUED).only("pk", "tenant_id", "name_key", "use_date_start",
                                                           "use_date_end"):  # fmt: skip
        found.setdefault(visit.name_key, []).append(visit)
    return found


def last_end(found: Sequence[CheckedRow]) -> Any:
    """Return the latest end of all rows that could become codes."""
    return max((each.row.order.end for each in found if each.row.order), default=None)
