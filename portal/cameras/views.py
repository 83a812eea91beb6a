"""Views of cameras: all cameras, one camera with its pictures and video, a record's video, and the forms."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui import confirmation, live_updates
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.cameras import queries
from portal.cameras.forms import EditForm, MomentForm, NewForm, SettingsForm
from portal.domain.cameras import actions, clips, door_command_pictures, playback, refreshing, tiles, usage
from portal.domain.cameras.models import Camera, Clip, Picture, Viewing
from portal.domain.cameras.pictures import picture_of_moment, trouble_text
from portal.domain.cameras.playback import allow_media, continue_viewing, seconds_left, start_viewing, viewing_of
from portal.domain.history import visibility
from portal.domain.intents.recording import Requester
from portal.domain.places.models import Area, PassController
from portal.domain.safety.changing import change_with_feedback
from tenants import interrupted_requests
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission

# How many stored pictures are beside the video.
_STILLS = 6


@tenant_view(Permission.CAMERAS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show the latest pictures of all cameras. While the page is open, they are updated."""
    wall = queries.CameraWall(request)
    wall.record_view()
    if live_updates.is_up_to_date(request, wall.version):
        return live_updates.unchanged_response()
    tiles.record_wall_viewed(Requester.from_request(request))
    if live_updates.is_poll(request):
        return render(request, "cameras/wall.html", {"wall": wall})
    context = {
        "wall": wall,
        "usage": usage.current_usage(),
        "may_manage": request.access.can(Permission.CAMERAS_MANAGE),
    }
    return render(request, "cameras/index.html", context)


@tenant_view(Permission.CAMERAS_VIEW)
def camera(request: TenantRequest, camera_id: str) -> HttpResponse:
    """Show a camera: its latest picture, the current video, and a day to choose a moment of."""
    found = _camera_or_404(camera_id)
    refreshing.mark_in_sight([found])
    tile = tiles.tile_of(request, found)
    version = live_updates.version_of(tiles.version_of([tile]), found.status_at, found.is_streaming)
    if live_updates.is_up_to_date(request, version):
        return live_updates.unchanged_response()
    tiles.record_latest_viewed([found], Requester.from_request(request))
    viewing = viewing_of(request, found)
    context = {"camera": found, "tile": tile, "version": version, "viewing": viewing}
    context["is_before_live"] = tiles.is_before_live(tile, viewing)
    if live_updates.is_poll(request):
        return render(request, "cameras/latest.html", context)
    context |= {
        "doors": PassController.objects.filter(device_id__in=found.doors).order_by("name_order", "pk"),
        "areas": Area.objects.filter(area_id__in=found.areas).order_by("name_order", "pk"),
        "day": queries.CameraDay(request, found),
        "still": _chosen_still(request, found),
        "stills": _stored_stills(request, found),
        "usage": usage.refreshed_usage(current_connection()),
        "may_manage": request.access.can(Permission.CAMERAS_MANAGE),
        "may_recorded": request.access.can(Permission.CAMERAS_RECORDED),
        "seconds_left": seconds_left(viewing),
    }
    response = render(request, "cameras/camera.html", context)
    return allow_media(request, response) if viewing else response


@tenant_view(Permission.CAMERAS_VIEW)
def at_door(request: TenantRequest, device_id: str) -> HttpResponse:
    """Show the cameras that cover a door, as part of other pages. While these are open, pictures are updated."""
    found = tiles.tiles_at_door(request, device_id)
    version = tiles.version_of(found)
    if live_updates.is_up_to_date(request, version):
        return live_updates.unchanged_response()
    tiles.record_latest_viewed([each.camera for each in found], Requester.from_request(request))
    return render(request, "cameras/at_door.html", {"tiles": found, "version": version, "device_id": device_id})


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def status(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Check the camera's status with the service."""
    found = _camera_or_404(camera_id)
    if trouble := actions.check_status(found):
        messages.error(request, trouble)
    return redirect(_page_of(request, found))


@tenant_view(Permission.CAMERAS_VIEW)
def picture(request: TenantRequest, camera_id: str, pk: int, mark: str) -> HttpResponse:
    """Return a picture. Its address contains a mark of its content. Recorded pictures need a permission.

    If a newer picture was stored since the page was drawn, the old address redirects to it.
    """
    rows = Picture.objects.filter(camera__camera_id=camera_id).select_related("camera")
    found = get_row_or_404(rows, pk=pk)
    if found.mark != mark:
        if found.at is not None or not found.mark:
            raise Http404
        return redirect("cameras:picture", request.tenant.slug, camera_id, pk, found.mark)
    if found.at is not None:
        request.access.check(Permission.CAMERAS_RECORDED)
    return tiles.send_viewed_picture(found, Requester.from_request(request))


@tenant_view(Permission.CAMERAS_RECORDED, methods=["POST"])
def picture_at(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Read the picture of a moment and show it, on the page of the alert that it was requested from if any."""
    found, form = _camera_or_404(camera_id), MomentForm(request.POST)
    if not form.is_valid():
        return _refuse_form(request, found, form)
    still = picture_of_moment(current_connection(), found, form.cleaned_data["at"])
    if is_row_number(alert := request.POST.get("alert", "")):
        return redirect(reverse("alerts:alert", args=[request.tenant.slug, alert]) + "#alert-cameras")
    at = queries.to_input_value(form.cleaned_data["at"])
    return redirect(f"{_page_of(request, found)}?at={at}&still={still.pk}#video")


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def live(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Start a live viewing."""
    found = _camera_or_404(camera_id)

    def begin() -> Viewing:
        return playback.play_live(
            current_connection(), found, by=Requester.from_request(request), incident=_is_incident(request)
        )

    return start_viewing(request, _page_of(request, found), begin)


@tenant_view(Permission.CAMERAS_RECORDED, methods=["POST"])
def recording(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Start a viewing of a recording from a chosen moment."""
    found, form = _camera_or_404(camera_id), MomentForm(request.POST)
    if not form.is_valid():
        return _refuse_form(request, found, form)
    at, seconds = form.cleaned_data["at"], form.cleaned_data["seconds"] or 60

    def begin() -> Viewing:
        by, incident = Requester.from_request(request), _is_incident(request)
        return playback.play_recording(current_connection(), found, at, seconds, by=by, incident=incident)

    return start_viewing(request, _page_of(request, found), begin, at=queries.to_input_value(at))


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def continue_live(request: TenantRequest, camera_id: str, pk: int) -> HttpResponse:
    """Continue a live viewing. The page requests this while it is open."""
    return continue_viewing(request, _camera_or_404(camera_id), pk, "cameras")


@tenant_view(Permission.CAMERAS_VIEW, methods=["POST"])
def stop(request: TenantRequest, camera_id: str, pk: int) -> HttpResponseBase:
    """Stop a live viewing."""
    found = _camera_or_404(camera_id)
    playback.stop_live(get_row_or_404(Viewing.objects.filter(camera=found, by=request.user), pk=pk))
    return redirect(_page_of(request, found))


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponseBase:
    """Add cameras by their IDs."""
    form = NewForm(request.POST) if request.method == "POST" else NewForm(initial={"cameras": _cameras_in_log(request)})
    if form.is_bound and form.is_valid():
        try:
            named = form.cleaned_data["cameras"]
            added = actions.add(cameras=named, by=Requester.from_request(request), connection=current_connection())
        except actions.CameraNotSaved as why:
            form.add_error("cameras", str(why))
        else:
            n = len(added)
            messages.success(request, ngettext("%(n)d camera added.", "%(n)d cameras added.", n) % {"n": n})
            return redirect(_camera_url(request, added[0], "edit") if n == 1 else _wall_url(request))
    return render(
        request, "cameras/new.html", {"form": form, "from_log": not form.is_bound and form.initial["cameras"]}
    )


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def settings(request: TenantRequest) -> HttpResponseBase:
    """Choose whether door commands get pictures."""
    form = SettingsForm(
        request.POST if request.method == "POST" else None, initial={"wanted": door_command_pictures.is_enabled()}
    )
    if form.is_valid():
        command = partial(
            door_command_pictures.set_enabled, enabled=form.cleaned_data["wanted"], by=Requester.from_request(request)
        )
        if change_with_feedback(request, command, _("Camera settings saved."), form):
            return redirect(_wall_url(request))
    return render(request, "cameras/settings.html", {"form": form})


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def edit(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Change a camera's name and the doors and areas that it covers."""
    found = _camera_or_404(camera_id)
    form = EditForm(found, request.POST) if request.method == "POST" else EditForm(found)
    if form.is_bound and form.is_valid():
        actions.edit(camera=found, by=Requester.from_request(request), **form.cleaned_data)
        messages.success(request, _("Camera saved."))
        return redirect(_page_of(request, found))
    return render(request, "cameras/edit.html", {"form": form, "camera": found})


@tenant_view(Permission.CAMERAS_MANAGE, methods=["GET", "POST"])
def remove(request: TenantRequest, camera_id: str) -> HttpResponseBase:
    """Remove a camera from the list."""
    found = _camera_or_404(camera_id)
    if request.method == "POST":
        actions.remove(camera=found, by=Requester.from_request(request))
        messages.success(request, _("Camera removed."))
        return redirect(_wall_url(request))
    return confirmation.ask(
        request,
        _("Remove “%(name)s”?") % {"name": found},
        submit=_("Remove camera"),
        question=_(
            "The camera and its pictures are removed from the portal. The service keeps the recordings. The audit log"
            " keeps who viewed it."
        ),
        cancel=_camera_url(request, found, "edit"),
        crumbs=[(_("Cameras"), "cameras:index"), (found, "cameras:camera", camera_id)],
    )


@tenant_view(Permission.CAMERAS_RECORDED, methods=["GET", "POST"])
def clip(request: TenantRequest, history_id: str) -> HttpResponseBase:
    """Show a record's video. The page updates until the video is ready. A POST requests it."""
    record = get_row_or_404(visibility.visible_records(request.access), history_id=history_id)
    if request.method == "POST":
        if not clips.is_expired(record):
            clips.request_clip(current_connection(), record, incident=_is_incident(request))
        page_url = reverse("cameras:clip", args=[request.tenant.slug, history_id])
        return redirect(f"{page_url}?incident=1" if _is_incident(request) else page_url)
    status = clips.clip_status(record, Clip.objects.filter(history_id=history_id).first())
    version = live_updates.version_of(
        status.state, status.reason, status.clip and (status.clip.due_at, status.clip.answered_at)
    )
    if live_updates.is_up_to_date(request, version):
        return live_updates.unchanged_response()
    if live_updates.is_poll(request) and status.state == Clip.State.READY:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})  # reload as a page, so that it is counted once
    context: dict[str, Any] = {
        "record": record,
        "clip": status,
        "version": version,
        "downloads": usage.current_usage().downloads,
    }
    if live_updates.is_poll(request):
        return render(request, "cameras/clip_now.html", context)
    if status.state == Clip.State.READY and status.clip is not None:
        incident = _is_incident(request)
        if not clips.count_viewing(status.clip, record, by=Requester.from_request(request), incident=incident):
            context["clip"] = clips.ClipStatus(Clip.State.FAILED, trouble_text("no_downloads"), status.clip)
    response = render(request, "cameras/clip.html", context)
    return allow_media(request, response) if context["clip"].state == Clip.State.READY else response


def _camera_or_404(camera_id: str) -> Camera:
    return get_row_or_404(Camera.objects.prefetch_related(tiles.latest_pictures()), camera_id=camera_id)


def _cameras_in_log(request: TenantRequest) -> str:
    """Return the form's first value: cameras found in the log, for people with access to it."""
    return "\n".join(actions.ids_in_log()) if request.access.can(Permission.LOGS_VIEW) else ""


def _chosen_still(request: TenantRequest, camera: Camera) -> dict[str, Any] | None:
    """Return the recorded picture named in the address, for people with the permission."""
    pk = request.GET.get("still", "")
    if not is_row_number(pk) or not request.access.can(Permission.CAMERAS_RECORDED):
        return None
    found = Picture.objects.filter(camera=camera, at__isnull=False, pk=pk).defer("content").first()
    if found is None:
        return None
    source = _camera_url(request, camera, "picture", found.pk, found.mark) if found.mark else ""
    return {"picture": found, "source": source, "wrong": trouble_text(found.trouble)}


def _stored_stills(request: TenantRequest, camera: Camera) -> list[Picture]:
    """Return the newest stored pictures of past moments, for people with the permission."""
    if not request.access.can(Permission.CAMERAS_RECORDED):
        return []
    rows = Picture.objects.filter(camera=camera, at__isnull=False).exclude(mark="")
    return list(rows.defer("content").order_by("-at")[:_STILLS])


def _refuse_form(request: TenantRequest, camera: Camera, form: MomentForm) -> HttpResponseBase:
    for problem in form.errors.values():
        messages.error(request, " ".join(map(str, problem)))
    return interrupted_requests.return_to_form(request, _page_of(request, camera))


def _is_incident(request: TenantRequest) -> bool:
    """Return whether the reserve for incidents was chosen and the person has the permission for it."""
    values = request.POST if request.method == "POST" else request.GET
    return values.get("incident") == "1" and request.access.can(Permission.EVIDENCE_MAKE)


def _camera_url(request: TenantRequest, camera: Camera, name: str, *more: object) -> str:
    return reverse(f"cameras:{name}", args=[request.tenant.slug, camera.camera_id, *more])


def _page_of(request: TenantRequest, camera: Camera) -> str:
    return _camera_url(request, camera, "camera")


def _wall_url(request: TenantRequest) -> str:
    return reverse("cameras:index", args=[request.tenant.slug])
