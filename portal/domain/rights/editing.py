"""Apply the editor's buttons to a sheet before it is saved: add a line, a schedule or a template.

An edit is a text of words: "row s1 weekly", "drop s1 3", "schedule", "template 7", "rights 7 merge". The browser's
script does most of them; without it the form is posted and shown again with the edit applied.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from django.http import Http404

from accessapi.permissions.passes import normal_pass
from portal.domain.rights import sources
from portal.domain.rights.form_parsing import MAX_LINES, MAX_SCHEDULES
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.sheet import (
    DENY_ALL,
    NEVER,
    SELECTED,
    AreaRights,
    BoxRights,
    KeyRights,
    RightsSheet,
    Schedule,
    SchedulePool,
)
from portal.domain.rights.slots import RANGE, WEEKLY, Slot, slot_of

_Side = TypeVar("_Side", AreaRights, KeyRights)
SCHEDULE_EDITS = frozenset({"row", "drop", "fill"})


def apply_edit(edit: str, pool: SchedulePool, allowed: frozenset[str]) -> bool:
    """Apply an edit that concerns only schedules. Return False for anything else."""
    word, *rest = edit.split() or [""]
    if word not in allowed or word not in _EDITS:
        return False
    _EDITS[word](pool, *[*rest, "", ""][:2])
    return True


def apply_edit_to_sheet(edit: str, sheet: RightsSheet) -> None:
    """Apply any edit. Ignore unknown edits and templates that do not exist."""
    if apply_edit(edit, sheet.pool, frozenset(_EDITS)):
        return
    word, *rest = edit.split() or [""]
    if word == "rights" and rest:
        template = _template(rest[0])
        if template is not None and template.kind == RightsTemplate.Kind.RIGHTS:
            apply_template(sheet, template, merge="merge" in rest)
    elif word == "drop_schedule" and rest:
        _delete_schedule(sheet, rest[0])


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
    kept, extras = [*mine.raw_entries, *taken.raw_entries], {**mine.unknown_fields, **taken.unknown_fields}
    return replace(mine, mode=SELECTED, raw_entries=kept, unknown_fields=extras, **places)


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
        return sources.get_template(pk)
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
