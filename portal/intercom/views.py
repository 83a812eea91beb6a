"""Views of the intercom: the camera picture, the guests expected now, and the button that unlocks the door.

People with this permission see only the intercom's cameras and can unlock only the doors in their view.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.url_lookup import get_row_or_404
from portal.devices import actions
from portal.devices.actions import DoorCommand
from portal.devices.queries import latest_commands, state_of
from portal.domain.cameras import playback, refreshing, tiles, usage
from portal.domain.cameras.models import Camera, Picture, Viewing
from portal.domain.cameras.playback import allow_media, continue_viewing, seconds_left, start_viewing, viewing_of
from portal.domain.cameras.tiles import latest_pictures
from portal.domain.intents.form_handling import command_to_confirm, submit_command
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.places.models import PassController
from portal.domain.visits.models import Visit
from portal.domain.visits.visit_status import VisitStatus, with_status
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.models import Tenant
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission, Proof


def page_of(request: TenantRequest, camera: Camera) -> str:
    return reverse("intercom:camera", args=[request.tenant.slug, camera.camera_id])


@tenant_view(Permission.INTERCOM)
def index(request: TenantRequest) -> HttpResponseBase:
    """Show the intercom's cameras with their latest pictures. If there is only one, redirect to its page."""
    found = list(intercom_cameras())
    if len(found) == 1:
        return redirect(page_of(request, found[0]))
    refreshing.mark_in_sight(found)
    drawn = [tiles.tile_of(request, each, "intercom") for each in found]
    version = tiles.version_of(drawn)
    if live_updates.is_up_to_date(request, version):
        return live_updates.unchanged_response()
    tiles.record_latest_viewed(found, Requester.from_request(request))
    if live_updates.is_poll(request):
        return render(request, "intercom/wall.html", {"tiles": drawn, "version": version})
    return render(request, "intercom/index.html", {"tiles": drawn, "version": version})


@tenant_view(Permission.INTERCOM)
def camera(request: TenantRequest, camera_id: str) -> HttpResponse:
    """Show a camera with its doors and expected guests. All of it is updated while the page is open."""
    found = camera_or_404(camera_id)
    refreshing.mark_in_sight([found])
    tile, doors = tiles.tile_of(request, found, "intercom"), doors_of(request.tenant, found)
    expected = expected_visits(timezone.now())
    door_states = [(each.door.pk, each.state, [intent.pk for intent in each.intents]) for each in doors]
    is_newer_expected = tiles.is_newer_expected(request, tile)
    guests = [(each.pk, each.guest_name) for each in expected]
    version = live_updates.version_of(tiles.version_of([tile]), is_newer_expected, door_states, guests)
    if live_updates.is_up_to_date(request, version):
        return live_updates.unchanged_response()
    viewing = viewing_of(request, found)
    context = {
        "camera": found,
        "tile": tile,
        "is_newer_expected": is_newer_expected,
        "doors": doors,
        "expected": expected,
        "unlock": DoorCommand.UNLOCK,
        "version": version,
        "viewing": viewing,
        "streaming": usage.current_usage().streaming,
        "seconds_left": seconds_left(viewing),
    }
    tiles.record_latest_viewed([found], Requester.from_request(request))
    if live_updates.is_poll(request):
        return render(request, "intercom/now.html", context)
    response = render(request, "intercom/camera.html", context)
    return allow_media(request, response) if viewing else response


@tenant_view(Permission.INTERCOM)
def picture(request: TenantRequest, camera_id: str, pk: int, mark: str) -> HttpResponse:
    """Return the bytes of the latest picture. The address changes with each picture."""
    rows = Picture.objects.filter(camera=camera_or_404(camera_id), at=None).select_related("camera")
    found = get_row_or_404(rows, pk=pk, mark=mark)
    return tiles.send_viewed_picture(found, Requester.from_request(request))


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def live(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Start watching live."""
    found = camera_or_404(camera_id)

    def begin() -> Viewing:
        return playback.play_live(current_connection(), found, by=Requester.from_request(request))

    return start_viewing(request, page_of(request, found), begin)


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def go_on(request: TenantRequest, camera_id: str, pk: int) -> HttpResponse:
    """Continue watching live. The page requests this while it is visible."""
    return continue_viewing(request, camera_or_404(camera_id), pk, "intercom")


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def stop(request: TenantRequest, camera_id: str, pk: int) -> HttpResponseBase:
    found = camera_or_404(camera_id)
    playback.stop_live(get_row_or_404(Viewing.objects.filter(camera=found, by=request.user), pk=pk))
    return redirect(page_of(request, found))


def pending_command(request: TenantRequest, camera_id: str, device_id: str) -> PendingCommand | None:
    """Return the posted command, to be confirmed and sent; None for an invalid form."""
    camera = camera_or_404(camera_id)
    door = door_or_404(camera, device_id)
    return command_to_confirm(request, DoorCommand.UNLOCK.title_for(door), page_of(request, camera))


@tenant_view(Permission.INTERCOM, methods=["POST"], find_command=pending_command)
def unlock(request: TenantRequest, camera_id: str, device_id: str) -> HttpResponseBase:
    """Unlock a door in the view of an intercom's camera."""
    camera = camera_or_404(camera_id)
    action = partial(
        actions.send_command,
        door=door_or_404(camera, device_id),
        command=DoorCommand.UNLOCK,
        permission=Permission.INTERCOM,
    )
    return submit_command(request, action, page_of(request, camera))


# How early guests are shown, and how many guests and commands are shown.
_EARLY_BY, _MAX_EXPECTED, _MAX_COMMANDS = timedelta(minutes=60), 12, 3


@dataclass(frozen=True)
class IntercomDoor:
    """A door beside the picture: its state, and its latest commands."""

    door: PassController
    state: Chip
    intents: list[Intent]


def intercom_cameras() -> QuerySet[Camera]:
    """Return the intercom's cameras by name, with the data for their tiles."""
    return Camera.objects.filter(is_intercom=True).order_by("name_order", "pk").prefetch_related(latest_pictures())


def camera_or_404(camera_id: str) -> Camera:
    """Return an intercom's camera. Raises Http404 for other cameras."""
    return get_row_or_404(intercom_cameras(), camera_id=camera_id)


def doors_of(tenant: Tenant, camera: Camera) -> list[IntercomDoor]:
    """Return the doors in a camera's view, by name."""
    states = tenant.environment.catalogue.states
    found = PassController.objects.filter(device_id__in=camera.doors).order_by("name_order", "pk")
    return [IntercomDoor(each, state_of(each, states), latest_commands(each)[:_MAX_COMMANDS]) for each in found]


def door_or_404(camera: Camera, device_id: str) -> PassController:
    """Return a door in the view of an intercom's camera. Raises Http404 for other doors."""
    return get_row_or_404(PassController.objects.filter(device_id__in=camera.doors), device_id=device_id)


def expected_visits(now: datetime) -> Sequence[Visit]:
    """Return guests who are expected about now, the latest start first."""
    about = Visit.objects.filter(use_date_start__lte=now + _EARLY_BY, use_date_end__gte=now)
    found = with_status(about, now).filter(status=VisitStatus.EXPECTED)
    return list(found.order_by("-use_date_start", "guest_name", "pk")[:_MAX_EXPECTED])
