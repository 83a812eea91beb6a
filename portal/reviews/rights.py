"""A person's right to an area in short: a text that is equal for rights that mean the same, and words for it.

It is put together from the passes that `areas` has filed, whose digests are SHA-256 of their canonical form; a right to
every area is marked with a star. Passes that never admit are no right.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from portal.areas import grants
from portal.areas.models import EVERYWHERE, Grant, Pass
from portal.core.mirror.models import Member
from portal.core.rights import words

#: Instead of a right: the person is not in the list of members.
LEFT = "-"
#: (member ID, area ID)
Key = tuple[str, str]
_STAR = "*"


def digest_of(devices_pass: Any, area_id: str) -> str:
    """Return the right to one area in short, from rights as the service tells them; empty for none."""
    told = grants.passes({"devices_pass": devices_pass})
    held = [(area, body) for area, body in told if area in (area_id, EVERYWHERE)]
    return _joined((area, grants.digest_of(body)) for area, body in held if grants.kind_of(body) != Pass.Kind.NEVER)


def now(keys: Collection[Key]) -> dict[Key, str]:
    """Return what each of these people holds now for the area, in short: empty for nothing, LEFT for who is gone."""
    ids = {member_id for member_id, _area in keys}
    known = Member.objects.filter(member_id__in=ids, gone_at__isnull=True).values_list("pk", "member_id")
    held = of_members(dict(known), {area for _member, area in keys})
    there = set(held)
    return {key: held[key[0]].get(key[1], "") if key[0] in there else LEFT for key in keys}


def of_members(members: Mapping[int, str], area_ids: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the rights of members ({pk: member ID}) to each area, in short; areas without a right are absent."""
    rows = Grant.objects.filter(member_id__in=members, area_id__in=[*area_ids, EVERYWHERE])
    rows = rows.exclude(held__kind=Pass.Kind.NEVER)
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for pk, area_id, digest in rows.values_list("member_id", "area_id", "held__digest"):
        found[pk].append((area_id, digest))
    told = {}
    for pk, member_id in members.items():
        mine = found.get(pk, [])
        each = {area: _joined(one for one in mine if one[0] in (area, EVERYWHERE)) for area in area_ids}
        told[member_id] = {area: digest for area, digest in each.items() if digest}
    return told


def bodies(digests: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return what stands behind these texts: [{"everywhere", "pass"}] of each."""
    wanted = {digest: _split(digest) for digest in digests if digest and digest != LEFT}
    held = Pass.objects.filter(digest__in={digest for parts in wanted.values() for _star, digest in parts})
    known = dict(held.values_list("digest", "body"))
    return {
        text: [{"everywhere": star, "pass": known.get(digest)} for star, digest in parts]
        for text, parts in wanted.items()
    }


def in_words(right: Iterable[Mapping[str, Any]]) -> str:
    """Return a right in words."""
    said = [_("Every area") if each["everywhere"] else words.when(each["pass"]) for each in right]
    return " · ".join(said) or _("None")


def _joined(held: Iterable[tuple[str, str]]) -> str:
    return "+".join(sorted((_STAR if area == EVERYWHERE else "") + digest for area, digest in held))


def _split(text: str) -> list[tuple[bool, str]]:
    return [(part.startswith(_STAR), part.removeprefix(_STAR)) for part in text.split("+")]
