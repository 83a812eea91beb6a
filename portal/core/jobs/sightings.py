"""Telling from a complete list of members what a request whose answer was lost has done.

A created member is recognised by everything that was sent and that the list shows: name, code, group and card. It
counts only if the mirror did not know it before the request was sent. Whatever is not plain is left to a person.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from portal.core.jobs.models import Row
from portal.core.mirror.fields.members import MEMBER, RIGHTS
from portal.core.mirror.folding import fold
from portal.core.mirror.models import Member
from portal.core.mirror.rows import MemberReader
from tenants.scope import current_tenant_id

Signature = tuple[str, str, str, bytes]


@dataclass
class Found:
    """Rows by what the list proves: there (with the member's ID), not there, or not clear. `hidden`: what was sent of
    them is shown by no list.
    """

    present: dict[int, str] = field(default_factory=dict)
    absent: list[int] = field(default_factory=list)
    unclear: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)


def snapshot(rows: Sequence[Row]) -> dict[str, Any]:
    """Whom the mirror knows, before sending, that could later be taken for one of these new members."""
    return {"known": sorted(member.member_id for member in _alike(rows))}


def created(rows: Sequence[Row], known: Iterable[str]) -> Found:
    """Which of the new members are there. `known`: the IDs of the snapshot, and those that other rows already have."""
    before, reader, found = set(known), MemberReader(current_tenant_id()), Found()
    fresh = [member for member in _alike(rows) if member.member_id not in before]
    by_signature: dict[Signature, list[str]] = defaultdict(list)
    for member in sorted(fresh, key=lambda each: each.pk):
        by_signature[_of_member(member)].append(member.member_id)
    wanted: dict[Signature, list[Row]] = defaultdict(list)
    for row in rows:
        wanted[_of_row(row, reader)].append(row)
    codes = {member.member_code for member in fresh if member.member_code}
    cards = {bytes(member.card_fingerprint) for member in fresh if member.card_fingerprint}
    names = {member.name_key for member in fresh}
    for signature, alikes in wanted.items():
        there = by_signature.get(signature, [])
        name, code, _group, card = signature
        alike = (code and code in codes) or (card and card in cards) or (not code and not card and name in names)
        if len(there) == len(alikes):
            found.present.update(zip((row.pk for row in alikes), there, strict=True))
        elif there or alike:
            found.unclear += [row.pk for row in alikes]
        else:
            found.absent += [row.pk for row in alikes]
    return found


Same = Callable[[Row, Member], bool | None]


def changed(rows: Sequence[Row], shows: Same | None = None) -> Found:
    """Which of the changes are there. A change may be sent again, unless it would send a QR code by e-mail again."""
    members = {m.member_id: m for m in Member.objects.filter(member_id__in=[row.member_id for row in rows])}
    found = Found()
    for row in rows:
        member = members.get(row.member_id)
        there = None if member is None else shows(row, member) if shows is not None else _shows(row, member)
        if there:
            found.present[row.pk] = row.member_id
        elif (row.content["body"].get("qrcode") or {}).get("email"):
            found.unclear.append(row.pk)
        elif there is None and member is not None:
            found.hidden.append(row.pk)
        else:
            found.absent.append(row.pk)
    return found


def _shows(row: Row, member: Member) -> bool | None:
    """Whether the member has all of the row's values; None when it has those that lists show, and others were sent."""
    body, present = row.content["body"], MEMBER.written(member)
    listed = all(MEMBER.same(name, value, present[name]) for name, value in body.items() if name not in RIGHTS)
    return None if listed and body.keys() & set(RIGHTS) else listed


def deleted(rows: Sequence[Row]) -> Found:
    """Which of the members are no longer there."""
    there = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    left = set(there.values_list("member_id", flat=True))
    return Found(
        present={row.pk: row.member_id for row in rows if row.member_id not in left},
        absent=[row.pk for row in rows if row.member_id in left],
    )


def _alike(rows: Sequence[Row]) -> list[Member]:
    """Members with the code, the card or the name of one of the rows."""
    reader = MemberReader(current_tenant_id())
    bodies = [row.content["body"] for row in rows]
    codes = {fold(body["member_code"]) for body in bodies if body.get("member_code")}
    cards = {reader.card_fingerprint(body["card_data"]) for body in bodies if body.get("card_data")}
    names = {fold(body["member_name"]) for body in bodies}
    columns = ("id", "tenant_id", "member_id", "name_key", "member_code", "membergroup_id", "card_fingerprint")
    found: dict[int, Member] = {}
    for wanted in (Q(code_key__in=codes), Q(has_card=True, card_fingerprint__in=cards), Q(name_key__in=names)):
        for member in Member.objects.filter(wanted, gone_at__isnull=True).only(*columns):
            found[member.pk] = member
    return list(found.values())


def _of_member(member: Member) -> Signature:
    return member.name_key, member.member_code, member.membergroup_id, bytes(member.card_fingerprint or b"")


def _of_row(row: Row, reader: MemberReader) -> Signature:
    body = row.content["body"]
    card = body.get("card_data")
    return (
        fold(body["member_name"]),
        body.get("member_code", ""),
        body["membergroup_id"],
        reader.card_fingerprint(card) if card else b"",
    )
