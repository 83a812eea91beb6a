"""From a posted editor to an intent: what changed, whether somebody else was faster, and what to say if so."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accessapi.resources import write_moment
from portal.core.intents import meanings
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason
from portal.core.mirror import fresh
from portal.core.mirror.models import Member
from portal.core.rights import reading
from portal.core.rights.digests import NAMES, NotOurs, canonical, digest, opened, same, seal
from portal.core.rights.reading import Rights
from portal.core.rights.sheet import Sheet
from portal.core.ui.sentences import joined
from portal.rights import merging


def token(member: Member, read: Rights) -> str:
    """What the form was made from, for its hidden input `seen`."""
    at = write_moment(read.read_at) if read.read_at else ""
    return seal([member.member_id, read.told, at], "seen")


def seen(member: Member, text: str) -> Rights | None:
    """What a posted form was made from; None when it is not this member's."""
    try:
        member_id, told, at = opened(text, "seen")
        if member_id != member.member_id:
            return None
        return Rights.of(told, datetime.fromisoformat(at) if at else None)
    except (NotOurs, ValueError, TypeError, AttributeError):
        return None


def body_of(was: Rights, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What to send: the parts that mean something else than before, each as a whole."""
    old, new = canonical(was.told), canonical({**was.told, **wanted})
    old |= {name: value or {"default_mode": "deny_all"} for name, value in old.items() if name != "privilege"}
    return {name: new[name] for name in NAMES if name in wanted and not same(old[name], new[name])}


def opened_up(read: Rights | None, parts: list[str]) -> dict[str, Any]:
    """What was told, and nothing in place of what was not told where somebody wants to give some all the same."""
    told = dict(read.told) if read else {}
    for part in ("devices", "keys"):
        if part in parts and told and told[f"{part}_pass"] is None:
            told[f"{part}_pass"] = {"default_mode": "deny_all"}
    return told


def read(member: Member) -> tuple[Rights | None, str]:
    """The member's rights now, by one call; or what is known, and why it could not be read."""
    gone = _("The service does not know this member any more.")
    try:
        return fresh.read(lambda connection: reading.fresh(connection, member.member_id), gone), ""
    except fresh.NotRead as why:
        return None if why.is_gone else reading.known(member), str(why)


@dataclass(frozen=True)
class Meanwhile:
    """Somebody else changed the rights: what they were, what they are now, what was to be sent.

    `sheet` is what the form shows next: both together, or mine alone where they `disagree`.
    """

    was: Rights
    now: Rights
    mine: dict[str, Any]
    sheet: Sheet
    disagree: bool


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


def busy() -> str:
    """Two who replace the whole rights of one member at once would undo each other."""
    return _("A change of many members is about this member at this moment. Nothing was sent; try again soon.")


def refusal(intent: Intent) -> str:
    """Why an intent was surely not applied: the service's words and code, else ours."""
    code = f"({intent.error_code})" if intent.error_code else ""
    said = f"{intent.error_detail} {code}".strip()
    ours = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    if intent.reason == Reason.REFUSED and said:
        refused, words = _("The service refused this. Nothing was changed."), _("The service said: “%(words)s”")
        return joined([refused, words % {"words": said}, meanings.missing_permission(intent)])
    return joined([ours, _("Nothing was changed.")])
