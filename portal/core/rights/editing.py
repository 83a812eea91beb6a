"""What the editor's buttons do to a sheet before it is saved: one more line, another schedule, a template.

An act is a text of words: "row s1 weekly", "drop s1 3", "schedule", "template 7", "rights 7 merge". The browser's
script does most of them itself; without it the form is posted and shown again with the act done.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from django.http import Http404

from accessapi.permissions.passes import normal_pass
from portal.core.rights import keeping
from portal.core.rights.models import RightsTemplate
from portal.core.rights.posting import MOST_LINES, MOST_SCHEDULES
from portal.core.rights.sheet import LISTED, NEVER, NOTHING, Box, Devices, Keys, Pool, Schedule, Sheet
from portal.core.rights.slots import RANGE, WEEKLY, Slot, slot_of

_Side = TypeVar("_Side", Devices, Keys)
SCHEDULE_ONLY = frozenset({"row", "drop", "fill"})


def act_on(act: str, pool: Pool, allowed: frozenset[str]) -> bool:
    """Do an act that is about schedules alone. False for anything else."""
    word, *rest = act.split() or [""]
    if word not in allowed or word not in _ACTS:
        return False
    _ACTS[word](pool, *[*rest, "", ""][:2])
    return True


def act_on_sheet(act: str, sheet: Sheet) -> None:
    """Do any act; what is not one, or names a template that is not there, does nothing."""
    if act_on(act, sheet.pool, frozenset(_ACTS)):
        return
    word, *rest = act.split() or [""]
    if word == "rights" and rest:
        template = _template(rest[0])
        if template is not None and template.kind == RightsTemplate.Kind.RIGHTS:
            apply(sheet, template, merge="merge" in rest)
    elif word == "drop_schedule" and rest:
        _drop_schedule(sheet, rest[0])


def apply(sheet: Sheet, template: RightsTemplate, *, merge: bool) -> None:
    """Put a template's whole rights in place of the sheet's, or on top: what only the sheet has stays."""
    sheet.pool.remember()
    devices, keys = sheet.devices, sheet.keys
    if template.devices_pass is not None and devices is not None:
        taken = Devices.of(template.devices_pass, sheet.pool)
        sheet.devices = (_wider(devices, taken) or _joined_devices(devices, taken)) if merge else taken
    if template.keys_pass is not None and keys is not None:
        given = Keys.of(template.keys_pass, sheet.pool)
        sheet.keys = (_wider(keys, given) or _joined_keys(keys, given)) if merge else given


def _wider(mine: _Side, taken: _Side) -> _Side | None:
    """Which of two sides holds where one allows all, nothing or is unknown; None where both are lists to be joined."""
    if LISTED not in (mine.mode, taken.mode) or mine.mode == "allow_all" or taken.mode == NOTHING:
        return taken if mine.mode == NOTHING or taken.mode == "allow_all" else mine
    return taken if taken.mode != LISTED else None


def _joined(mine: _Side, taken: _Side, **places: Any) -> _Side:
    kept, extras = [*mine.kept, *taken.kept], {**mine.extras, **taken.extras}
    return replace(mine, mode=LISTED, kept=kept, extras=extras, **places)


def _joined_devices(mine: Devices, taken: Devices) -> Devices:
    given = {area: choice for area, choice in taken.areas.items() if choice != NEVER}
    return _joined(mine, taken, areas={**mine.areas, **given})


def _joined_keys(mine: Keys, taken: Keys) -> Keys:
    given = {name: _merged_box(mine.boxes.get(name), box) for name, box in taken.boxes.items()}
    return _joined(mine, taken, boxes={**mine.boxes, **given})


def _merged_box(mine: Box | None, taken: Box) -> Box:
    if mine is None or mine.mode == NOTHING or taken.mode != LISTED:
        return taken if mine is None or taken.mode != NOTHING else mine
    if mine.mode != LISTED:
        return mine
    units = {**mine.units, **{unit: choice for unit, choice in taken.units.items() if choice != NEVER}}
    return Box(LISTED, units, [*mine.kept, *taken.kept])


def _template(pk: str) -> RightsTemplate | None:
    try:
        return keeping.get(pk)
    except Http404:
        return None


def _row(pool: Pool, choice: str, kind: str) -> None:
    schedule = pool.schedules.get(choice)
    if schedule is not None and len(schedule.slots) < MOST_LINES:
        schedule.slots.append(Slot(RANGE if kind == RANGE else WEEKLY))


def _drop(pool: Pool, choice: str, number: str) -> None:
    schedule = pool.schedules.get(choice)
    if schedule is not None and number.isdecimal() and 0 < int(number[:6]) <= len(schedule.slots):
        del schedule.slots[int(number[:6]) - 1]


def _schedule(pool: Pool, *_: Any) -> None:
    if len(pool.schedules) < MOST_SCHEDULES:
        choice = pool.add({"effect": "allow", "schedule": []})
        pool.schedules[choice].slots.append(Slot())


def _copy(pool: Pool, choice: str, *_: Any) -> None:
    """Another schedule with the same lines, to be changed for some of the places alone."""
    if choice in pool.schedules and len(pool.schedules) < MOST_SCHEDULES:
        pool.add(pool.schedules[choice].pass_())


def _from_template(pool: Pool, pk: str, *_: Any) -> None:
    template = _template(pk)
    if template is not None and template.schedule is not None and len(pool.schedules) < MOST_SCHEDULES:
        pool.add(normal_pass(template.schedule), template.title)


def _fill(pool: Pool, choice: str, pk: str) -> None:
    """A template's lines into one schedule, in place of what stands there."""
    template = _template(pk)
    if template is not None and template.schedule is not None and choice in pool.schedules:
        items = normal_pass(template.schedule).get("schedule", [])
        pool.schedules[choice] = Schedule([slot_of(item) for item in items], template.title)


def _drop_schedule(sheet: Sheet, choice: str) -> None:
    """Take a schedule away; the places that had it are given nothing."""
    if sheet.pool.schedules.pop(choice, None) is None:
        return
    if sheet.devices is not None:
        sheet.devices.areas = {a: NEVER if c == choice else c for a, c in sheet.devices.areas.items()}
    for box in sheet.keys.boxes.values() if sheet.keys is not None else ():
        box.units = {unit: NEVER if c == choice else c for unit, c in box.units.items()}


_ACTS: dict[str, Callable[..., None]] = {
    "row": _row,
    "drop": _drop,
    "schedule": _schedule,
    "copy": _copy,
    "template": _from_template,
    "fill": _fill,
}
