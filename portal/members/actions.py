"""Actions of staff on a member. Each is one intent, recorded with its audit entry before anything is sent."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.people.fields import OLD_MASK
from portal.domain.people.member_fields import CARD, MEMBER, QR
from portal.domain.people.models import Member
from portal.members import queries
from portal.members.forms import plain_values_of
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import coded_sentence

Body = Mapping[str, Any]


def create(*, body: Body, by: Requester, nonce: Nonce) -> Intent:
    """Request a new member (operation 4). The snapshot helps to find the member if the answer is lost."""
    return submit(
        Command(
            permission=Permission.RIGHTS_EDIT
            if body.keys() & {"devices_pass", "keys_pass"}
            else Permission.MEMBERS_EDIT,
            operation="create_member",
            title=coded_sentence("member.create", name=body["member_name"]),
            body=dict(body),
            snapshot=queries.candidates_before(body),
            after=MEMBER.audit_values(body),
        ),
        by=by,
        nonce=nonce,
    )


def update(*, member: Member, body: Body, by: Requester, nonce: Nonce) -> Intent:
    """Request a change (operation 6) of the fields in `body` only."""
    return submit(
        Command(
            permission=Permission.RIGHTS_EDIT if "privilege" in body else Permission.MEMBERS_EDIT,
            operation="update_member",
            target=target_of("member", member.member_id),
            title=coded_sentence("member.change", name=member),
            path={"member_id": member.member_id},
            body=dict(body),
            before=values_before(member, body),
            after=MEMBER.audit_values(body),
        ),
        by=by,
        nonce=nonce,
    )


def delete(*, member: Member, by: Requester, nonce: Nonce) -> Intent:
    """Request a deletion (operation 10). The service deletes the face image with the member."""
    return submit(
        Command(
            permission=Permission.MEMBERS_DELETE,
            operation="delete_member",
            target=target_of("member", member.member_id),
            title=coded_sentence("member.delete", name=member),
            path={"member_id": member.member_id},
            before={"member_id": member.member_id, **plain_values_of(member)},
        ),
        by=by,
        nonce=nonce,
    )


def reveal(*, member: Member, what: str, by: Requester) -> str:
    """Return a secret unmasked, for a person who may see it; empty if there is none. Recorded in the audit log."""
    qrcode = member.qrcode if isinstance(member.qrcode, dict) else {}
    value = {CARD.audit_name: member.card_data, QR.audit_name: qrcode.get("data")}.get(what)
    with transaction.atomic():
        audit.record(
            **by.audit_author,
            action=f"member.reveal_{what}",
            target=target_of("member", member.member_id),
            summary=coded_sentence(f"member.reveal_{what}", name=member),
        )
    return str(value or "")


def record_export(*, by: Requester, count: int, match: str, kind: str, secrets: bool) -> None:
    """Record an export of members in the audit log, before the file is sent."""
    with transaction.atomic():
        audit.record(
            **by.audit_author,
            action="members.export",
            target="members",
            summary=coded_sentence("members.export", n=count, kind=kind.upper()),
            after={"members": count, "filter": match, "format": kind, "with_secrets": secrets},
        )


def values_before(member: Member, body: Body) -> dict[str, Any]:
    """Return the present values of the same fields.

    Masks of old and new secrets differ, so that a change is visible.
    """
    return MEMBER.audit_values({name: MEMBER[name].written_value(member) for name in body}, OLD_MASK)
