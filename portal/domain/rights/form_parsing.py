"""Turn a posted form into a sheet. Any posted data gives a sheet; nothing raises.

Inputs: `devices.mode`, `devices.area.<id>`, `keys.mode`, `keys.box.<id>`, `keys.unit.<id>.<number>` hold choices. A
schedule is named in `schedule` and has lines `s1.4.kind`, `.day` (several), `.start`, `.end`, `.first`, `.last`.
Undescribed values are sealed: `k1`, `devices.kept`, `devices.whole`, `devices.extras` and so on.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict

from portal.base.ui.sealing import InvalidSeal, unseal, unseal_or_none
from portal.base.ui.url_lookup import ServiceId
from portal.domain.mirror.fields.members import PRIVILEGE
from portal.domain.rights.sheet import (
    DENY_ALL,
    NEVER,
    SELECTED,
    UNCHANGED,
    AreaRights,
    BoxRights,
    KeyRights,
    RightsSheet,
    Schedule,
    SchedulePool,
)
from portal.domain.rights.slots import RANGE, RAW, WEEKLY, Slot, sorted_days

# The choice of a new schedule. Parsing the form creates it.
NEW = "new"
# More than anyone needs, and few enough for one request.
MAX_SCHEDULES, MAX_LINES = 200, 400
_SCHEDULE = re.compile(r"s\d{1,4}\Z")
_KEPT = re.compile(r"k\d{1,4}\Z")
_MODES = ("allow_all", DENY_ALL, SELECTED, UNCHANGED)
_ids = ServiceId()


def input_name(stem: str, *identifiers: str) -> str:
    """Return the name of an input for these ids of the service. The ids are encoded without dots."""
    return ".".join([stem, *(_ids.to_url(each).replace(".", "~2E") for each in identifiers)])


def parse_sheet(data: QueryDict) -> RightsSheet:
    """Return the sheet of the whole form."""
    pool = parse_pool(data)
    parts, found = data.getlist("part"), RightsSheet(pool=pool)
    if "devices" in parts:
        found.devices = _devices(data, pool)
    if "keys" in parts:
        found.keys = _keys(data, pool)
    odd = unseal_or_none(data.get("privilege.odd", ""))
    found.unknown_privileges = {} if odd is None else odd
    told = data.getlist("privilege.told")
    found.privilege = {name: f"privilege.{name}" in data for name in PRIVILEGE.default if name in told}
    return found


def parse_pool(data: QueryDict, prefix: str = "") -> SchedulePool:
    """Return the schedules of a form, and its undescribed passes."""
    pool, lines = SchedulePool(), _lines(data, prefix)
    for choice in data.getlist(f"{prefix}schedule")[:MAX_SCHEDULES]:
        if _SCHEDULE.match(choice):
            pool.schedules[choice] = Schedule(lines.get(choice, []), data.get(f"{prefix}{choice}.name", "")[:80])
    for name in data:
        if name.startswith(prefix) and _KEPT.match(choice := name[len(prefix) :]):
            with contextlib.suppress(InvalidSeal):
                pool.raw_passes[choice] = unseal(data.get(name, ""))
    return pool


def parse_choice(data: Mapping[str, str], name: str, pool: SchedulePool) -> str:
    """Return the choice of one input. NEW becomes a schedule with one empty line."""
    chosen = data.get(name, NEVER)
    if chosen == NEW and len(pool.schedules) < MAX_SCHEDULES:
        chosen = pool.add({"effect": "allow", "schedule": []})
        pool.schedules[chosen].slots.append(Slot())
    return chosen if pool.has_choice(chosen) else NEVER


def _inputs_under(data: QueryDict, stem: str) -> dict[str, str]:
    """Return the names of the inputs under a prefix, by id. Ids that the database cannot store are left out."""
    found = {_ids.to_python(name[len(stem) :]): name for name in data if name.startswith(stem)}
    return {identifier: name for identifier, name in found.items() if "\x00" not in identifier}


def _lines(data: QueryDict, prefix: str) -> dict[str, list[Slot]]:
    """Return the lines of each schedule in the order of their numbers."""
    named = re.compile(re.escape(prefix) + r"(s\d{1,4})\.(\d{1,5})\.kind\Z")
    found = sorted((m[1], int(m[2])) for name in data if (m := named.match(name)))
    lines: dict[str, list[Slot]] = {}
    for schedule, number in found[: MAX_LINES * 5]:
        slot = _slot(data, f"{prefix}{schedule}.{number}")
        if slot is not None:
            slot.number = number
            lines.setdefault(schedule, []).append(slot)
    return lines


def _slot(data: QueryDict, name: str) -> Slot | None:
    kind = data.get(f"{name}.kind")
    if kind == RAW:
        return _raw_slot(data, name)
    start, end, first, last = (data.get(f"{name}.{part}", "") for part in ("start", "end", "first", "last"))
    if kind == RANGE:
        return Slot(RANGE, (), start, end, first, last)
    return Slot(WEEKLY, sorted_days(data.getlist(f"{name}.day")), start, end) if kind == WEEKLY else None


def _raw_slot(data: QueryDict, name: str) -> Slot | None:
    """Return an undescribed line, or None if its checkbox is not ticked."""
    try:
        return Slot(RAW, raw=unseal(data.get(f"{name}.kept", "")))
    except InvalidSeal:
        return None


def _mode(data: Mapping[str, str], name: str, whole: Any) -> str:
    mode = data.get(name, "")
    return mode if mode in _MODES and (mode != UNCHANGED or whole is not None) else DENY_ALL


def _unsealed(texts: Iterable[str]) -> list[Any]:
    found = []
    for text in texts:
        with contextlib.suppress(InvalidSeal):
            found.append(unseal(text))
    return found


def _side(data: QueryDict, part: str) -> dict[str, Any]:
    """Return the fields that both sides have, by name."""
    whole = unseal_or_none(data.get(f"{part}.whole", ""))
    kept, extras = _unsealed(data.getlist(f"{part}.kept")), unseal_or_none(data.get(f"{part}.extras", ""))
    extras = extras if isinstance(extras, dict) else {}
    return {"mode": _mode(data, f"{part}.mode", whole), "raw_entries": kept, "unknown_fields": extras, "raw": whole}


def _devices(data: QueryDict, pool: SchedulePool) -> AreaRights:
    areas = {area: parse_choice(data, name, pool) for area, name in _inputs_under(data, "devices.area.").items()}
    return AreaRights(areas=areas, **_side(data, "devices"))


def _keys(data: QueryDict, pool: SchedulePool) -> KeyRights:
    stem = "keys.box."
    boxes = {box: _box(data, name[len(stem) :], pool) for box, name in _inputs_under(data, stem).items()}
    return KeyRights(boxes=boxes, **_side(data, "keys"))


def _box(data: QueryDict, part: str, pool: SchedulePool) -> BoxRights:
    whole = unseal_or_none(data.get(f"keys.boxwhole.{part}", ""))
    units = {unit: parse_choice(data, name, pool) for unit, name in _inputs_under(data, f"keys.unit.{part}.").items()}
    mode = _mode(data, f"keys.box.{part}", whole)
    return BoxRights(mode, units, _unsealed(data.getlist(f"keys.boxkept.{part}")), whole)
