"""What staff do to a member. Each is one intent, recorded with its audit row before anything is sent."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from portal.core.intents.actions import Asker, submit
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce
from portal.core.mirror.fields.members import CARD, MEMBER, QR
from portal.core.mirror.fields.values import OLD
from portal.core.mirror.models import Member
from portal.members import sightings
from portal.members.forms import seen_of
from tenants import audit
from tenants.roles import Permission
from tenants.wording import say

Body = Mapping[str, Any]


def create(*, body: Body, by: Asker, nonce: Nonce) -> Intent:
    """Ask the service for a new member (operation 4). The snapshot lets a lost answer be resolved by reading."""
    return submit(
        by=by,
        permission=Permission.RIGHTS_EDIT if body.keys() & {"devices_pass", "keys_pass"} else Permission.MEMBERS_EDIT,
        operation="create_member",
        title=say("member.create", name=body["member_name"]),
        body=dict(body),
        snapshot=sightings.snapshot(body),
        nonce=nonce,
        after=MEMBER.audited(body),
    )


def update(*, member: Member, body: Body, by: Asker, nonce: Nonce) -> Intent:
    """Ask for a change (operation 6) of the fields in `body` and of no others."""
    return submit(
        by=by,
        permission=Permission.RIGHTS_EDIT if "privilege" in body else Permission.MEMBERS_EDIT,
        operation="update_member",
        target=target_of("member", member.member_id),
        title=say("member.change", name=member),
        path={"member_id": member.member_id},
        body=dict(body),
        nonce=nonce,
        before=before(member, body),
        after=MEMBER.audited(body),
    )


def delete(*, member: Member, by: Asker, nonce: Nonce) -> Intent:
    """Ask for a deletion (operation 10). The service deletes the face image with the member."""
    return submit(
        by=by,
        permission=Permission.MEMBERS_DELETE,
        operation="delete_member",
        target=target_of("member", member.member_id),
        title=say("member.delete", name=member),
        path={"member_id": member.member_id},
        nonce=nonce,
        before={"member_id": member.member_id, **seen_of(member)},
    )


def reveal(*, member: Member, what: str, by: Asker) -> str:
    """A secret in clear, for a person who may see it; written into the audit trail. Empty when there is none."""
    qrcode = member.qrcode if isinstance(member.qrcode, dict) else {}
    value = {CARD.trail: member.card_data, QR.trail: qrcode.get("data")}.get(what)
    with transaction.atomic():
        audit.record(
            **by.author,
            action=f"member.reveal_{what}",
            target=target_of("member", member.member_id),
            summary=say(f"member.reveal_{what}", name=member),
        )
    return str(value or "")


def exported(*, by: Asker, count: int, match: str, kind: str, secrets: bool) -> None:
    """Write down that somebody took a list of members with them, before they get it."""
    with transaction.atomic():
        audit.record(
            **by.author,
            action="members.export",
            target="members",
            summary=say("members.export", n=count, kind=kind.upper()),
            after={"members": count, "filter": match, "format": kind, "with_secrets": secrets},
        )


def before(member: Member, body: Body) -> dict[str, Any]:
    """The same fields as they were. An old secret's mask differs from a new one's: a change shows as one."""
    return MEMBER.audited({name: MEMBER[name].written(member) for name in body}, OLD)
