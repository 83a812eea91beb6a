"""Face images: accepted at once, registered some seconds later, never twice (specification: States)."""

import hashlib
from datetime import datetime, timedelta

from django.db.models import QuerySet

from sandbox.behaviour import Behaviour
from sandbox.errors import FACE_PRESENT, ApiError
from sandbox.service.models import Face, FaceRequest, Member, Tenant


def register(tenant: Tenant, member: Member, image: bytes, behaviour: Behaviour, at: datetime) -> FaceRequest:
    """Accept an image and return the request.

    Raises ApiError (40902) if the member has one, which must be deleted first.
    """
    if Face.objects.filter(member=member).exists():
        raise ApiError(409, FACE_PRESENT, "a face image is registered already: delete it first")
    return FaceRequest.objects.create(
        tenant=tenant,
        at=at,
        member=member,
        digest=hashlib.sha256(image).hexdigest(),
        due_at=at + timedelta(seconds=behaviour.face_seconds),
    )


def remove(member: Member) -> bool:
    """Delete the member's face image. Return whether there was one."""
    deleted, _ = Face.objects.filter(member=member).delete()
    if member.listed.pop("face_data", None):
        member.save(update_fields=["listed"])
    return bool(deleted)


def due(tenant: Tenant, now: datetime) -> QuerySet[FaceRequest]:
    """Return the registrations that should have ended by now, in order of arrival."""
    return FaceRequest.objects.filter(tenant=tenant, status="progress", due_at__lte=now).order_by("id")


def advance(tenant: Tenant, now: datetime) -> None:
    """End the registrations that are due, in order of arrival. Use inside `lock_members`."""
    for request in due(tenant, now).select_related("member"):
        request.status = _outcome(request)
        request.save(update_fields=["status"])


def _outcome(request: FaceRequest) -> str:
    member = request.member
    if member is None:
        return "failed_member"
    used = Face.objects.filter(tenant_id=request.tenant_id, digest=request.digest).exists()
    if used or Face.objects.filter(member=member).exists():
        return "failed_registered"
    Face.objects.create(tenant_id=request.tenant_id, member=member, digest=request.digest, registered_at=request.due_at)
    member.listed["face_data"] = f"face-{request.digest[:24]}"
    member.save(update_fields=["listed"])
    return "succeeded"
