"""Views of the intercom: the camera picture, the guests expected now, and the button that unlocks the door.

People with this permission see only the intercom's cameras and can unlock only the doors in their view.
"""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.cameras.playback import allow_media, continue_viewing, seconds_left, start_viewing, viewing_of
from portal.devices import actions
from portal.devices.actions import DoorCommand
from portal.domain.cameras import media, playback, refreshing, tiles, usage, viewing_log
from portal.domain.cameras.models import Camera, Picture, Viewing
from portal.domain.intents import nonces
from portal.domain.intents.form_handling import ErrorsAsMessages, address_of, submit_once
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.mirror.models import PassController
from portal.intercom import queries
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission, Proof


def page_of(request: TenantRequest, camera: Camera) -> str:
    return reverse("intercom:camera", args=[request.tenant.slug, camera.camera_id])


@tenant_view(Permission.INTERCOM)
def index(request: TenantRequest) -> HttpResponseBase:
    """Show the intercom's cameras with their latest pictures. If there is only one, redirect to its page."""
    found = list(queries.intercom_cameras())
    if len(found) == 1:
        return redirect(page_of(request, found[0]))
    refreshing.mark_in_sight(found)
    drawn = [tiles.tile_of(request, each, "intercom") for each in found]
    seen = tiles.version_of(drawn)
    if live_updates.is_up_to_date(request, seen):
        return live_updates.unchanged_response()
    viewing_log.record_latest_viewed(found, Requester.from_request(request))
    if live_updates.is_poll(request):
        return render(request, "intercom/wall.html", {"tiles": drawn, "seen": seen})
    return render(request, "intercom/index.html", {"tiles": drawn, "seen": seen})


@tenant_view(Permission.INTERCOM)
def camera(request: TenantRequest, camera_id: str) -> HttpResponse:
    """Show a camera with its doors and expected guests. All of it is updated while the page is open."""
    found = queries.camera_or_404(camera_id)
    refreshing.mark_in_sight([found])
    tile, doors = tiles.tile_of(request, found, "intercom"), queries.doors_of(request.tenant, found)
    expected = queries.expected_visits(timezone.now())
    told = [(each.door.pk, each.state, [intent.pk for intent in each.intents]) for each in doors]
    seen = live_updates.version_of(tiles.version_of([tile]), told, [(each.pk, each.guest_name) for each in expected])
    if live_updates.is_up_to_date(request, seen):
        return live_updates.unchanged_response()
    viewing = viewing_of(request, found)
    context = {
        "camera": found,
        "tile": tile,
        "doors": doors,
        "expected": expected,
        "unlock": DoorCommand.UNLOCK,
        "seen": seen,
        "viewing": viewing,
        "streaming": usage.current_usage().streaming,
        "seconds_left": seconds_left(viewing),
    }
    viewing_log.record_latest_viewed([found], Requester.from_request(request))
    if live_updates.is_poll(request):
        return render(request, "intercom/now.html", context)
    response = render(request, "intercom/camera.html", context)
    return allow_media(request, response) if viewing else response


@tenant_view(Permission.INTERCOM)
def picture(request: TenantRequest, camera_id: str, pk: int, mark: str) -> HttpResponse:
    """Return the bytes of the latest picture. The address changes with each picture."""
    rows = Picture.objects.filter(camera=queries.camera_or_404(camera_id), at=None).select_related("camera")
    found = get_row_or_404(rows, pk=pk, mark=mark)
    viewing_log.record_picture_viewed(found, Requester.from_request(request))
    content = found.content or b""
    return HttpResponse(content, content_type=media.content_type_of(content) or "application/octet-stream")


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def live(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Start watching live."""
    found = queries.camera_or_404(camera_id)

    def begin() -> Viewing:
        return playback.play_live(current_connection(), found, by=Requester.from_request(request))

    return start_viewing(request, page_of(request, found), begin)


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def go_on(request: TenantRequest, camera_id: str, pk: int) -> HttpResponse:
    """Continue watching live. The page requests this while it is visible."""
    return continue_viewing(request, queries.camera_or_404(camera_id), pk, "intercom")


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def stop(request: TenantRequest, camera_id: str, pk: int) -> HttpResponseBase:
    found = queries.camera_or_404(camera_id)
    playback.stop_live(get_row_or_404(Viewing.objects.filter(camera=found, by=request.user), pk=pk))
    return redirect(page_of(request, found))


def pending_command(request: TenantRequest, camera_id: str, device_id: str) -> PendingCommand | None:
    """Return the posted command, to be confirmed and sent; None for an invalid form."""
    camera = queries.camera_or_404(camera_id)
    door = queries.door_or_404(camera, device_id)
    try:
        nonce = nonces.check_nonce(request)
    except nonces.BadNonce:
        return None
    there = {"tenant": request.tenant.slug, "camera_id": camera_id, "device_id": device_id}
    return PendingCommand(
        title=DoorCommand.UNLOCK.title_for(door),
        page=page_of(request, camera),
        handler=f"{__name__}.carry_through",
        values=there | {"nonce": nonce.value},
    )


def carry_through(request: TenantRequest, values: dict[str, str]) -> HttpResponseBase:
    """Send the command within 15 seconds of the confirming click. The person must be the one who requested it."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    there = {name: values[name] for name in ("camera_id", "device_id")}
    return _submit_confirmed(request, values["tenant"], nonce=nonce, **there)


@tenant_view(Permission.INTERCOM, methods=["POST"])
def _submit_confirmed(request: TenantRequest, camera_id: str, device_id: str, nonce: Nonce) -> HttpResponseBase:
    camera = queries.camera_or_404(camera_id)
    page = page_of(request, camera)
    try:
        intent = _unlock(queries.door_or_404(camera, device_id), by=Requester.from_request(request), nonce=nonce)
    except NotSubmitted as reason:
        messages.error(request, str(reason))
        return redirect(page)
    return redirect(address_of(page, intent))


def _unlock(door: PassController, *, by: Requester, nonce: Nonce) -> Intent:
    return actions.send_command(
        door=door, command=DoorCommand.UNLOCK, by=by, nonce=nonce, permission=Permission.INTERCOM
    )


@tenant_view(Permission.INTERCOM, methods=["POST"], find_command=pending_command)
def unlock(request: TenantRequest, camera_id: str, device_id: str) -> HttpResponseBase:
    """Unlock a door in the view of an intercom's camera."""
    camera = queries.camera_or_404(camera_id)
    page = page_of(request, camera)
    intent = submit_once(request, ErrorsAsMessages(request), partial(_unlock, queries.door_or_404(camera, device_id)))
    return redirect(page if intent is None else address_of(page, intent))
