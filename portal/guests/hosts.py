"""Whom a guest visits: a member found by the name that is typed, or simply a name."""

import re

from portal.core.mirror import queries, search
from portal.core.mirror.folding import fold, terms
from portal.core.mirror.models import Member
from portal.guests.issuing import Host

_MOST = 12
_LABEL = re.compile(r"(.*\S)\s*\[(.+)\]\s*")


def choices(text: str) -> list[str]:
    """What the field offers for `text`: names that hold its words, with the group where names are the same.

    The desk learns no codes of members: neither does it see them, nor does a code lead to a name.
    """
    words = terms(text)
    if not words:
        return []
    found = search.members(queries.members(), text).order_by("name_key", "pk")[: _MOST * 4]
    members = [member for member in found if all(word in member.name_key for word in words)][:_MOST]
    names = [member.name_key for member in members]
    return list(dict.fromkeys(_label(member, names.count(member.name_key) > 1) for member in members))


def _label(member: Member, ambiguous: bool) -> str:
    group = member.membergroup_name
    return f"{member.member_name} [{group}]" if ambiguous and group else str(member.member_name)


def host_of(text: str) -> Host:
    """The one member of this name (and group, or code, in brackets), or a name that is nobody's."""
    text = text.strip()
    if not text:
        return Host()
    labelled = _LABEL.fullmatch(text)
    name, mark = (labelled[1], labelled[2]) if labelled else (text, "")
    alike = queries.members().filter(name_key=fold(name))
    found = list(alike[:20])
    if mark:
        found = [member for member in found if mark in (member.membergroup_name, member.member_code)]
    if len(found) == 1:
        return Host(str(found[0].member_name), found[0].member_id)
    return Host(text)
