"""Turn the editor's posted form into a sheet, and apply the form's buttons to it.

Any posted data gives a sheet; nothing raises. Inputs: `devices.mode`, `devices.area.<id>`, `keys.mode`,
`keys.box.<id>`, `keys.unit.<id>.<number>` hold choices. A schedule is named in `schedule` and has lines `s1.4.kind`,
`.day` (several), `.start`, `.end`, `.first`, `.last`. Undescribed values are sealed: `k1`, `devices.kept`,
`devices.whole`, `devices.extras` and so on.

A button adds a line, a schedule or a template before the sheet is saved. Its edit is a text of words: "row s1 weekly",
"drop s1 3", "schedule", "template 7", "rights 7 merge". The browser's script does most of them; without it the form is
posted and shown again with the edit applied.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from django.http import Http404, QueryDict

from accessapi.permissions.passes import normal_pass
from portal.base.ui.shown_values import InvalidSeal, unseal, unseal_or_none
from portal.base.ui.url_lookup import ServiceId
from portal.domain.people.member_fields import PRIVILEGE
from portal.domain.rights import member_rights
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.schedules import RANGE, RAW, WEEKLY, Slot, slot_of, sorted_days
from portal.domain.rights.sheet import (
    ALWAYS,
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
    names = data.getlist("privilege.told")
    found.privilege = {name: f"privilege.{name}" in data for name in PRIVILEGE.default if name in names}
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


def _mode(data: Mapping[str, str], name: str, raw: Any) -> str:
    mode = data.get(name, "")
    return mode if mode in _MODES and (mode != UNCHANGED or raw is not None) else DENY_ALL


def _unsealed(texts: Iterable[str]) -> list[Any]:
    found = []
    for text in texts:
        with contextlib.suppress(InvalidSeal):
            found.append(unseal(text))
    return found


def _side(data: QueryDict, part: str) -> dict[str, Any]:
    """Return the fields that both sides have, by name."""
    raw = unseal_or_none(data.get(f"{part}.whole", ""))
    raw_entries, extras = _unsealed(data.getlist(f"{part}.kept")), unseal_or_none(data.get(f"{part}.extras", ""))
    extras = extras if isinstance(extras, dict) else {}
    return {"mode": _mode(data, f"{part}.mode", raw), "raw_entries": raw_entries, "unknown_fields": extras, "raw": raw}


def _devices(data: QueryDict, pool: SchedulePool) -> AreaRights:
    areas = {area: parse_choice(data, name, pool) for area, name in _inputs_under(data, "devices.area.").items()}
    return AreaRights(areas=areas, **_side(data, "devices"))


def _keys(data: QueryDict, pool: SchedulePool) -> KeyRights:
    stem = "keys.box."
    boxes = {box: _box(data, name[len(stem) :], pool) for box, name in _inputs_under(data, stem).items()}
    return KeyRights(boxes=boxes, **_side(data, "keys"))


def _box(data: QueryDict, part: str, pool: SchedulePool) -> BoxRights:
    raw = unseal_or_none(data.get(f"keys.boxwhole.{part}", ""))
    units = {unit: parse_choice(data, name, pool) for unit, name in _inputs_under(data, f"keys.unit.{part}.").items()}
    mode = _mode(data, f"keys.box.{part}", raw)
    return BoxRights(mode, units, _unsealed(data.getlist(f"keys.boxkept.{part}")), raw)


_Side = TypeVar("_Side", AreaRights, KeyRights)
SCHEDULE_EDITS = frozenset({"row", "drop", "fill"})


def apply_edit(edit: str, pool: SchedulePool, allowed: frozenset[str]) -> bool:
    """Apply an edit that concerns only schedules. Return False for anything else."""
    word, *arguments = edit.split() or [""]
    if word not in allowed or word not in _EDITS:
        return False
    _EDITS[word](pool, *[*arguments, "", ""][:2])
    return True


def apply_edit_to_sheet(edit: str, sheet: RightsSheet) -> None:
    """Apply any edit. Ignore unknown edits and templates that do not exist."""
    if apply_edit(edit, sheet.pool, frozenset(_EDITS)):
        return
    word, *arguments = edit.split() or [""]
    if word == "rights" and arguments:
        template = _template(arguments[0])
        if template is not None and template.kind == RightsTemplate.Kind.RIGHTS:
            apply_template(sheet, template, merge="merge" in arguments)
    elif word == "drop_schedule" and arguments:
        _delete_schedule(sheet, arguments[0])


def areas_to_add(sheet: RightsSheet, area_ids: Iterable[str]) -> list[str]:
    """Return the areas that can be added to the selected ones; none if the member has every area."""
    mine = sheet.devices
    if mine is None or mine.mode not in {DENY_ALL, SELECTED}:
        return []
    return [each for each in area_ids if mine.mode == DENY_ALL or mine.areas.get(each, NEVER) == NEVER]


def add_area(sheet: RightsSheet, area_id: str, area_ids: Iterable[str]) -> bool:
    """Add an area at any time, to be saved. Return False if it cannot be added."""
    if sheet.devices is None or area_id not in areas_to_add(sheet, area_ids):
        return False
    before = sheet.devices.areas if sheet.devices.mode == SELECTED else {}
    sheet.devices.mode, sheet.devices.areas = SELECTED, {**before, area_id: ALWAYS}
    return True


def apply_template(sheet: RightsSheet, template: RightsTemplate, *, merge: bool) -> None:
    """Replace the sheet's rights with a template's, or with `merge` add the template's to them."""
    sheet.pool.index_schedules()
    devices, keys = sheet.devices, sheet.keys
    if template.devices_pass is not None and devices is not None:
        taken = AreaRights.of(template.devices_pass, sheet.pool)
        sheet.devices = (_wider(devices, taken) or _merged_devices(devices, taken)) if merge else taken
    if template.keys_pass is not None and keys is not None:
        given = KeyRights.of(template.keys_pass, sheet.pool)
        sheet.keys = (_wider(keys, given) or _merged_keys(keys, given)) if merge else given


def _wider(mine: _Side, taken: _Side) -> _Side | None:
    """Return the side with more rights if one allows all, nothing or is unknown; None if two lists must be joined."""
    if SELECTED not in (mine.mode, taken.mode) or mine.mode == "allow_all" or taken.mode == DENY_ALL:
        return taken if mine.mode == DENY_ALL or taken.mode == "allow_all" else mine
    return taken if taken.mode != SELECTED else None


def _merged_side(mine: _Side, taken: _Side, **places: Any) -> _Side:
    raw_entries, extras = [*mine.raw_entries, *taken.raw_entries], {**mine.unknown_fields, **taken.unknown_fields}
    return replace(mine, mode=SELECTED, raw_entries=raw_entries, unknown_fields=extras, **places)


def _merged_devices(mine: AreaRights, taken: AreaRights) -> AreaRights:
    given = {area: choice for area, choice in taken.areas.items() if choice != NEVER}
    return _merged_side(mine, taken, areas={**mine.areas, **given})


def _merged_keys(mine: KeyRights, taken: KeyRights) -> KeyRights:
    given = {name: _merged_box(mine.boxes.get(name), box) for name, box in taken.boxes.items()}
    return _merged_side(mine, taken, boxes={**mine.boxes, **given})


def _merged_box(mine: BoxRights | None, taken: BoxRights) -> BoxRights:
    if mine is None or mine.mode == DENY_ALL or taken.mode != SELECTED:
        return taken if mine is None or taken.mode != DENY_ALL else mine
    if mine.mode != SELECTED:
        return mine
    units = {**mine.units, **{unit: choice for unit, choice in taken.units.items() if choice != NEVER}}
    return BoxRights(SELECTED, units, [*mine.raw_units, *taken.raw_units])


def _template(pk: str) -> RightsTemplate | None:
    try:
        return member_rights.get_template(pk)
    except Http404:
        return None


def _add_line(pool: SchedulePool, choice: str, kind: str) -> None:
    schedule = pool.schedules.get(choice)
    if schedule is not None and len(schedule.slots) < MAX_LINES:
        schedule.slots.append(Slot(RANGE if kind == RANGE else WEEKLY))


def _delete_line(pool: SchedulePool, choice: str, number: str) -> None:
    schedule = pool.schedules.get(choice)
    if schedule is not None and number.isdecimal() and 0 < int(number[:6]) <= len(schedule.slots):
        del schedule.slots[int(number[:6]) - 1]


def _add_schedule(pool: SchedulePool, *_: Any) -> None:
    if len(pool.schedules) < MAX_SCHEDULES:
        choice = pool.add({"effect": "allow", "schedule": []})
        pool.schedules[choice].slots.append(Slot())


def _copy_schedule(pool: SchedulePool, choice: str, *_: Any) -> None:
    """Add a copy of a schedule, so that it can be changed for some places only."""
    if choice in pool.schedules and len(pool.schedules) < MAX_SCHEDULES:
        pool.add(pool.schedules[choice].to_pass())


def _add_from_template(pool: SchedulePool, pk: str, *_: Any) -> None:
    template = _template(pk)
    if template is not None and template.schedule is not None and len(pool.schedules) < MAX_SCHEDULES:
        pool.add(normal_pass(template.schedule), template.title)


def _fill_from_template(pool: SchedulePool, choice: str, pk: str) -> None:
    """Replace the lines of a schedule with a template's."""
    template = _template(pk)
    if template is not None and template.schedule is not None and choice in pool.schedules:
        items = normal_pass(template.schedule).get("schedule", [])
        pool.schedules[choice] = Schedule([slot_of(item) for item in items], template.title)


def _delete_schedule(sheet: RightsSheet, choice: str) -> None:
    """Delete a schedule. Places that had it get no access."""
    if sheet.pool.schedules.pop(choice, None) is None:
        return
    if sheet.devices is not None:
        sheet.devices.areas = {a: NEVER if c == choice else c for a, c in sheet.devices.areas.items()}
    for box in sheet.keys.boxes.values() if sheet.keys is not None else ():
        box.units = {unit: NEVER if c == choice else c for unit, c in box.units.items()}


_EDITS: dict[str, Callable[..., None]] = {
    "row": _add_line,
    "drop": _delete_line,
    "schedule": _add_schedule,
    "copy": _copy_schedule,
    "template": _add_from_template,
    "fill": _fill_from_template,
}
