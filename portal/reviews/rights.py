"""Digests of a person's right to an area: rights with the same meaning have the same text. Also their wording.

A digest consists of the digests of the passes in `areas` (SHA-256 of their canonical form). A right to every area is
marked with a star. Passes that never allow access do not count as a right.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.areas import grants
from portal.areas.models import EVERYWHERE, Grant, Pass
from portal.domain.mirror.models import Member
from portal.domain.rights import words

# In place of a digest: the person is no longer in the list of members.
LEFT = "-"
# In place of a digest: the person is a member, but their rights are not loaded (for example after they came back).
UNREAD = "?"
# There is no right to decide about.
NO_RIGHT = ("", LEFT, UNREAD)
#: (member ID, area ID)
RightKey = tuple[str, str]
_STAR = "*"


def right_digest(devices_pass: Any, area_id: str) -> str:
    """Return the digest of the right to one area, from rights in the service's format; empty if there is none."""
    told = grants.passes_by_area({"devices_pass": devices_pass})
    held = [(area, body) for area, body in told if area in (area_id, EVERYWHERE)]
    return _join((area, grants.pass_digest(body)) for area, body in held if grants.pass_kind(body) != Pass.Kind.NEVER)


def current_rights(keys: Collection[RightKey]) -> dict[RightKey, str]:
    """Return the digest of each person's present right to the area.

    It is empty for no right, LEFT if the person is not a member any more, and UNREAD if their rights are not loaded.
    """
    ids = {member_id for member_id, _area in keys}
    there = Member.objects.filter(member_id__in=ids, gone_at__isnull=True).only("member_id", "rights_read_at")
    return rights_of_keys(keys, list(there))


def rights_of_keys(keys: Collection[RightKey], members: Sequence[Member]) -> dict[RightKey, str]:
    """Return the same for `members`, the rows of those people who are still members."""
    is_read = {member.member_id: member.rights_read_at is not None for member in members}
    held = rights_of_members({member.pk: member.member_id for member in members}, {area for _member, area in keys})
    return {key: _current_right(key, held, is_read) for key in keys}


def _current_right(key: RightKey, held: Mapping[str, Mapping[str, str]], is_read: Mapping[str, bool]) -> str:
    member_id, area_id = key
    if member_id not in is_read:
        return LEFT
    return held[member_id].get(area_id, "") if is_read[member_id] else UNREAD


def rights_of_members(members: Mapping[int, str], area_ids: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the digests of members' ({pk: member ID}) rights by area. Areas without a right are left out."""
    rows = Grant.objects.filter(member_id__in=members, area_id__in=[*area_ids, EVERYWHERE])
    rows = rows.exclude(held__kind=Pass.Kind.NEVER)
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for pk, area_id, digest in rows.values_list("member_id", "area_id", "held__digest"):
        found[pk].append((area_id, digest))
    told = {}
    for pk, member_id in members.items():
        mine = found.get(pk, [])
        each = {area: _join(one for one in mine if one[0] in (area, EVERYWHERE)) for area in area_ids}
        told[member_id] = {area: digest for area, digest in each.items() if digest}
    return told


def passes_behind(digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the passes of each digest: [{"everywhere", "pass"}]."""
    wanted = {digest: _split(digest) for digest in digests if digest not in NO_RIGHT}
    held = Pass.objects.filter(digest__in={digest for parts in wanted.values() for _star, digest in parts})
    known = dict(held.values_list("digest", "body"))
    return {
        text: [{"everywhere": star, "pass": known.get(digest)} for star, digest in parts]
        for text, parts in wanted.items()
    }


def right_text(right: Iterable[Mapping[str, Any]]) -> str:
    """Return a right as text."""
    said = [_("Every area") if each["everywhere"] else words.pass_text(each["pass"]) for each in right]
    return " · ".join(said) or _("None")


def _join(held: Iterable[tuple[str, str]]) -> str:
    return "+".join(sorted((_STAR if area == EVERYWHERE else "") + digest for area, digest in held))


def _split(text: str) -> list[tuple[bool, str]]:
    return [(part.startswith(_STAR), part.removeprefix(_STAR)) for part in text.split("+")]
