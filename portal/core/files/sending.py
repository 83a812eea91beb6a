"""The one way in which rows leave as a file: written down first, safe from formulas, CSV or XLSX."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from portal.core.files.writing import XLSX_TYPE, csv_of, xlsx_of
from tenants import audit
from tenants.wording import Said

KINDS = ("csv", "xlsx")


def send(
    lines: Iterable[Sequence[Any]],
    *,
    kind: str,
    name: str,
    title: str,
    record: Callable[[], object] | None,
    comes_back: bool = False,
) -> HttpResponseBase:
    """Answer with the lines as a file called `name` (without its ending). Raises Http404 for a kind that there is not.

    `record` writes the audit row and is called before anything is read; None for what holds nobody's data (a template).
    Numbers stay numbers, everything else goes out as text. A file that `comes_back`, corrected, carries the apostrophe
    before formulas in XLSX too, where cells are text anyhow: reading takes it off again.
    """
    if kind not in KINDS:
        raise Http404
    if record is not None:
        record()
    if kind == "xlsx":
        book = xlsx_of(lines, title, guard=comes_back)
        return FileResponse(book, as_attachment=True, filename=f"{name}.xlsx", content_type=XLSX_TYPE)
    heads = {"Content-Disposition": str(content_disposition_header(True, f"{name}.csv"))}
    return StreamingHttpResponse(csv_of(lines), content_type="text/csv; charset=utf-8", headers=heads)


def written_down(
    request: HttpRequest, action: str, *, target: str, summary: Said, after: dict[str, Any]
) -> Callable[[], None]:
    """A `record` for `send`: who took what along."""

    def record() -> None:
        with transaction.atomic():
            audit.record(
                tenant=request.tenant,
                by=request.user,
                action=action,
                target=target,
                summary=summary,
                after=after,
                support_session=request.access.support_session,
            )

    return record
