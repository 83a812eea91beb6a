"""A member's face and profile picture."""

from functools import partial

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from portal.core.intents.record import Asker
from portal.core.mirror.access import get_member
from portal.members import faces, portraits, queries
from portal.members.attempts import attempt
from portal.members.forms import DeleteForm
from portal.members.picture_forms import FaceForm, ProfileForm
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face(request: HttpRequest, member_id: str) -> HttpResponse:
    """Register a face, or put another in the place of the present one; what is under way is followed here."""
    member = get_member(member_id)
    form = FaceForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        act = faces.replace if member.has_face else faces.register
        asked = partial(act, member=member, picture=form.picture, by=Asker.of(request))
        then = reverse("members:face", args=[request.tenant.slug, member_id])
        answer = attempt(request, form, form.picture.described, asked, then=then)
        if answer is not None:
            return answer
    standing = faces.standing(member, queries.intents_about(member))
    response = render(request, "members/face.html", {"member": member, "form": form, "face": standing})
    response["Permissions-Policy"] = "camera=(self), microphone=(), geolocation=()"
    return response


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def face_delete(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        asked = partial(faces.delete, member=member, by=Asker.of(request))
        then = reverse("members:face", args=[request.tenant.slug, member_id])
        answer = attempt(request, form, None, asked, then=then)
        if answer is not None:
            return answer
    return render(request, "members/face_delete.html", {"member": member, "form": form})


@tenant_view(Permission.MEMBERS_EDIT, methods=["GET", "POST"])
def picture_edit(request: HttpRequest, member_id: str) -> HttpResponse:
    member = get_member(member_id)
    form = ProfileForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        asked = partial(faces.set_profile, member=member, picture=form.picture, by=Asker.of(request))
        answer = attempt(request, form, form.picture.described, asked)
        if answer is not None:
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
