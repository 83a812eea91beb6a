"""Asking the service for other rights. Whether they changed meanwhile is asked before (`saving.py`)."""

from collections.abc import Mapping
from typing import Any

from portal.core.budget.priorities import Priority
from portal.core.intents.actions import Asker, submit
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce
from portal.core.mirror.models import Member
from portal.core.rights import places, words
from portal.core.rights.places import Places
from portal.core.rights.reading import Rights
from tenants.roles import Permission
from tenants.wording import say


def change(
    *,
    member: Member,
    body: Mapping[str, Any],
    read: Rights,
    by: Asker,
    nonce: Nonce,
    priority: Priority = Priority.PEOPLE,
    inline: bool = True,
    known: Places | None = None,
) -> Intent:
    """Ask for the parts in `body` ("devices_pass", "keys_pass", "privilege"), each of which replaces the whole object.

    One intent (operation 6). `read` is what the change was made from; the audit trail gets both in words and as JSON.
    `known` saves the two queries where many are changed at once.
    """
    before, after = audited(read.told, {**read.told, **body}, known or places.known(), list(body))
    return submit(
        by=by,
        permission=Permission.RIGHTS_EDIT,
        operation="update_member",
        target=target_of("member", member.member_id),
        title=say("member.rights", name=member),
        path={"member_id": member.member_id},
        body=dict(body),
        nonce=nonce,
        priority=priority,
        inline=inline,
        before=before,
        after=after,
    )


def audited(
    before: Mapping[str, Any], after: Mapping[str, Any], known: Places, parts: list[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides of an audit entry: each place that differs in words, then the parts verbatim as JSON."""
    parts = parts if parts is not None else [name for name in after if before.get(name) != after.get(name)]
    changed = words.changes(before, after, known)
    old = {_name(each.place): each.before for each in changed} | {name: before.get(name) for name in parts}
    new = {_name(each.place): each.after for each in changed} | {name: after.get(name) for name in parts}
    return old, new


def _name(place: str) -> str:
    """A place as a field of the audit trail. A full stop would be read as the field of a field."""
    return place.replace(".", "·") or "–"
