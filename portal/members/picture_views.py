"""A member's face and profile picture."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from portal.core.intents.asking import FOLLOWED, Form, ask
from portal.core.intents.models import Intent
from portal.core.mirror.access import get_member
from portal.core.mirror.models import Member
from portal.members import faces, portraits, queries
from portal.members.forms import DeleteForm
from portal.members.pages import back_to_member
from portal.members.picture_forms import FaceForm, ProfileForm
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face(request: HttpRequest, member_id: str) -> HttpResponse:
    """Register a face, or put another in the place of the present one; what is under way is followed here."""
    member = get_member(member_id)
    form = FaceForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        act = partial(faces.replace if member.has_face else faces.register, member=member, picture=form.picture)
        if answer := _ask_for_face(request, form, act, member, form.picture.described):
            return answer
    standing = faces.standing(member, queries.intents_about(member))
    response = render(request, "members/face.html", {"member": member, "form": form, "face": standing})
    response["Permissions-Policy"] = "camera=(self), microphone=(), geolocation=()"
    return response


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face_delete(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    act = partial(faces.delete, member=member)
    answer = _ask_for_face(request, form, act, member, None) if form.is_valid() else None
    return answer or render(request, "members/face_delete.html", {"member": member, "form": form})


def _ask_for_face(
    request: HttpRequest, form: Form, act: Callable[..., Intent], member: Member, body: Any
) -> HttpResponse | None:
    page = reverse("members:face", args=[request.tenant.slug, member.member_id])
    on = back_to_member(request) | {"to": page, "shows": FOLLOWED}
    return ask(request, form, act, body=body, **on)


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def picture_edit(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = ProfileForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if form.is_valid():
        act = partial(faces.set_profile, member=member, picture=form.picture)
        if answer := ask(request, form, act, body=form.picture.described, **back_to_member(request)):
            return answer
    return render(request, "members/picture.html", {"member": member, "form": form})


@tenant_view(Permission.MEMBERS_VIEW)
def picture(request: HttpRequest, member_id: str) -> HttpResponse:
    """The profile picture itself, from our own address."""
    member = get_member(member_id, gone=True)
    content = portraits.content_of(request.tenant, member.member_id)
    if content is None:
        raise Http404
    return HttpResponse(content, content_type="image/jpeg")
