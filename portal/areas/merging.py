"""The effect of giving or removing one area on one member's devices_pass. Functions without side effects.

An update replaces the whole devices_pass. So everything about other areas, and every value that the portal does not
know, is sent back unchanged. Giving access never removes any: access everywhere stays, and other hours for this area
stay unless `replace_hours` is set. If the entry for this area has an unknown value, the member is skipped and reported.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from accessapi.permissions import UnknownRights, always, grant_area, never, normalise_devices, withdraw_area
from accessapi.permissions.passes import Json, is_plain, merge_passes, normal_pass

_LIST = "areas_list"


class EditKind(StrEnum):
    """The kind of change for one area."""

    GRANT = "grant"
    WITHDRAW = "withdraw"
    UNDO = "undo"


class EditResult(StrEnum):
    """The result of an edit for one member."""

    CHANGES = "changes"
    LISTED = "widened"  # changes: a list of all other areas replaces "everywhere"
    UNCHANGED = "same"
    OTHER_HOURS = "other_hours"  # has other hours here and keeps them
    EVERYWHERE = "everywhere"  # has access everywhere and keeps it
    UNKNOWN = "unknown"  # has a value that the portal does not know, so it is skipped
    UNTOUCHED = "untouched"  # undo: was not changed by the job
    CHANGED_SINCE = "not_ours"  # undo: was changed again since


@dataclass(frozen=True)
class AccessEdit:
    """One area and the change of its access. `pass_` is for grants.

    `replace_hours`: members with other hours here get `pass_` instead. `include_everywhere`: members with access
    everywhere get a list of all areas, without this one (withdraw) or with `pass_` here (grant). The list does not
    include areas that are added later.
    """

    kind: EditKind
    area_id: str
    pass_: Json | None = None
    replace_hours: bool = False
    include_everywhere: bool = False


@dataclass(frozen=True)
class EditDecision:
    """The result for one member. `after` is the devices_pass to send, in canonical form; None if nothing changes."""

    result: EditResult
    after: Json | None = None

    @property
    def is_sent(self) -> bool:
        return self.after is not None


def decide(rights: Any, edit: AccessEdit, all_area_ids: Collection[str]) -> EditDecision:
    """Return what `edit` (a grant or a withdrawal) does to these rights. `all_area_ids` are all existing areas."""
    before = normalise_devices(rights)
    mode = before.get("default_mode")
    if mode not in ("allow_all", "deny_all", "option") or (
        mode == "option" and not isinstance(before.get(_LIST), list)
    ):
        return EditDecision(EditResult.UNKNOWN)
    if mode == "allow_all":
        return _decide_everywhere(before, edit, all_area_ids)
    held = pass_for_area(before, edit.area_id)
    if held is _UNKNOWN_ENTRY:
        return EditDecision(EditResult.UNKNOWN)
    if edit.kind == EditKind.WITHDRAW:
        return _decision_on_change(before, withdraw_area(before, edit.area_id))
    granted = normal_pass(edit.pass_)
    if held is not None and held != granted and not edit.replace_hours and not _admits_more(granted, held):
        return EditDecision(EditResult.OTHER_HOURS)
    return _decision_on_change(before, grant_area(before, edit.area_id, granted))


def undo(rights: Any, before: Any, after: Any, area_id: str) -> EditDecision:
    """Return the rights with the area restored to `before`, if the area still has what we wrote.

    If a list replaced "everywhere", it is restored only if nothing else was changed since.
    """
    now, former_rights, written_rights = (normalise_devices(each) for each in (rights, before, after))
    if now == former_rights:
        return EditDecision(EditResult.UNCHANGED)
    if now == written_rights:
        return EditDecision(EditResult.CHANGES, former_rights)
    if former_rights.get("default_mode") == "allow_all" or now.get("default_mode") not in ("option", "deny_all"):
        return EditDecision(EditResult.CHANGED_SINCE)
    try:
        held, written, former = (pass_for_area(each, area_id) for each in (now, written_rights, former_rights))
        if _UNKNOWN_ENTRY in (held, written, former) or held != written:
            return EditDecision(EditResult.CHANGED_SINCE)
        result = withdraw_area(now, area_id) if former is None else grant_area(now, area_id, former)
    except UnknownRights:
        return EditDecision(EditResult.UNKNOWN)
    return _decision_on_change(now, result)


class _UnknownEntry:
    """The marker for an entry that contains an unknown value."""


_UNKNOWN_ENTRY: Any = _UnknownEntry()


def pass_for_area(normal: Json, area_id: str) -> Any:
    """Return the pass for an area in normalised rights; None without one, or a marker for an unknown entry."""
    listed = normal.get(_LIST)
    entries = listed if isinstance(listed, list) else []
    matching = [entry for entry in entries if isinstance(entry, dict) and entry.get("area_id") == area_id]
    if not matching:
        return None
    plain = len(matching) == 1 and set(matching[0]) == {"area_id", "pass"} and is_plain(matching[0]["pass"])
    return matching[0]["pass"] if plain else _UNKNOWN_ENTRY


def rights_for_area(rights: Any, area_id: str) -> Json:
    """Return the rights that matter for one area, in canonical form: all except entries of other areas.

    Two readings with the same result lead to the same decision. Entries without an area may concern this one and are
    kept.
    """
    normal = normalise_devices(rights)
    listed = normal.get(_LIST)
    if not isinstance(listed, list):
        return normal
    return {**normal, _LIST: [entry for entry in listed if not _is_other_area(entry, area_id)]}


def gives_access(before: Any, after: Any, area_id: str) -> bool:
    """Return whether `after` gives access to the area that `before` did not.

    If they cannot be compared, return True.
    """
    old, new = normalise_devices(before), normalise_devices(after)
    held, granted = _pass_in_force(old, area_id), _pass_in_force(new, area_id)
    if _UNKNOWN_ENTRY in (held, granted):
        return rights_for_area(old, area_id) != rights_for_area(new, area_id) and granted is not None
    return granted is not None and (held is None or not _admits_more(held, granted))


def _pass_in_force(normal: Json, area_id: str) -> Any:
    """Return the pass that is in force for an area; None without access, or a marker if unknown."""
    match normal.get("default_mode"):
        case "allow_all":
            return always()
        case "deny_all":
            return None
        case "option" if isinstance(normal.get(_LIST), list):
            held = pass_for_area(normal, area_id)
            return None if held == never() else held
    return _UNKNOWN_ENTRY


def _is_other_area(entry: Any, area_id: str) -> bool:
    named = entry.get("area_id") if isinstance(entry, dict) else None
    return isinstance(named, str) and named != area_id


def _decide_everywhere(before: Json, edit: AccessEdit, all_area_ids: Collection[str]) -> EditDecision:
    less = edit.kind == EditKind.WITHDRAW or normal_pass(edit.pass_) != always()
    if not less or not edit.include_everywhere:
        return EditDecision(EditResult.UNCHANGED if not less else EditResult.EVERYWHERE)
    known = {*all_area_ids, edit.area_id}
    if edit.kind == EditKind.WITHDRAW:
        return EditDecision(EditResult.LISTED, withdraw_area(before, edit.area_id, all_area_ids=known))
    return EditDecision(EditResult.LISTED, grant_area(before, edit.area_id, edit.pass_ or never(), all_area_ids=known))


def _admits_more(wider: Json, narrower: Json) -> bool:
    """Return whether `wider` certainly gives access whenever `narrower` does."""
    if narrower == never() or wider == always():
        return True
    plain = is_plain(wider) and is_plain(narrower)
    return plain and merge_passes(narrower, wider) == wider


def _decision_on_change(before: Json, after: Json) -> EditDecision:
    return EditDecision(EditResult.UNCHANGED) if after == before else EditDecision(EditResult.CHANGES, after)
