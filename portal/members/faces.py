"""Faces and profile pictures of members: requests, their state, and the pictures that pages show.

A face is replaced in two steps (specification: operation 9, "delete then register again"). The second request is
recorded together with the first and held until the deletion is confirmed. So a closed browser or a lost answer cannot
leave an unclear state. Between the two steps no face works.

The address of a profile picture comes from single reads. The picture is loaded once and shown from our own address.
"""

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpx2
import structlog
from django.db import transaction
from django.utils import timezone

from accessapi.client import Image
from accessapi.limits import FACE_READY_SECONDS
from portal.base.files import pictures
from portal.base.files.downloads import download
from portal.base.files.pictures import CheckedPicture
from portal.domain.intents import actions, tracking
from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command, record_intent
from portal.domain.intents.sending import send_inline
from portal.domain.people.models import Member
from portal.members.models import Portrait
from tenants import vault
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

REGISTER, DELETE, PROFILE = "register_face_image", "delete_face_image", "register_profile_image"


def register_face(*, member: Member, picture: CheckedPicture, by: Requester, nonce: Nonce) -> Intent:
    """Request to register a face (operation 8). The request is sent at most once and followed to its outcome."""
    return submit(_registration(member, picture), by=by, nonce=nonce)


def delete_face(*, member: Member, by: Requester, nonce: Nonce) -> Intent:
    """Request to delete the face (operation 9)."""
    return _check_deleted(submit(_deletion(member), by=by, nonce=nonce))


def replace_face(*, member: Member, picture: CheckedPicture, by: Requester, nonce: Nonce) -> Intent:
    """Delete the present face, and register this one once that is confirmed. Return the second intent."""
    with transaction.atomic():
        then = Nonce(f"{nonce.value}.then"[:64], nonce.clicked_at)
        second, is_new = record_intent(_registration(member, picture), by=by, nonce=then, held=True)
        first = submit(_deletion(member), by=by, nonce=nonce, inline=False)
    if is_new and send_inline(first):
        _check_deleted(first)
        second.refresh_from_db()
        if second.state == State.QUEUED and second.due_at is not None:
            send_inline(second)
    second.refresh_from_db()
    return second


def _check_deleted(deletion: Intent) -> Intent:
    """Check at once whether the face is gone, if the service did not find what was to be deleted."""
    if deletion.state == State.UNCERTAIN and deletion.reason == Reason.REFUSED:
        tracking.reconcile(deletion)
        deletion.refresh_from_db()
    return deletion


def set_profile_picture(*, member: Member, picture: CheckedPicture, by: Requester, nonce: Nonce) -> Intent:
    """Request a profile picture (operation 7). It replaces the present one."""
    title = coded_sentence("member.profile_picture", name=member)
    return submit(_with_picture(_request(PROFILE, title, member), picture), by=by, nonce=nonce)


def finish_replacement(intent: Intent) -> None:
    """Release or withdraw the second step, depending on the outcome of the first."""
    if intent.state == State.UNCERTAIN:
        return
    waiting = Intent.objects.filter(target=intent.target, operation=REGISTER, reason=Reason.STEP_BEFORE)
    for second in waiting.filter(state=State.QUEUED, pk__lt=intent.pk):
        (actions.release if intent.state == State.SUCCEEDED else actions.withdraw)(second)


@dataclass(frozen=True)
class FaceState:
    """The state of a member's face, from the mirror and the newest requests about it.

    `usable_from` is set while the service still prepares a registered face (States, "30 seconds or more later").
    `is_between_faces` is True if the old face is deleted and the new one is not registered.
    """

    is_registered: bool
    intents: list[Intent]
    usable_from: datetime | None = None
    is_under_way: bool = False
    is_between_faces: bool = False

    @property
    def seconds(self) -> int:
        left = self.usable_from - timezone.now() if self.usable_from else timedelta(0)
        return max(0, round(left.total_seconds()))


def face_state(member: Member, about: Iterable[Intent]) -> FaceState:
    """Return the state of the member's face. `about`: the newest requests about the member, the newest first."""
    intents = [each for each in about if each.operation in (REGISTER, DELETE)][:4]
    newest = intents[0] if intents else None
    ready = None
    if newest and newest.operation == REGISTER and newest.state == State.SUCCEEDED and newest.finished_at:
        ready = newest.finished_at + timedelta(seconds=FACE_READY_SECONDS)
        ready = ready if ready > timezone.now() else None
    is_deleted = any(each.operation == DELETE and each.state == State.SUCCEEDED for each in intents[:2])
    return FaceState(
        is_registered=member.has_face,
        intents=intents,
        usable_from=ready,
        is_under_way=any(each.state in UNDER_WAY for each in intents),
        is_between_faces=is_deleted and not member.has_face and len(intents) > 1 and intents[0].operation == REGISTER,
    )


def _registration(member: Member, picture: CheckedPicture) -> Command:
    return _with_picture(_request(REGISTER, coded_sentence("member.register_face", name=member), member), picture)


def _deletion(member: Member) -> Command:
    title = coded_sentence("member.delete_face", name=member)
    return replace_fields(_request(DELETE, title, member), before={"face": True})


def _request(operation: str, title: Sentence, member: Member) -> Command:
    return Command(
        permission=Permission.MEMBERS_EDIT,
        operation=operation,
        target=target_of("member", member.member_id),
        title=title,
        path={"member_id": member.member_id},
    )


def _with_picture(command: Command, picture: CheckedPicture) -> Command:
    return replace_fields(command, body=picture.metadata, image=Image(picture.content), after=_audit_values(picture))


def _audit_values(picture: CheckedPicture) -> dict[str, object]:
    """Return the values that the audit log has of a picture: only its size."""
    return {"picture": f"{picture.width} × {picture.height}, {len(picture.content):,} B"}


log = structlog.get_logger(__name__)

SIDE = 320
_RETRY_AFTER = timedelta(minutes=5)
_TIMEOUT_SECONDS = 5.0


def save_portrait_address(tenant: Tenant, member_id: str, address: str | None) -> None:
    """Save the picture's address from a single read; with None, delete the picture."""
    if not address:
        Portrait.objects.filter(member_id=member_id).delete()
        return
    mark = vault.fingerprint(tenant.pk, "portrait", address).hex()[:32]
    if Portrait.objects.filter(member_id=member_id, mark=mark).exists():
        return
    fresh = {"address": address, "mark": mark, "content": None, "tried_at": None}
    Portrait.objects.update_or_create(tenant=tenant, member_id=member_id, defaults=fresh)


def delete_portraits(member_ids: list[str]) -> None:
    Portrait.objects.filter(member_id__in=member_ids).delete()


def delete_orphan_portraits(_tenant: Tenant) -> None:
    """Delete pictures whose member no longer exists. Called after each complete list of members."""
    Portrait.objects.exclude(member_id__in=Member.objects.values("member_id")).delete()


def portrait_content(tenant: Tenant, member_id: str) -> bytes | None:
    """Return the picture as a JPEG of up to 320 x 320 pixels. It is loaded on first use, which uses no API call."""
    portrait = Portrait.objects.filter(member_id=member_id).first()
    if portrait is None or portrait.content is not None:
        return portrait.content if portrait else None
    if portrait.tried_at is not None and portrait.tried_at > timezone.now() - _RETRY_AFTER:
        return None
    content = _fetch(portrait.address, tenant.environment.base_url)
    fields = Portrait.objects.filter(pk=portrait.pk, mark=portrait.mark)
    sealed = Portrait._meta.get_field("content").seal(tenant.pk, content)
    fields.update(content=sealed, tried_at=timezone.now())
    return content


def _fetch(address: str, base_url: str) -> bytes | None:
    """Load the picture, check it and make it smaller; None if it cannot be shown. The address is never logged."""
    try:
        if not _is_allowed(address, base_url):
            raise ValueError("not an address of the service or of the open internet")
        content = download(address, pictures.PROFILE_MAX, seconds=_TIMEOUT_SECONDS, accept="image/jpeg, image/png")
        return pictures.prepare_picture(content, SIDE).content
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        log.warning("portrait_not_fetched", error=type(error).__name__)
        return None


def _is_allowed(address: str, base_url: str) -> bool:
    """Check the address: the service's host, or a public host by HTTPS. Addresses of our network are refused."""
    parts, base = urlsplit(address), urlsplit(base_url)
    if parts.username or parts.password or parts.scheme not in ("http", "https"):
        return False
    if (parts.scheme, parts.hostname, parts.port) == (base.scheme, base.hostname, base.port):
        return True
    if parts.scheme != "https" or not parts.hostname:
        return False
    found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    return all(ipaddress.ip_address(str(each[4][0])).is_global for each in found)
