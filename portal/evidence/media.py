"""Video and pictures of an incident, from the evidence store to a person."""

import re

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from portal.core.intents.record import Asker
from portal.core.ui.addresses import row_or_404
from portal.evidence import actions, store
from portal.evidence.exporting import items_of
from portal.evidence.views import incident_or_404
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{0,15})")


@tenant_view(Permission.EVIDENCE_VIEW)
def file(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """Return the file of an item, or the part of it that a player asks for; looking at it is written down once."""
    item = row_or_404(items_of(incident_or_404(number)), pk=pk)
    if item.file is None:
        raise Http404
    size, found = item.file.size, _RANGE.fullmatch(request.headers.get("Range", ""))
    start = int(found[1]) if found else 0
    end = min(int(found[2]) + 1 if found and found[2] else size, size)
    if found and not 0 <= start < end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    if start == 0:
        actions.shown(item=item, by=Asker.of(request))
    shows = item.file.content_type.startswith(("video/", "image/"))
    answer = StreamingHttpResponse(
        store.read(item.file, start, end),
        status=206 if found else 200,
        content_type=item.file.content_type if shows else "application/octet-stream",
    )
    answer["Content-Length"], answer["Accept-Ranges"] = str(end - start), "bytes"
    answer["Content-Disposition"] = "inline" if shows else "attachment"
    if found:
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return answer
