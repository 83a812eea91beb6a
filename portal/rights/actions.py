"""Asking the service for other rights: what changed, whether somebody else was faster, and what to say if so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from accessapi.resources import write_moment
from portal.core.intents.actions import submit
from portal.core.intents.asking import page_of
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce, NotAsked
from portal.core.intents.record import Asker
from portal.core.jobs.bulk import under_way
from portal.core.mirror.fields.members import RIGHTS
from portal.core.mirror.models import Member
from portal.core.mirror.reading import NotRead, read_for_page
from portal.core.rights import places, reading, words
from portal.core.rights.reading import Rights, canonical, digest, same
from portal.core.rights.sheet import Sheet
from portal.core.ui.sealed import seal, unseal_or_none
from portal.rights import merging
from tenants.roles import Permission
from tenants.wording import say


def token(member: Member, read: Rights) -> str:
    """What the form was made from, for its hidden input `seen`."""
    at = write_moment(read.read_at) if read.read_at else ""
    return seal([read.told, at], f"seen {member.member_id}")


def seen(member: Member, text: str) -> Rights | None:
    """What a posted form was made from; None when it is not this member's."""
    found = unseal_or_none(text, f"seen {member.member_id}")
    if found is None:
        return None
    told, at = found
    return Rights.of(told, datetime.fromisoformat(at) if at else None)


def body_of(was: Rights, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What to send: the parts that mean something else than before, each as a whole."""
    old, new = canonical(was.told), canonical({**was.told, **wanted})
    old |= {name: value or {"default_mode": "deny_all"} for name, value in old.items() if name != "privilege"}
    return {name: new[name] for name in RIGHTS if name in wanted and not same(old[name], new[name])}


def opened_up(read: Rights | None, parts: list[str]) -> dict[str, Any]:
    """What was told, and nothing in place of what was not told where somebody wants to give some all the same."""
    told = dict(read.told) if read else {}
    for part in ("devices", "keys"):
        if part in parts and told and told[f"{part}_pass"] is None:
            told[f"{part}_pass"] = {"default_mode": "deny_all"}
    return told


def read(member: Member) -> tuple[Rights | None, str]:
    """The member's rights now, by one call; or what is known, and why it could not be read."""
    gone = _("This member no longer exists in the service.")
    try:
        return read_for_page(lambda connection: reading.fresh(connection, member.member_id), gone), ""
    except NotRead as why:
        return None if why.is_gone else reading.known(member), str(why)


@dataclass(eq=False)
class Meanwhile(NotAsked):
    """Somebody else changed the rights: what they were, what they are now, what was to be sent.

    `sheet` is what the form shows next: both together, or mine alone where they `disagree`.
    """

    was: Rights
    now: Rights
    mine: dict[str, Any]
    sheet: Sheet
    disagree: bool

    def show(self, form: Any) -> None:
        form.read, form.sheet, form.clash = self.now, self.sheet, self


def meanwhile(was: Rights, now: Rights, mine: dict[str, Any]) -> Meanwhile | None:
    """None when nothing changed meanwhile."""
    if digest(was.told) == digest(now.told):
        return None
    whole = {**was.told, **mine}
    try:
        together = merging.merge(was.told, whole, now.told)
    except merging.Disagree:
        return Meanwhile(was, now, whole, Sheet.of({**now.told, **mine}), disagree=True)
    return Meanwhile(was, now, whole, Sheet.of(together), disagree=False)


class Already(Exception):
    """The member has these rights: there is nothing to ask for."""


@dataclass
class Trouble:
    """Why nothing was sent, for the top of the form."""

    trouble: list[str] = field(default_factory=list, kw_only=True)
    refused: Intent | None = field(default=None, kw_only=True)
    fields: ClassVar[dict[str, Any]] = {}

    @property
    def errors(self) -> list[str]:
        return self.trouble

    def add_error(self, _field: str | None, error: Any) -> None:
        self.trouble.append(str(error))


@dataclass
class Editor(Trouble):
    """The editor as it is drawn: what was read, the sheet made of it, and what stands against saving it."""

    member: Member
    read: Rights | None
    sheet: Sheet
    unsaved: bool = False
    clash: Meanwhile | None = None


def change(*, member: Member, was: Rights, body: Mapping[str, Any], by: Asker, nonce: Nonce) -> Intent:
    """Ask for other rights, unless somebody was faster: raises NotAsked. Sent before, the same intent is found."""
    sent_before = Intent.objects.filter(nonce=nonce.value).exists()
    if not sent_before and (clash := meanwhile(was, _now(member), dict(body))):
        raise clash
    return send(member=member, body=body, read=was, by=by, nonce=nonce)


def give(*, member: Member, body: Mapping[str, Any], by: Asker, nonce: Nonce) -> Intent:
    """Ask for the parts in `body` in place of what the member has now. Raises Already and NotAsked."""
    now = _now(member)
    wanted = body_of(now, body)
    if not wanted:
        raise Already
    return send(member=member, body=wanted, read=now, by=by, nonce=nonce)


def send(
    *, member: Member, body: Mapping[str, Any], read: Rights, by: Asker, nonce: Nonce, inline: bool = True
) -> Intent:
    """Ask for the parts in `body` ("devices_pass", "keys_pass", "privilege"), each of which replaces the whole object.

    One intent (operation 6). `read` is what the change was made from. The audit trail gets both sides: each place that
    differs in words, then the parts verbatim as JSON.
    """
    changed = words.changes(read.told, {**read.told, **body}, places.known())
    return submit(
        by=by,
        permission=Permission.RIGHTS_EDIT,
        operation="update_member",
        target=target_of("member", member.member_id),
        title=say("member.rights", name=member),
        path={"member_id": member.member_id},
        body=dict(body),
        nonce=nonce,
        inline=inline,
        before={_name(each.place): each.before for each in changed} | {name: read.told.get(name) for name in body},
        after={_name(each.place): each.after for each in changed} | dict(body),
    )


def _name(place: str) -> str:
    """A place as a field of the audit trail. A full stop would be read as the field of a field."""
    return place.replace(".", "·") or "–"


def _now(member: Member) -> Rights:
    """What the service has now. Raises NotAsked, also while a change of many members is about this one: two who replace
    the whole rights of one member at once would undo each other.
    """
    if under_way(member.member_id):
        raise NotAsked(_("A bulk change is currently updating this member. Nothing was sent. Try again soon."))
    now, trouble = read(member)
    if now is None or trouble:
        said = _("The current rights could not be loaded, so nothing was sent.")
        raise NotAsked(f"{said} {trouble}".strip())
    return now


#: Where a change of rights leads: to the member's page.
TO_MEMBER: dict[str, Any] = {"inputs": {}, "to": partial(page_of, route="members:page", name="member_id")}
