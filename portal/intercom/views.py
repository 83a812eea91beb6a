"""The intercom: who is at the door, who is expected now, and the button that unlocks beside it.

Whoever may answer it sees the intercom's cameras and unlocks their doors, and no other camera and no other door.
"""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from portal.cameras.playing import gone_on, seconds_left, viewing_of, watched, with_media
from portal.core.cameras import looks, media, tiles, usage, watch, watching
from portal.core.cameras.models import Camera, Picture, Viewing
from portal.core.intents import nonces
from portal.core.intents.asking import Button, once, seen_at
from portal.core.intents.models import Intent
from portal.core.intents.nonces import Nonce, NotAsked
from portal.core.intents.record import Asker
from portal.core.mirror.models import PassController
from portal.core.ui import watching as parts
from portal.core.ui.addresses import row_or_404
from portal.devices import actions
from portal.devices.actions import Command
from portal.intercom import queries
from tenants.access import TenantRequest, tenant_view
from tenants.carrying import Carried
from tenants.connections.service import current_connection
from tenants.roles import Permission, Proof


def page_of(request: TenantRequest, camera: Camera) -> str:
    return reverse("intercom:camera", args=[request.tenant.slug, camera.camera_id])


@tenant_view(Permission.INTERCOM)
def index(request: TenantRequest) -> HttpResponseBase:
    """The intercom's cameras with their latest pictures; where there is one alone, that one."""
    found = list(queries.cameras())
    if len(found) == 1:
        return redirect(page_of(request, found[0]))
    watch.seen(found)
    drawn = [tiles.tile_of(request, each, "intercom") for each in found]
    seen = tiles.mark_of(drawn)
    if parts.has_seen(request, seen):
        return parts.unchanged()
    looks.at_latest(found, Asker.of(request))
    if parts.is_asked(request):
        return render(request, "intercom/wall.html", {"tiles": drawn, "seen": seen})
    return render(request, "intercom/index.html", {"tiles": drawn, "seen": seen})


@tenant_view(Permission.INTERCOM)
def camera(request: TenantRequest, camera_id: str) -> HttpResponse:
    """A camera with its doors and who is expected; while somebody looks, as all of it changes."""
    found = queries.camera_or_404(camera_id)
    watch.seen([found])
    tile, doors = tiles.tile_of(request, found, "intercom"), queries.doors_of(request.tenant, found)
    expected = queries.expected(timezone.now())
    told = [(each.door.pk, each.state, [intent.pk for intent in each.intents]) for each in doors]
    seen = parts.mark(tiles.mark_of([tile]), told, [(each.pk, each.guest_name) for each in expected])
    if parts.has_seen(request, seen):
        return parts.unchanged()
    viewing = viewing_of(request, found)
    context = {
        "camera": found,
        "tile": tile,
        "doors": doors,
        "expected": expected,
        "unlock": Command.UNLOCK,
        "seen": seen,
        "viewing": viewing,
        "streaming": usage.known().streaming,
        "seconds_left": seconds_left(viewing),
    }
    looks.at_latest([found], Asker.of(request))
    if parts.is_asked(request):
        return render(request, "intercom/now.html", context)
    response = render(request, "intercom/camera.html", context)
    return with_media(request, response) if viewing else response


@tenant_view(Permission.INTERCOM)
def picture(request: TenantRequest, camera_id: str, pk: int, mark: str) -> HttpResponse:
    """The latest picture's bytes; its address changes with it."""
    rows = Picture.objects.filter(camera=queries.camera_or_404(camera_id), at=None).select_related("camera")
    found = row_or_404(rows, pk=pk, mark=mark)
    looks.at_picture(found, Asker.of(request))
    content = found.content or b""
    return HttpResponse(content, content_type=media.kind_of(content) or "application/octet-stream")


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def live(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Begin to watch live."""
    found = queries.camera_or_404(camera_id)

    def begin() -> Viewing:
        return watching.live(current_connection(), found, by=Asker.of(request))

    return watched(request, page_of(request, found), begin)


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def go_on(request: TenantRequest, camera_id: str, pk: int) -> HttpResponse:
    """Watch on live, asked for by the page while somebody looks."""
    return gone_on(request, queries.camera_or_404(camera_id), pk, "intercom")


@tenant_view(Permission.INTERCOM, methods=["POST"], proof=Proof.NONE)
def stop(request: TenantRequest, camera_id: str, pk: int) -> HttpResponseBase:
    """Stop watching live."""
    found = queries.camera_or_404(camera_id)
    watching.stop(row_or_404(Viewing.objects.filter(camera=found, by=request.user), pk=pk))
    return redirect(page_of(request, found))


def carried(request: TenantRequest, camera_id: str, device_id: str) -> Carried | None:
    """Return the command of a posted form, to be carried through; None for a form that could not be used anyway."""
    camera = queries.camera_or_404(camera_id)
    door = queries.door_or_404(camera, device_id)
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce:
        return None
    there = {"tenant": request.tenant.slug, "camera_id": camera_id, "device_id": device_id}
    return Carried(
        title=Command.UNLOCK.of(door),
        page=page_of(request, camera),
        through=f"{__name__}.carry_through",
        values=there | {"nonce": nonce.value},
    )


def carry_through(request: TenantRequest, values: dict[str, str]) -> HttpResponseBase:
    """Send the command within 15 seconds of the confirming click, as the same person asked for it before."""
    nonce = Nonce(values["nonce"], nonces.clicked_at(request))
    there = {name: values[name] for name in ("camera_id", "device_id")}
    return _send(request, values["tenant"], nonce=nonce, **there)


@tenant_view(Permission.INTERCOM, methods=["POST"])
def _send(request: TenantRequest, camera_id: str, device_id: str, nonce: Nonce) -> HttpResponseBase:
    camera = queries.camera_or_404(camera_id)
    page = page_of(request, camera)
    try:
        intent = _unlock(queries.door_or_404(camera, device_id), by=Asker.of(request), nonce=nonce)
    except NotAsked as reason:
        messages.error(request, str(reason))
        return redirect(page)
    return redirect(seen_at(page, intent))


def _unlock(door: PassController, *, by: Asker, nonce: Nonce) -> Intent:
    return actions.command(door=door, command=Command.UNLOCK, by=by, nonce=nonce, permission=Permission.INTERCOM)


@tenant_view(Permission.INTERCOM, methods=["POST"], carries=carried)
def unlock(request: TenantRequest, camera_id: str, device_id: str) -> HttpResponseBase:
    """Unlock a door that an intercom's camera looks at."""
    camera = queries.camera_or_404(camera_id)
    page = page_of(request, camera)
    intent = once(request, Button(request), partial(_unlock, queries.door_or_404(camera, device_id)))
    return redirect(page if intent is None else seen_at(page, intent))
