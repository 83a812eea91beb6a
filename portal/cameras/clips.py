"""The video of a record: asked for, waited for, shown."""

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.cameras.playing import with_media
from portal.core.cameras import clips, usage
from portal.core.cameras.models import Clip
from portal.core.cameras.pictures import trouble_in_words
from portal.core.intents.record import Asker
from portal.core.log import visible
from portal.core.ui import watching
from portal.core.ui.addresses import row_or_404
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service import current_connection
from tenants.roles import Permission


@tenant_view(Permission.CAMERAS_RECORDED, methods=["GET", "POST"])
def clip(request: TenantRequest, history_id: str) -> HttpResponseBase:
    """A record's video; while it is still to come, the page follows. Asking for it is a POST."""
    record = row_or_404(visible.records(request.access), history_id=history_id)
    if request.method == "POST":
        if not clips.is_gone(record):
            clips.asked_for(current_connection(), record, incident=_is_incident(request))
        there = reverse("cameras:clip", args=[request.tenant.slug, history_id])
        return redirect(f"{there}?incident=1" if _is_incident(request) else there)
    said = clips.said_of(record, Clip.objects.filter(history_id=history_id).first())
    seen = watching.mark(said.state, said.why, said.clip and (said.clip.due_at, said.clip.answered_at))
    if watching.has_seen(request, seen):
        return watching.unchanged()
    if watching.is_asked(request) and said.state == Clip.State.READY:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})  # to be shown as a page, and counted once
    context: dict[str, Any] = {"record": record, "clip": said, "seen": seen, "downloads": usage.known().downloads}
    if watching.is_asked(request):
        return render(request, "cameras/clip_now.html", context)
    if said.state == Clip.State.READY and said.clip is not None:
        incident = _is_incident(request)
        if not clips.show(said.clip, record, by=Asker.of(request), incident=incident):
            context["clip"] = clips.Said(Clip.State.FAILED, trouble_in_words("no_downloads"), said.clip)
    response = render(request, "cameras/clip.html", context)
    return with_media(request, response) if context["clip"].state == Clip.State.READY else response


def _is_incident(request: TenantRequest) -> bool:
    """Whether somebody said to use the share of downloads that is kept for incidents, and may."""
    said = request.POST if request.method == "POST" else request.GET
    return said.get("incident") == "1" and request.access.can(Permission.EVIDENCE_MAKE)
