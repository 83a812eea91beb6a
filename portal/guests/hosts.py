"""Whom a guest visits: a member found by the name that is typed, or simply a name."""

import re

from portal.guests.issuing import Host
from portal.mirror import queries, search
from portal.mirror.folding import fold
from portal.mirror.models import Member

_MOST = 12
_LABEL = re.compile(r"(.*\S)\s*\[(.+)\]\s*")


def choices(text: str) -> list[str]:
    """What the field offers for `text`: names, with the member's code or group where names are the same."""
    found = search.members(queries.members(), text).order_by("name_key", "pk")[:_MOST] if text.strip() else []
    members = list(found)
    names = [member.name_key for member in members]
    return [_label(member, names.count(member.name_key) > 1) for member in members]


def _label(member: Member, ambiguous: bool) -> str:
    mark = member.member_code or member.member_id
    return f"{member.member_name} [{mark}]" if ambiguous else str(member.member_name)


def host_of(text: str) -> Host:
    """The one member of this name (and code, in brackets), or a name that is nobody's."""
    text = text.strip()
    if not text:
        return Host()
    labelled = _LABEL.fullmatch(text)
    name, mark = (labelled[1], labelled[2]) if labelled else (text, "")
    alike = queries.members().filter(name_key=fold(name))
    found = list(alike[:20])
    if mark:
        found = [member for member in found if mark in (member.member_code, member.member_id)]
    if len(found) == 1:
        return Host(str(found[0].member_name), found[0].member_id)
    return Host(text)
