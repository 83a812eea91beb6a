"""Rows of a list beyond one page: the selection for a bulk action, and all matching rows as a file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.base.files.writing import send_file
from portal.base.ui.chips import Chip
from portal.base.ui.tables.table import Table
from portal.base.ui.times import local
from tenants.access import TenantRequest


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected rows. `is_everything`: all that matched; `fields`: hidden inputs for a following form."""

    queryset: QuerySet[Any]
    is_everything: bool
    fields: dict[str, str]

    def count(self) -> int:
        return self.queryset.count()


def load_selection(
    request: TenantRequest, table: type[Table], queryset: QuerySet[Any], *, field: str = "pk"
) -> Selection:
    """Return the selection posted by the list's bulk form, always within `queryset`.

    `field` is the model field that `row_id` returns. IDs that are not in `queryset` select nothing.
    """
    if request.POST.get("scope") == "match":
        match = request.POST.get("match", "")
        listed = table(request, queryset, query=QueryDict(match))
        return Selection(listed.matching_rows, True, {"scope": "match", "match": match})
    ids = [*request.POST.getlist("id"), *request.POST.get("ids", "").split(",")]
    ids = [each for each in dict.fromkeys(ids) if each]
    return Selection(queryset.filter(**{f"{field}__in": _valid(queryset, field, ids)}), False, {"ids": ",".join(ids)})


def _valid(queryset: QuerySet[Any], field: str, ids: list[str]) -> list[Any]:
    model_field = queryset.model._meta.pk if field == "pk" else queryset.model._meta.get_field(field)
    found = []
    for each in ids:
        try:
            found.append(model_field.to_python(each))
        except Exception:  # noqa: S112 - each field raises different errors for invalid values
            continue
    return found


def file_response(
    table: Table, kind: str, *, record: Callable[[], object] | None, comes_back: bool = False
) -> HttpResponseBase:
    """Return all matching rows as CSV or XLSX, in the list's order, with all its exported columns.

    `record` records the download (see `portal.base.files.writing.send_file`).
    """
    name = f"{table.name}-{local(timezone.now()):%Y%m%d-%H%M}"
    return send_file(
        table.request,
        _file_rows(table),
        kind=kind,
        name=name,
        title=table.name,
        record=record,
        is_for_reimport=comes_back,
    )


def _file_rows(table: Table) -> Iterator[list[Any]]:
    """Yield the headings, then a list of plain values per row, and last the list's note."""
    columns = [column for column in table.columns if column.export]
    yield [str(column.label) for column in columns]
    for row in table.ordered_rows.iterator(chunk_size=2000):
        yield [_file_value(column.value_of(row)) for column in columns]
    if table.file_note:
        yield [table.file_note]


def _file_value(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return _("yes") if value else ""
    if isinstance(value, datetime):
        return local(value).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    return value.word if isinstance(value, Chip) else str(value)
