"""Giving one member's rights to others: one at once, several as a job whose rows are looked at before they are sent."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.jobs import acts, kinds
from portal.core.jobs.models import Job, Row
from portal.core.mirror.models import Member
from portal.core.rights import places, words
from portal.core.rights.digests import canonical, same
from portal.core.timers.clock import database_now
from tenants.roles import Permission
from tenants.wording import say

KIND = "copy_rights"
MOST = 200
#: Rights read longer ago than this are read again before they are replaced.
FRESH = timedelta(minutes=15)
_PARTS = {"areas": "devices_pass", "keys": "keys_pass", "privileges": "privilege"}


def body_from(told: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """What a member is sent to have the same; parts that were not told are not sent."""
    whole = canonical(told)
    names = [_PARTS[part] for part in parts if part in _PARTS]
    return {name: whole[name] for name in names if told.get(name) is not None}


def differs(member: Member, body: Mapping[str, Any]) -> bool | None:
    """Whether sending `body` would change anything; None while the member's rights are not known."""
    if member.rights is None:
        return None
    now = canonical(member.rights)
    return any(not same(now[name] or {"default_mode": "deny_all"}, body[name]) for name in body)


def open_job(*, source: Member, targets: Sequence[Member], body: Mapping[str, Any], by: Asker) -> Job:
    """A job that is looked at first. Members whose known rights are the same already are left out of it."""
    wanted = [member for member in targets if differs(member, body) is not False]
    rows = [(member.member_id, dict(body), _old(member, body)) for member in wanted]
    return acts.prepare(
        kind=KIND,
        by=by,
        rows=rows,
        permission=Permission.RIGHTS_EDIT,
        options={"source": source.member_name},
        unchanged=len(targets) - len(wanted),
    )


def _old(member: Member, body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (member.rights or {}).get(name) for name in body}


def _unread(job: Job, rows: Sequence[Row]) -> set[int]:
    known = _members(rows)
    edge = database_now() - FRESH
    return {
        row.pk
        for row in rows
        if (member := known.get(row.member_id)) is None
        or member.rights is None
        or member.rights_read_at is None
        or member.rights_read_at < edge
    }


def _fresh(job: Job, rows: Sequence[Row]) -> dict[int, kinds.Fresh]:
    """What was looked at is what is replaced: rights that changed since the preview are left alone and reported."""
    known = _members(rows)
    found: dict[int, kinds.Fresh] = {}
    for row in rows:
        member, content = known.get(row.member_id), row.content or {}
        body = content.get("body", {})
        if member is None or member.gone_at is not None:
            found[row.pk] = kinds.Skip("gone")
        elif differs(member, body) is False:
            found[row.pk] = kinds.Already()
        elif _moved(member, content.get("old", {})):
            found[row.pk] = kinds.Skip("meanwhile")
        else:
            found[row.pk] = kinds.Send(body, _old(member, body))
    return found


def _moved(member: Member, old: Mapping[str, Any]) -> bool:
    """Whether the rights are no longer those of the preview. Where nothing was known then, they are not."""
    seen = {name: value for name, value in old.items() if value is not None}
    was, now = canonical({**(member.rights or {}), **seen}), canonical(member.rights or {})
    return any(not same(was[name], now[name]) for name in seen)


def _members(rows: Sequence[Row]) -> dict[str, Member]:
    found = Member.objects.filter(member_id__in=[row.member_id for row in rows]).defer("card_data", "qrcode")
    return {member.member_id: member for member in found}


def _changes(row: Row) -> list[tuple[str, str, str]]:
    content = row.content or {}
    old, body = content.get("old", {}), content.get("body", {})
    if not any(value is not None for value in old.values()):
        return [(_("Rights"), _("not loaded yet"), words.sentence(body.get("devices_pass"), body.get("keys_pass")))]
    named = places.known()
    return [(each.place, each.before, each.after) for each in words.changes(old, {**old, **body}, named)]


def register() -> None:
    kinds.register(
        kinds.Kind(
            name=KIND,
            permission=Permission.RIGHTS_EDIT,
            titled=lambda job: say("job.copy_rights", name=job.options.get("source", "")),
            fresh=_fresh,
            unread=_unread,
            changes=_changes,
            undo=True,
        )
    )
