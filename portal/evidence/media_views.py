"""Responses with video and pictures of an incident from the evidence store."""

import re

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.intents.recording import Requester
from portal.evidence import actions, store
from portal.evidence.item_words import items_of
from portal.evidence.views import incident_or_404
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_RANGE = re.compile(r"bytes=(?=\d|-\d)(\d{0,15})-(\d{0,15})")


@tenant_view(Permission.EVIDENCE_VIEW)
def item_file(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """Return the file of an item, or the requested part of it. The view is recorded before the first byte."""
    item = get_row_or_404(items_of(incident_or_404(number)), pk=pk)
    if item.file is None:
        raise Http404
    part = _byte_range(request, item.file.size)
    start, end = part or (0, item.file.size)
    if part and start >= end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{item.file.size}"})
    actions.record_view(item=item, by=Requester.from_request(request))
    shows = item.file.content_type.startswith(("video/", "image/"))
    answer = StreamingHttpResponse(
        store.read_file(item.file, start, end),
        status=206 if part else 200,
        content_type=item.file.content_type if shows else "application/octet-stream",
    )
    answer["Content-Length"], answer["Accept-Ranges"] = str(end - start), "bytes"
    answer["Content-Disposition"] = "inline" if shows else "attachment"
    if part:
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{item.file.size}"
    return answer


def _byte_range(request: TenantRequest, size: int) -> tuple[int, int] | None:
    """Return the requested range as (first byte, end); None for the whole file.

    Requests for several ranges get the whole file. So do requests with If-Range, because responses have no ETag.
    """
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or "If-Range" in request.headers:
        return None
    first, last = found.groups()
    if not first:
        return max(size - int(last), 0), size
    return int(first), min(int(last) + 1, size) if last else size
