"""Cameras: the wall, a camera with its pictures and video, and the list's own forms."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.cameras import line, wall
from portal.cameras.forms import EditForm, MomentForm, NewForm, SettingsForm
from portal.cameras.playing import gone_on, seconds_left, viewing_of, watched, with_media
from portal.core.cameras import commands, keeping, looks, media, tiles, usage, watch, watching
from portal.core.cameras.models import Camera, Picture, Viewing
from portal.core.cameras.pictures import at_moment, trouble_in_words
from portal.core.intents.record import Asker
from portal.core.mirror.models import Area, PassController
from portal.core.safety.answering import answer
from portal.core.ui import watching as parts
from portal.core.ui.addresses import is_row_number, row_or_404
from tenants import unsent
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service import current_connection
from tenants.roles import Permission


@tenant_view(Permission.CAMERAS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """The wall; while somebody looks, with the pictures as they come."""
    shown = wall.Wall(request)
    shown.look()
    if parts.has_seen(request, shown.seen):
        return parts.unchanged()
    looks.at_wall(Asker.of(request))
    if parts.is_asked(request):
        return render(request, "cameras/wall.html", {"wall": shown})
    context = {"wall": shown, "usage": usage.known(), "may_manage": request.access.can(Permission.CAMERAS_MANAGE)}
    return render(request, "cameras/index.html", context)


@tenant_view(Permission.CAMERAS_VIEW)
def camera(request: TenantRequest, camera_id: str) -> HttpResponse:
    """A camera: its latest picture, what is played, and a day to choose a moment of."""
    found = _camera(camera_id)
    watch.seen([found])
    tile = tiles.tile_of(request, found)
    seen = parts.mark(tiles.mark_of([tile]), found.status_at, found.is_streaming)
    if parts.has_seen(request, seen):
        return parts.unchanged()
    looks.at_latest([found], Asker.of(request))
    if parts.is_asked(request):
        return render(request, "cameras/latest.html", {"tile": tile, "camera": found, "seen": seen})
    viewing = viewing_of(request, found)
    context = {
        "camera": found,
        "tile": tile,
        "seen": seen,
        "doors": PassController.objects.filter(device_id__in=found.doors).order_by("name_order", "pk"),
        "areas": Area.objects.filter(area_id__in=found.areas).order_by("name_order", "pk"),
        "day": line.Day(request, found),
        "viewing": viewing,
        "still": _still_asked_for(request, found),
        "usage": usage.refreshed(current_connection()),
        "may_manage": request.access.can(Permission.CAMERAS_MANAGE),
        "may_recorded": request.access.can(Permission.CAMERAS_RECORDED),
        "seconds_left": seconds_left(viewing),
    }
    response = render(request, "cameras/camera.html", context)
    return with_media(request, response) if viewing else response


@tenant_view(Permission.CAMERAS_VIEW)
def at_door(request: TenantRequest, device_id: str) -> HttpResponse:
    """The cameras that look at a door, as a part of pages that show it; while somebody looks, as pictures come."""
    found = tiles.at_door(request, device_id)
    seen = tiles.mark_of(found)
    if parts.has_seen(request, seen):
        return parts.unchanged()
    looks.at_latest([each.camera for each in found], Asker.of(request))
    return render(request, "cameras/at_door.html", {"tiles": found, "seen": seen, "device_id": device_id})


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def status(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Ask the service how a camera is."""
    found = _camera(camera_id)
    if trouble := keeping.check(found):
        messages.error(request, trouble)
    return redirect(_page(request, found))


@tenant_view(Permission.CAMERAS_VIEW)
def picture(request: TenantRequest, camera_id: str, pk: int, mark: str) -> HttpResponse:
    """A picture's bytes; its address changes with it. Those of a moment need the right to see recordings.

    A newer one may have come since the page was drawn: the address of the one before leads to it.
    """
    rows = Picture.objects.filter(camera__camera_id=camera_id).select_related("camera")
    found = row_or_404(rows, pk=pk)
    if found.mark != mark:
        if found.at is not None or not found.mark:
            raise Http404
        return redirect("cameras:picture", request.tenant.slug, camera_id, pk, found.mark)
    if found.at is not None:
        request.access.check(Permission.CAMERAS_RECORDED)
    looks.at_picture(found, Asker.of(request))
    content = found.content or b""
    return HttpResponse(content, content_type=media.kind_of(content) or "application/octet-stream")


@tenant_view(Permission.CAMERAS_RECORDED, methods=["POST"])
def picture_at(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Read the picture of a moment, and show it."""
    found, form = _camera(camera_id), MomentForm(request.POST)
    if not form.is_valid():
        return _back(request, found, form)
    still = at_moment(current_connection(), found, form.cleaned_data["at"])
    at = line.wire(form.cleaned_data["at"])
    return redirect(f"{_page(request, found)}?at={at}&still={still.pk}#still")


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def live(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Begin to watch a camera live."""
    found = _camera(camera_id)

    def begin() -> Viewing:
        return watching.live(current_connection(), found, by=Asker.of(request), incident=_is_incident(request))

    return watched(request, _page(request, found), begin)


@tenant_view(Permission.CAMERAS_RECORDED, methods=["POST"])
def recording(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Begin to watch a recording of a chosen moment."""
    found, form = _camera(camera_id), MomentForm(request.POST)
    if not form.is_valid():
        return _back(request, found, form)
    at, seconds = form.cleaned_data["at"], form.cleaned_data["seconds"] or 60

    def begin() -> Viewing:
        by, incident = Asker.of(request), _is_incident(request)
        return watching.recorded(current_connection(), found, at, seconds, by=by, incident=incident)

    return watched(request, _page(request, found), begin, at=line.wire(at))


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def go_on(request: TenantRequest, camera_id: str, pk: int) -> HttpResponse:
    """Watch on live, asked for by the page while somebody looks: how long, and from where."""
    return gone_on(request, _camera(camera_id), pk, "cameras")


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def stop(request: TenantRequest, camera_id: str, pk: int) -> HttpResponseBase:
    """Stop watching live."""
    found = _camera(camera_id)
    watching.stop(row_or_404(Viewing.objects.filter(camera=found, by=request.user), pk=pk))
    return redirect(_page(request, found))


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponseBase:
    """Add cameras by their identifiers."""
    form = NewForm(request.POST) if request.method == "POST" else NewForm(initial={"cameras": _told_by_log(request)})
    if form.is_bound and form.is_valid():
        try:
            named = form.cleaned_data["cameras"]
            added = keeping.add(named=named, by=Asker.of(request), connection=current_connection())
        except keeping.NotKept as why:
            form.add_error("cameras", str(why))
        else:
            n = len(added)
            messages.success(request, ngettext("%(n)d camera added.", "%(n)d cameras added.", n) % {"n": n})
            return redirect(_at(request, added[0], "edit") if n == 1 else _wall(request))
    return render(request, "cameras/new.html", {"form": form, "told": not form.is_bound and form.initial["cameras"]})


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def settings(request: TenantRequest) -> HttpResponseBase:
    """Choose whether door commands get pictures."""
    form = SettingsForm(request.POST if request.method == "POST" else None, initial={"wanted": commands.are_wanted()})
    if form.is_valid():
        wanted = partial(commands.want, **form.cleaned_data, by=Asker.of(request))
        if answer(request, wanted, _("Camera settings saved."), form):
            return redirect(_wall(request))
    return render(request, "cameras/settings.html", {"form": form})


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def edit(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Name a camera, and say where it looks."""
    found = _camera(camera_id)
    form = EditForm(found, request.POST) if request.method == "POST" else EditForm(found)
    if form.is_bound and form.is_valid():
        keeping.edit(camera=found, by=Asker.of(request), **form.cleaned_data)
        messages.success(request, _("Camera saved."))
        return redirect(_page(request, found))
    return render(request, "cameras/edit.html", {"form": form, "camera": found})


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def remove(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Remove a camera from the list."""
    found = _camera(camera_id)
    if request.method == "POST":
        keeping.remove(camera=found, by=Asker.of(request))
        messages.success(request, _("Camera removed."))
        return redirect(_wall(request))
    return render(request, "cameras/remove.html", {"camera": found})


def _camera(camera_id: str) -> Camera:
    return row_or_404(Camera.objects.prefetch_related(tiles.latest()), camera_id=camera_id)


def _told_by_log(request: TenantRequest) -> str:
    """What the form begins with: cameras that the log tells of, for those who may read it."""
    return "\n".join(keeping.told_by_log()) if request.access.can(Permission.LOGS_VIEW) else ""


def _still_asked_for(request: TenantRequest, camera: Camera) -> dict[str, Any] | None:
    """The picture of a moment that the address names, for those who may see it."""
    pk = request.GET.get("still", "")
    if not is_row_number(pk) or not request.access.can(Permission.CAMERAS_RECORDED):
        return None
    found = Picture.objects.filter(camera=camera, at__isnull=False, pk=pk).defer("content").first()
    if found is None:
        return None
    source = _at(request, camera, "picture", found.pk, found.mark) if found.mark else ""
    return {"picture": found, "source": source, "wrong": trouble_in_words(found.trouble)}


def _back(request: TenantRequest, camera: Camera, form: MomentForm) -> HttpResponseBase:
    for problem in form.errors.values():
        messages.error(request, " ".join(map(str, problem)))
    return unsent.refuse(request, _page(request, camera))


def _is_incident(request: TenantRequest) -> bool:
    return request.POST.get("incident") == "1" and request.access.can(Permission.EVIDENCE_MAKE)


def _at(request: TenantRequest, camera: Camera, name: str, *more: object) -> str:
    return reverse(f"cameras:{name}", args=[request.tenant.slug, camera.camera_id, *more])


def _page(request: TenantRequest, camera: Camera) -> str:
    return _at(request, camera, "camera")


def _wall(request: TenantRequest) -> str:
    return reverse("cameras:index", args=[request.tenant.slug])
