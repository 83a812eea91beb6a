"""Views of a member's credentials (card, codes, face, temporary keys) and profile picture."""

from collections.abc import Callable, Mapping
from functools import partial

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.domain.budget.priorities import Priority
from portal.domain.intents.form_handling import UNDER_WAY_OR_DONE, ErrorTarget, submit_and_redirect
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.mirror.models import Member
from portal.domain.mirror.place_queries import key_boxes
from portal.domain.mirror.queries import get_member
from portal.members import actions, faces, member_page, portraits, qr_codes, queries, temporary_keys
from portal.members.forms import DeleteForm, FaceForm, ProfileForm
from portal.members.member_page import back_to_member
from portal.members.temporary_keys import TemporaryKeysForm
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def reveal(request: TenantRequest, member_id: str, what: str) -> HttpResponse:
    """Show a secret unmasked: a fragment for htmx, else the member's page with it."""
    if what not in ("card", "qr"):
        raise Http404
    member = get_member(member_id)
    value = actions.reveal(member=member, what=what, by=Requester.from_request(request))
    # QR data is also drawn as a QR code, if it fits into one.
    drawn = qr_codes.draw_qr(value, str(member)) if what == "qr" and value else None
    if request.htmx:
        told = {"member": member, "what": what, "value": value, "drawn": drawn}
        return render(request, "members/secret.html", told)
    shown = {what: value, f"{what}_drawn": drawn}
    return render(request, "members/page.html", member_page.page_context(request, member) | {"shown": shown})


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"])
def one_time(request: TenantRequest, member_id: str) -> HttpResponse:
    """Show the present one-time code. This is recorded in the audit log."""
    member = get_member(member_id)
    told = _current_code(member, Priority.PEOPLE)
    if "code" in told:
        actions.reveal(member=member, what="one_time", by=Requester.from_request(request))
        told["permit"] = qr_codes.renewal_permit(request, member)
    return _render_code(request, member, told)


@tenant_view(Permission.SECRETS_REVEAL, methods=["POST"], proof=Proof.NONE)
def one_time_next(request: TenantRequest, member_id: str) -> HttpResponse:
    """Return the next one-time code. The page requests it automatically for some minutes, if enough API calls are left.

    The permit was issued with the first code, after a proof of identity. It replaces another proof.
    """
    member = get_member(member_id)
    if not qr_codes.may_renew(request, member):
        return _render_code(request, member, {"pause": _("Shown for ten minutes.")})
    told = _current_code(member, Priority.JOBS)
    if "code" in told:
        told["permit"] = request.POST["permit"]
    return _render_code(request, member, told)


def _current_code(member: Member, priority: Priority) -> dict[str, object]:
    try:
        return {"code": qr_codes.current_code(member, priority)}
    except qr_codes.NoOneTimeCode as reason:
        return {"pause" if reason.is_temporary else "trouble": str(reason)}


def _render_code(request: TenantRequest, member: Member, told: dict[str, object]) -> HttpResponse:
    """Render a fragment for htmx, else the member's page with it."""
    told = {"member": member, "may_reveal": True, "asked": True, **told}
    if request.htmx:
        return render(request, "members/one_time.html", told)
    return render(request, "members/page.html", member_page.page_context(request, member) | {"one_time": told})


@tenant_view(Permission.DOORS_OPERATE, methods=["GET", "POST"])
def keys(request: TenantRequest, member_id: str) -> HttpResponse:
    """Request temporary keys. Identity is proven before the form is shown, so that no input is lost."""
    request.access.check(Permission.MEMBERS_VIEW)
    member = get_member(member_id)
    boxes, chosen = list(key_boxes().defer("status")[:200]), request.GET.getlist("units")
    form = TemporaryKeysForm(request.POST or None, member=member, boxes=boxes, chosen=chosen)
    if form.is_valid():
        body = form.body(Requester.from_request(request))
        act = partial(temporary_keys.request_keys, member=member, body=body)
        if answer := submit_and_redirect(
            request, form, act, body=body, shows=UNDER_WAY_OR_DONE, **back_to_member(request)
        ):
            return answer
    running = temporary_keys.running_uses(queries.intents_about(member))
    return render(request, "members/keys.html", {"member": member, "form": form, "running": running})


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face(request: TenantRequest, member_id: str) -> HttpResponse:
    """Register or replace a face. Requests in progress are followed here."""
    member = get_member(member_id)
    form = FaceForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        act = partial(
            faces.replace_face if member.has_face else faces.register_face, member=member, picture=form.picture
        )
        if answer := _ask_for_face(request, form, act, member, form.picture.metadata):
            return answer
    state = faces.face_state(member, queries.intents_about(member))
    response = render(request, "members/face.html", {"member": member, "form": form, "face": state})
    response["Permissions-Policy"] = "camera=(self), microphone=(), geolocation=()"
    return response


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face_delete(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    act = partial(faces.delete_face, member=member)
    answer = _ask_for_face(request, form, act, member, None) if form.is_valid() else None
    return answer or render(request, "members/face_delete.html", {"member": member, "form": form})


def _ask_for_face(
    request: TenantRequest,
    form: ErrorTarget,
    act: Callable[..., Intent],
    member: Member,
    body: Mapping[str, object] | None,
) -> HttpResponse | None:
    page = reverse("members:face", args=[request.tenant.slug, member.member_id])
    on = back_to_member(request) | {"to": page, "shows": UNDER_WAY_OR_DONE}
    return submit_and_redirect(request, form, act, body=body, **on)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def picture_edit(request: TenantRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = ProfileForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        act = partial(faces.set_profile_picture, member=member, picture=form.picture)
        if answer := submit_and_redirect(request, form, act, body=form.picture.metadata, **back_to_member(request)):
            return answer
    return render(request, "members/picture.html", {"member": member, "form": form})


@tenant_view(Permission.MEMBERS_VIEW)
def picture(request: TenantRequest, member_id: str) -> HttpResponse:
    """Return the profile picture from the portal's own address."""
    member = get_member(member_id, include_gone=True)
    content = portraits.portrait_content(request.tenant, member.member_id)
    if content is None:
        raise Http404
    return HttpResponse(content, content_type="image/jpeg")
