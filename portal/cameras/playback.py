"""Helpers for pages that play video. Only these pages allow the environment's media hosts."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.domain.cameras import media, playback
from portal.domain.cameras.models import Camera, Viewing
from portal.domain.intents.recording import Requester
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection


def allow_media(request: TenantRequest, response: HttpResponse) -> HttpResponse:
    """Allow the environment's media hosts in the page's content security policy."""
    hosts = list(media.media_hosts(request.tenant.environment))
    policy: Any = response
    policy._csp_update = {"media-src": ["blob:", *hosts], "connect-src": hosts}
    return response


def viewing_of(request: TenantRequest, camera: Camera) -> Viewing | None:
    """Return the viewing named in the address, if it belongs to this person and has not ended."""
    pk = request.GET.get("watch", "")
    if not is_row_number(pk):
        return None
    mine = Viewing.objects.filter(camera=camera, by=request.user, ends_at__gt=timezone.now())
    return mine.filter(pk=pk).first()


def seconds_left(viewing: Viewing | None) -> int:
    """Return the seconds that remain of a viewing before its page must request more."""
    return max(0, round((viewing.ends_at - timezone.now()).total_seconds())) if viewing else 0


def start_viewing(request: TenantRequest, page: str, begin: Callable[[], Viewing], at: str = "") -> HttpResponseBase:
    """Start a viewing and show it on its page, at the moment `at` of a day, or show why that failed."""
    try:
        viewing = begin()
    except playback.VideoUnavailable as why:
        messages.error(request, str(why))
        return redirect(f"{page}?at={at}" if at else page)
    return redirect(f"{page}?watch={viewing.pk}{f'&at={at}' if at else ''}#video")


def continue_viewing(request: TenantRequest, camera: Camera, pk: int, area: str) -> HttpResponse:
    """Continue a person's live viewing. Return its new addresses in `area` as JSON."""
    before = get_row_or_404(Viewing.objects.filter(camera=camera, by=request.user), pk=pk)
    playback.stop_live(before)
    try:
        viewing = playback.play_live(current_connection(), camera, by=Requester.from_request(request))
    except playback.VideoUnavailable as why:
        return JsonResponse({"why": str(why)}, status=409)
    there = [request.tenant.slug, camera.camera_id, viewing.pk]
    told = {"go_on": reverse(f"{area}:go_on", args=there), "stop": reverse(f"{area}:stop", args=there)}
    return JsonResponse(told | {"seconds": seconds_left(viewing), "address": viewing.address})
