"""Giving one member's rights to others: one at once, several as a job whose rows are looked at before they are sent."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.core.intents.record import Asker
from portal.core.jobs import acts, kinds
from portal.core.jobs.models import Job, Row
from portal.core.mirror.models import Member
from portal.core.rights import places, replacing, words
from portal.core.rights.reading import canonical
from tenants.roles import Permission
from tenants.wording import say

KIND = "copy_rights"
MOST = 200
_PARTS = {"areas": "devices_pass", "keys": "keys_pass", "privileges": "privilege"}


def body_from(told: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """What a member is sent to have the same; parts that were not told are not sent."""
    whole = canonical(told)
    names = [_PARTS[part] for part in parts if part in _PARTS]
    return {name: whole[name] for name in names if told.get(name) is not None}


def open_job(*, source: Member, targets: Sequence[Member], body: Mapping[str, Any], by: Asker) -> Job:
    """A job that is looked at first. Members whose known rights are the same already are left out of it."""
    wanted = [member for member in targets if not replacing.is_same(member, body)]
    rows = [(member.member_id, dict(body), replacing.old(member, body)) for member in wanted]
    return acts.prepare(
        kind=KIND,
        by=by,
        rows=rows,
        permission=Permission.RIGHTS_EDIT,
        options={"source": source.member_name},
        unchanged=len(targets) - len(wanted),
    )


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
            fresh=replacing.fresh,
            unread=replacing.unread,
            changes=_changes,
            undo=True,
        )
    )
