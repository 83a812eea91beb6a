"""Views of a record's video: request it, wait for it, show it."""

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.cameras.playback import allow_media
from portal.domain.cameras import clips, usage
from portal.domain.cameras.models import Clip
from portal.domain.cameras.pictures import trouble_text
from portal.domain.intents.recording import Requester
from portal.domain.log import visibility
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission


@tenant_view(Permission.CAMERAS_RECORDED, methods=["GET", "POST"])
def clip(request: TenantRequest, history_id: str) -> HttpResponseBase:
    """Show a record's video. The page updates until the video is ready. A POST requests it."""
    record = get_row_or_404(visibility.visible_records(request.access), history_id=history_id)
    if request.method == "POST":
        if not clips.is_expired(record):
            clips.request_clip(current_connection(), record, incident=is_incident(request))
        there = reverse("cameras:clip", args=[request.tenant.slug, history_id])
        return redirect(f"{there}?incident=1" if is_incident(request) else there)
    said = clips.clip_status(record, Clip.objects.filter(history_id=history_id).first())
    seen = live_updates.version_of(said.state, said.reason, said.clip and (said.clip.due_at, said.clip.answered_at))
    if live_updates.is_up_to_date(request, seen):
        return live_updates.unchanged_response()
    if live_updates.is_poll(request) and said.state == Clip.State.READY:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})  # reload as a page, so that it is counted once
    context: dict[str, Any] = {
        "record": record,
        "clip": said,
        "seen": seen,
        "downloads": usage.current_usage().downloads,
    }
    if live_updates.is_poll(request):
        return render(request, "cameras/clip_now.html", context)
    if said.state == Clip.State.READY and said.clip is not None:
        incident = is_incident(request)
        if not clips.count_viewing(said.clip, record, by=Requester.from_request(request), incident=incident):
            context["clip"] = clips.ClipStatus(Clip.State.FAILED, trouble_text("no_downloads"), said.clip)
    response = render(request, "cameras/clip.html", context)
    return allow_media(request, response) if context["clip"].state == Clip.State.READY else response


def is_incident(request: TenantRequest) -> bool:
    """Return whether the reserve for incidents was chosen and the person has the permission for it."""
    said = request.POST if request.method == "POST" else request.GET
    return said.get("incident") == "1" and request.access.can(Permission.EVIDENCE_MAKE)
