"""What giving or taking one area does to one member's devices_pass. Pure: rights in, a verdict out.

An update replaces the whole of devices_pass, so what is sent is the whole: everything about other areas, and every
value that the portal does not know, goes back as it came. Giving never takes away: whoever may enter everywhere keeps
that, and whoever has other hours here keeps those unless `replace` says otherwise. Where an entry for this very area
holds a value that nobody knows, nothing is decided: it is left and reported.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from accessapi.permissions import UnknownRights, always, grant_area, never, normalise_devices, withdraw_area
from accessapi.permissions.passes import Json, is_plain, merge_passes, normal_pass

_LIST = "areas_list"


class Act(StrEnum):
    """What is asked for one area."""

    GRANT = "grant"
    WITHDRAW = "withdraw"
    UNDO = "undo"


class Effect(StrEnum):
    """What would become of one member."""

    CHANGES = "changes"
    WIDENED = "widened"  # changes, and "everywhere" becomes a list of all other areas
    SAME = "same"
    OTHER_HOURS = "other_hours"  # has other hours here, and keeps them
    EVERYWHERE = "everywhere"  # may enter everywhere, and keeps that
    UNKNOWN = "unknown"  # holds a value that the portal does not know: nobody can decide
    UNTOUCHED = "untouched"  # undo: it was not changed in the first place
    NOT_OURS = "not_ours"  # undo: what was written is not what stands there any more


@dataclass(frozen=True)
class Wish:
    """One area and what shall hold there. `pass_` is for grants.

    `replace`: members with other hours here get `pass_` instead. `everywhere`: members who may enter everywhere get a
    list of all areas but this one (withdraw) or with `pass_` here (grant); areas added later are then not included.
    """

    act: Act
    area_id: str
    pass_: Json | None = None
    replace: bool = False
    everywhere: bool = False


@dataclass(frozen=True)
class Verdict:
    """`after` is the devices_pass to send where something changes, in canonical form."""

    effect: Effect
    after: Json | None = None

    @property
    def sends(self) -> bool:
        return self.after is not None


def judge(rights: Any, wish: Wish, all_area_ids: Collection[str]) -> Verdict:
    """What `wish` (a grant or a withdrawal) does to rights as read; `all_area_ids` are the areas that exist."""
    before = normalise_devices(rights)
    mode = before.get("default_mode")
    if mode not in ("allow_all", "deny_all", "option") or (
        mode == "option" and not isinstance(before.get(_LIST), list)
    ):
        return Verdict(Effect.UNKNOWN)
    if mode == "allow_all":
        return _from_everywhere(before, wish, all_area_ids)
    held = entry_of(before, wish.area_id)
    if held is _STRANGE:
        return Verdict(Effect.UNKNOWN)
    if wish.act == Act.WITHDRAW:
        return _changed(before, withdraw_area(before, wish.area_id))
    wanted = normal_pass(wish.pass_)
    if held is not None and held != wanted and not wish.replace and not _admits_more(wanted, held):
        return Verdict(Effect.OTHER_HOURS)
    return _changed(before, grant_area(before, wish.area_id, wanted))


def undo(rights: Any, before: Any, after: Any, area_id: str) -> Verdict:
    """Give back what one area had before our change, where what we wrote for it still stands.

    A member whose "everywhere" became a list gets it back only if nothing else was changed since.
    """
    now, was, ours = (normalise_devices(each) for each in (rights, before, after))
    if now == was:
        return Verdict(Effect.SAME)
    if now == ours:
        return Verdict(Effect.CHANGES, was)
    if was.get("default_mode") == "allow_all" or now.get("default_mode") not in ("option", "deny_all"):
        return Verdict(Effect.NOT_OURS)
    try:
        held, written, former = (entry_of(each, area_id) for each in (now, ours, was))
        if _STRANGE in (held, written, former) or held != written:
            return Verdict(Effect.NOT_OURS)
        given = withdraw_area(now, area_id) if former is None else grant_area(now, area_id, former)
    except UnknownRights:
        return Verdict(Effect.UNKNOWN)
    return _changed(now, given)


class _Strange:
    """An entry for the area that holds what nobody knows."""


_STRANGE: Any = _Strange()


def entry_of(normal: Json, area_id: str) -> Any:
    """The pass that normalised rights give an area, None without one, or a mark for an entry that is not understood."""
    listed = normal.get(_LIST)
    entries = listed if isinstance(listed, list) else []
    mine = [entry for entry in entries if isinstance(entry, dict) and entry.get("area_id") == area_id]
    if not mine:
        return None
    plain = len(mine) == 1 and set(mine[0]) == {"area_id", "pass"} and is_plain(mine[0]["pass"])
    return mine[0]["pass"] if plain else _STRANGE


def about(rights: Any, area_id: str) -> Json:
    """What decides about one area, in canonical form: everything but the entries of other areas.

    Two readings that agree here are judged alike. A value that names no area may concern this one, so that it counts.
    """
    normal = normalise_devices(rights)
    listed = normal.get(_LIST)
    if not isinstance(listed, list):
        return normal
    return {**normal, _LIST: [entry for entry in listed if not _of_another(entry, area_id)]}


def gives(before: Any, after: Any, area_id: str) -> bool:
    """Return whether `after` admits to the area when `before` did not. What cannot be compared counts as given."""
    old, new = normalise_devices(before), normalise_devices(after)
    held, given = _admission(old, area_id), _admission(new, area_id)
    if _STRANGE in (held, given):
        return about(old, area_id) != about(new, area_id) and given is not None
    return given is not None and (held is None or not _admits_more(held, given))


def _admission(normal: Json, area_id: str) -> Any:
    """Return the pass that normalised rights give to an area in any way; None for none, or a mark."""
    match normal.get("default_mode"):
        case "allow_all":
            return always()
        case "deny_all":
            return None
        case "option" if isinstance(normal.get(_LIST), list):
            held = entry_of(normal, area_id)
            return None if held == never() else held
    return _STRANGE


def _of_another(entry: Any, area_id: str) -> bool:
    named = entry.get("area_id") if isinstance(entry, dict) else None
    return isinstance(named, str) and named != area_id


def _from_everywhere(before: Json, wish: Wish, all_area_ids: Collection[str]) -> Verdict:
    less = wish.act == Act.WITHDRAW or normal_pass(wish.pass_) != always()
    if not less or not wish.everywhere:
        return Verdict(Effect.SAME if not less else Effect.EVERYWHERE)
    known = {*all_area_ids, wish.area_id}
    if wish.act == Act.WITHDRAW:
        return Verdict(Effect.WIDENED, withdraw_area(before, wish.area_id, all_area_ids=known))
    return Verdict(Effect.WIDENED, grant_area(before, wish.area_id, wish.pass_ or never(), all_area_ids=known))


def _admits_more(wanted: Json, held: Json) -> bool:
    """Whether `wanted` surely admits whenever `held` does."""
    if held == never() or wanted == always():
        return True
    plain = is_plain(wanted) and is_plain(held)
    return plain and merge_passes(held, wanted) == wanted


def _changed(before: Json, after: Json) -> Verdict:
    return Verdict(Effect.SAME) if after == before else Verdict(Effect.CHANGES, after)
