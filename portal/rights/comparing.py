"""Two members' rights side by side, what differs first, and giving one's to others: several as a job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accessapi.permissions.passes import sort_key
from portal.core.intents.record import Asker
from portal.core.jobs import acts, bulk, kinds
from portal.core.jobs.models import Job, Row
from portal.core.mirror import queries, search
from portal.core.mirror.models import Member
from portal.core.rights import places, replacing, words
from portal.core.rights.places import Places
from portal.core.rights.reading import canonical
from portal.core.rights.weeks import Week, week_of
from portal.core.rights.words import Line
from tenants.roles import Permission
from tenants.wording import say

MOST_HITS = 20


@dataclass(frozen=True)
class Pair:
    """One place: what each of the two may do there, in words and drawn."""

    place: str
    one: str
    other: str
    same: bool
    one_week: Week | None = None
    other_week: Week | None = None


def pairs(one: Mapping[str, Any], other: Mapping[str, Any], named: Places) -> list[Pair]:
    """Every place that either names; where one has everything at once, that stands for the places of the other."""
    left, right = _placed(one, named), _placed(other, named)
    found = [_pair(key, left, right) for key in dict.fromkeys([*left, *right])]
    found += _privileges(canonical(one)["privilege"], canonical(other)["privilege"])
    return sorted(found, key=lambda pair: pair.same)


_Key = tuple[str, str, str]


def _placed(rights: Mapping[str, Any], named: Places) -> dict[_Key, Line]:
    whole = canonical(rights)
    areas, keys = words.device_lines(whole["devices_pass"], named), words.key_lines(whole["keys_pass"], named)
    lines = [*(("areas", line) for line in areas), *(("keys", line) for line in keys)]
    return {(kind, line.target, line.when if line.unknown else line.unit_no): line for kind, line in lines}


def _pair(key: _Key, left: dict[_Key, Line], right: dict[_Key, Line]) -> Pair:
    whole = (key[0], "", "")
    one, other = left.get(key) or left.get(whole), right.get(key) or right.get(whole)
    named = (left.get(key) or right[key]).place
    kinds = {"areas": _("All areas"), "keys": _("All keys")}
    same = one is not None and other is not None and sort_key(one.pass_) == sort_key(other.pass_)
    return Pair(named or kinds[key[0]], _says(one), _says(other), same, _drawn(one), _drawn(other))


def _says(line: Line | None) -> str:
    return words.upper(line.when) if line else _("Not listed")


def _drawn(line: Line | None) -> Week | None:
    """A week for schedules; always and never say enough in words."""
    if line is None or not isinstance(line.pass_, dict) or line.pass_.get("effect") != "allow" or line.unknown:
        return None
    return week_of(line.pass_)


def _privileges(one: Any, other: Any) -> list[Pair]:
    said = words.privilege_words()
    left, right = (side if isinstance(side, dict) else {"privilege": side} for side in (one, other))
    told = [(name, left.get(name), right.get(name)) for name in dict.fromkeys([*left, *right])]
    return [Pair(said.get(name, name), words.yes_no(a), words.yes_no(b), a == b) for name, a, b in told]


def hits(text: str, *, group: str = "", without: tuple[str, ...] = ()) -> QuerySet[Member]:
    """Members by name or code, or those of a group; rights come with them."""
    rows = Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode", "extra")
    if group and "\x00" not in group:
        rows = queries.in_groups(rows, [group])
    return (
        search.members(rows, text[:100].replace("\x00", "")).exclude(member_id__in=without).order_by("name_key", "pk")
    )


KIND = "copy_rights"
MOST_TARGETS = 200
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
            carrier=bulk,
            titled=lambda job: say("job.copy_rights", name=job.options.get("source", "")),
            fresh=replacing.fresh,
            unread=replacing.unread,
            changes=_changes,
            undo=True,
        )
    )
