"""A table as a file: CSV that Excel reads, or XLSX with every cell as text."""

from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from portal.files.writing import XLSX_TYPE, csv_of, xlsx_of
from portal.ui.times import local


def respond(request: HttpRequest, kind: str, name: str, title: str, lines: Iterable[list[str]]) -> HttpResponseBase:
    """The file; 404 for a kind that there is not. `name` begins the file's name, in ASCII."""
    file_name = f"{request.tenant.slug}-{name}-{local(timezone.now()):%Y%m%d-%H%M}.{kind}"
    heads = {"Content-Disposition": f'attachment; filename="{file_name}"'}
    if kind == "csv":
        return StreamingHttpResponse(csv_of(lines), content_type="text/csv; charset=utf-8", headers=heads)
    if kind == "xlsx":
        with xlsx_of(lines, title) as book:
            return HttpResponse(book.read(), content_type=XLSX_TYPE, headers=heads)
    raise Http404
