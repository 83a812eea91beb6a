"""Compare the rights of two members, copy them to others, and merge two people's changes.

Changes of the same rights are merged if they are about different places. `old_rights` are what the person started
from, `current_rights` what the service has. Areas are merged one by one, key boxes as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accessapi.permissions import normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, sort_key
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds
from portal.domain.jobs.models import Job, Row
from portal.domain.people import queries
from portal.domain.people.models import Member
from portal.domain.rights import replacing, words
from portal.domain.rights.member_rights import canonical
from portal.domain.rights.schedules import Week, week_of
from portal.domain.rights.words import PlaceNames, RightsLine
from tenants.roles import Permission
from tenants.sentences import coded_sentence

MAX_HITS = 20


@dataclass(frozen=True)
class PlacePair:
    """A place with the rights of both members, as text and as a week."""

    place: str
    one: str
    other: str
    is_same: bool
    one_week: Week | None = None
    other_week: Week | None = None


def compare(one: Mapping[str, Any], other: Mapping[str, Any], named: PlaceNames) -> list[PlacePair]:
    """Return every place that one of them has rights to.

    A right to all places counts for the other member's places, too.
    """
    left, right = _lines_by_place(one, named), _lines_by_place(other, named)
    found = [_pair(key, left, right) for key in dict.fromkeys([*left, *right])]
    found += _privileges(canonical(one)["privilege"], canonical(other)["privilege"])
    return sorted(found, key=lambda pair: pair.is_same)


_Key = tuple[str, str, str]


def _lines_by_place(rights: Mapping[str, Any], named: PlaceNames) -> dict[_Key, RightsLine]:
    parts = canonical(rights)
    areas, keys = words.device_lines(parts["devices_pass"], named), words.key_lines(parts["keys_pass"], named)
    lines = [*(("areas", line) for line in areas), *(("keys", line) for line in keys)]
    return {(kind, line.target, line.when if line.is_unknown else line.unit_no): line for kind, line in lines}


def _pair(key: _Key, left: dict[_Key, RightsLine], right: dict[_Key, RightsLine]) -> PlacePair:
    everywhere = (key[0], "", "")
    one, other = left.get(key) or left.get(everywhere), right.get(key) or right.get(everywhere)
    named = (left.get(key) or right[key]).place
    kinds = {"areas": _("All areas"), "keys": _("All keys")}
    same = one is not None and other is not None and sort_key(one.pass_) == sort_key(other.pass_)
    return PlacePair(named or kinds[key[0]], _line_text(one), _line_text(other), same, _week(one), _week(other))


def _line_text(line: RightsLine | None) -> str:
    return words.capitalise(line.when) if line else _("Not listed")


def _week(line: RightsLine | None) -> Week | None:
    """Return the week of a schedule; None for "always" and "never", which need no drawing."""
    if line is None or not isinstance(line.pass_, dict) or line.pass_.get("effect") != "allow" or line.is_unknown:
        return None
    return week_of(line.pass_)


def _privileges(one: Any, other: Any) -> list[PlacePair]:
    texts = words.privilege_words()
    left, right = (side if isinstance(side, dict) else {"privilege": side} for side in (one, other))
    values = [(name, left.get(name), right.get(name)) for name in dict.fromkeys([*left, *right])]
    return [PlacePair(texts.get(name, name), words.yes_no(a), words.yes_no(b), a == b) for name, a, b in values]


def find_members(text: str, *, group: str = "", exclude: tuple[str, ...] = ()) -> QuerySet[Member]:
    """Return members by name or code, or those of a group, with their rights."""
    rows = Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode", "extra")
    if group and "\x00" not in group:
        rows = queries.filter_by_groups(rows, [group])
    return (
        queries.search_members(rows, text[:100].replace("\x00", ""))
        .exclude(member_id__in=exclude)
        .order_by("name_key", "pk")
    )


KIND = "copy_rights"
MAX_TARGETS = 200
_PARTS = {"areas": "devices_pass", "keys": "keys_pass", "privileges": "privilege"}


def body_of(rights: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """Return the body that gives a member the same rights. Unknown parts are left out."""
    all_parts = canonical(rights)
    names = [_PARTS[part] for part in parts if part in _PARTS]
    return {name: all_parts[name] for name in names if rights.get(name) is not None}


def prepare_job(*, source: Member, targets: Sequence[Member], body: Mapping[str, Any], by: Requester) -> Job:
    """Create a job that is checked before it starts. Members who are known to have these rights are left out."""
    recipients = [member for member in targets if not replacing.is_same(member, body)]
    rows = [(member.member_id, dict(body), replacing.current_parts(member, body)) for member in recipients]
    return actions.prepare(
        kind=KIND,
        by=by,
        rows=rows,
        permission=Permission.RIGHTS_EDIT,
        options={"source": source.member_name},
        unchanged=len(targets) - len(recipients),
    )


def _changes(row: Row) -> list[tuple[str, str, str]]:
    content, named = row.content or {}, replacing.place_names(row.job)
    old, body = content.get("old", {}), content.get("body", {})
    if not any(value is not None for value in old.values()):
        return [(_("Rights"), _("not loaded yet"), words.summary_text(body, named))]
    return [(each.place, each.before, each.after) for each in words.differences(old, {**old, **body}, named)]


COPY = kinds.JobKind(
    name=KIND,
    permission=Permission.RIGHTS_EDIT,
    executor=bulk_executor,
    title_of=lambda job: coded_sentence("job.copy_rights", name=job.options.get("source", "")),
    decide_rows=replacing.check_again,
    rows_to_read=replacing.rows_to_read,
    changes=_changes,
    can_undo=True,
)


_Entries = dict[str, list[Any]]


class MergeConflict(Exception):
    """Raised when both changed the same place differently, or one changed all places at once. A person must decide."""


def merge_changes(
    old_rights: Mapping[str, Any], edited_rights: Mapping[str, Any], current_rights: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `current_rights` with the changes from `old_rights` to `edited_rights`. Raises MergeConflict."""
    old, edited, current = canonical(old_rights), canonical(edited_rights), canonical(current_rights)
    return {
        "devices_pass": _merge_part(old, edited, current, "devices_pass"),
        "keys_pass": _merge_part(old, edited, current, "keys_pass"),
        "privilege": _merge_privilege(old["privilege"], edited["privilege"], current["privilege"]),
    }


def _merge_part(old_rights: Json, edited_rights: Json, current_rights: Json, name: str) -> Any:
    old, edited, current = (side[name] for side in (old_rights, edited_rights, current_rights))
    if sort_key(edited) == sort_key(old) or edited is None:
        return current
    if sort_key(current) == sort_key(old) or sort_key(current) == sort_key(edited):
        return edited
    list_name, identifier = _LISTS[name]
    opened = [_entries_by_id(side, list_name, identifier) for side in (old, edited, current)]
    merged = _merge_entries(*opened)
    others = {key: value for key, value in current.items() if key not in ("default_mode", list_name)}
    result = {
        **others,
        "default_mode": "option",
        list_name: [entry for entries in merged.values() for entry in entries],
    }
    return normalise_devices(result) if name == "devices_pass" else normalise_keys(result)


_LISTS = {"devices_pass": ("areas_list", "area_id"), "keys_pass": ("key_devices_list", "key_device_id")}


def _entries_by_id(rights: Any, list_name: str, identifier: str) -> _Entries:
    """Return entries by the place they are about. Entries without a known place are kept separate."""
    mode = rights.get("default_mode") if isinstance(rights, dict) else None
    if mode == "deny_all":
        return {}
    if mode != "option" or not isinstance(rights.get(list_name), list):
        raise MergeConflict
    found: _Entries = {}
    for entry in rights[list_name]:
        name = entry.get(identifier) if isinstance(entry, dict) else None
        found.setdefault(name if isinstance(name, str) else f"\0{sort_key(entry)}", []).append(entry)
    return found


def _merge_entries(old: _Entries, edited: _Entries, current: _Entries) -> _Entries:
    merged = {}
    for name in dict.fromkeys([*current, *edited]):
        old_key, edited_key, current_key = (sort_key(side.get(name, [])) for side in (old, edited, current))
        if edited_key != old_key and current_key not in (old_key, edited_key):
            raise MergeConflict
        merged[name] = (current if edited_key == old_key else edited).get(name, [])
    return merged


def _merge_privilege(old: Any, edited: Any, current: Any) -> Any:
    if edited == old or not all(isinstance(side, dict) for side in (old, edited, current)):
        return current if edited == old else edited
    return {**current, **{name: value for name, value in edited.items() if value != old.get(name)}}
