"""A sheet as the editor's template draws it: rows of places with their choices, schedules with their lines."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from accessapi.permissions import phrase_pass
from portal.base.ui.shown_values import seal
from portal.domain.rights.editing import input_name
from portal.domain.rights.schedules import RAW, Slot, Week, day_names, week_of
from portal.domain.rights.sheet import ALWAYS, DENY_ALL, NEVER, SELECTED, UNCHANGED, BoxRights, RightsSheet, Schedule
from portal.domain.rights.words import PlaceNames, capitalise, privilege_words


@dataclass(frozen=True)
class SlotLine:
    """One line of a schedule in the form. `name` is the prefix of its inputs' names."""

    name: str
    number: int
    slot: Slot
    days: list[tuple[str, str, bool]]  # key, short name, ticked
    sealed: str = ""
    text: str = ""


@dataclass(frozen=True)
class ScheduleView:
    """One schedule in the form. `used_by` are the places that have it, according to the sheet."""

    choice: str
    name: str
    title: str
    lines: list[SlotLine]
    week: Week
    used_by: list[str] = field(default_factory=list)
    is_wrong: bool = False

    @classmethod
    def of(cls, choice: str, schedule: Schedule, *, prefix: str = "", used: Iterable[str] = ()) -> "ScheduleView":
        stem = f"{prefix}{choice}"
        lines = [_line(f"{stem}.{number}", number, slot) for number, slot in enumerate(schedule.slots, 1)]
        pass_ = schedule.to_pass()
        return cls(choice, stem, schedule.name, lines, week_of(pass_), list(used), schedule.is_wrong)

    @property
    def number(self) -> str:
        return self.choice[1:]

    @property
    def lines_by_kind(self) -> dict[str, list[SlotLine]]:
        return {kind: [line for line in self.lines if line.slot.kind == kind] for kind in ("weekly", "range", RAW)}


def _line(name: str, number: int, slot: Slot) -> SlotLine:
    days = [(key, short, key in slot.days) for key, _name, short in day_names()]
    if slot.kind != RAW:
        return SlotLine(name, number, slot, days)
    return SlotLine(name, number, slot, days, seal(slot.raw), str(slot.raw))


@dataclass(frozen=True)
class PlaceRow:
    """A place and its choice. `is_known` is False if the mirror has no name for it."""

    name: str
    place: str
    note: str
    choice: str
    is_known: bool = True

    @property
    def is_given(self) -> bool:
        return self.choice != NEVER


@dataclass(frozen=True)
class BoxRow:
    """A key box, its mode, and its keys."""

    name: str
    place: str
    mode: str
    units: list[PlaceRow]
    raw_units: list[tuple[str, str]]
    raw_units_name: str
    sealed_raw: str = ""
    sealed_raw_name: str = ""
    is_known: bool = True
    raw_text: str = ""

    @property
    def is_given(self) -> bool:
        return self.mode != DENY_ALL


@dataclass(frozen=True)
class SheetView:
    """The whole editor."""

    sheet: RightsSheet
    areas: list[PlaceRow]
    boxes: list[BoxRow]
    schedules: list[ScheduleView]
    raw_passes: list[tuple[str, str, str]]  # choice, sealed, words
    privileges: list[tuple[str, str, bool]]
    sealed: dict[str, str]
    raw_entries: dict[str, list[tuple[str, str]]]
    unknown_privileges: list[tuple[str, Any]]

    @property
    def options(self) -> list[tuple[str, str]]:
        """Return the choices for a place, as (value, text)."""
        options = [(NEVER, _("Never")), (ALWAYS, _("At any time"))]
        for schedule in self.schedules:
            options.append((schedule.choice, option_text(schedule.number, schedule.title, schedule.week.sentence)))
        options += [(choice, words) for choice, _sealed, words in self.raw_passes]
        return [*options, ("new", _("New schedule…"))]


def option_text(number: str, title: str, sentence: str) -> str:
    """Return the text of a schedule in a list of choices: its number, and its name or sentence."""
    text = title or sentence
    return _("%(number)s · %(text)s") % {"number": number, "text": text if len(text) <= 60 else text[:59] + "…"}


def sheet_view(sheet: RightsSheet, places: PlaceNames) -> SheetView:
    """Return the view of a sheet: all places of the tenant and of the rights, places with access first."""
    areas = _areas(sheet, places)
    boxes = _boxes(sheet, places)
    used = _places_by_schedule(sheet, areas, boxes)
    views = [
        ScheduleView.of(choice, schedule, used=used.get(choice, ()))
        for choice, schedule in sheet.pool.schedules.items()
    ]
    privileges = [
        (name, word, sheet.privilege[name]) for name, word in privilege_words().items() if name in sheet.privilege
    ]
    odd = (
        list(sheet.unknown_privileges.items())
        if isinstance(sheet.unknown_privileges, dict)
        else [("privilege", sheet.unknown_privileges)]
    )
    passes = [
        (choice, seal(value), capitalise(phrase_pass(value, _))) for choice, value in sheet.pool.raw_passes.items()
    ]
    return SheetView(sheet, areas, boxes, views, passes, privileges, _sealed(sheet), _raw_entries(sheet), odd)


def _areas(sheet: RightsSheet, places: PlaceNames) -> list[PlaceRow]:
    if sheet.devices is None:
        return []
    chosen = sheet.devices.areas
    ids = [*places.areas, *(area_id for area_id in chosen if area_id not in places.areas)]
    rows = [
        PlaceRow(
            input_name("devices.area", each),
            places.area_name(each) or "–",
            "",
            chosen.get(each, NEVER),
            each in places.areas,
        )
        for each in ids
    ]
    return sorted(rows, key=lambda row: not row.is_given)


def _boxes(sheet: RightsSheet, places: PlaceNames) -> list[BoxRow]:
    if sheet.keys is None:
        return []
    chosen = sheet.keys.boxes
    ids = [*places.boxes, *(name for name in chosen if name not in places.boxes)]
    rows = [_box_row(name, chosen.get(name) or BoxRights(), places) for name in ids]
    return sorted(rows, key=lambda row: not row.is_given)


def _box_row(name: str, box: BoxRights, places: PlaceNames) -> BoxRow:
    known = places.boxes[name].units if name in places.boxes else {}
    numbers = [*known, *(number for number in box.units if number not in known)]
    units = [
        PlaceRow(
            input_name("keys.unit", name, each), each, known.get(each, ""), box.units.get(each, NEVER), each in known
        )
        for each in numbers
    ]
    return BoxRow(
        input_name("keys.box", name),
        places.box_name(name) or "–",
        box.mode,
        units,
        [(seal(value), str(value)) for value in box.raw_units],
        input_name("keys.boxkept", name),
        seal(box.raw) if box.raw is not None else "",
        input_name("keys.boxwhole", name),
        name in places.boxes,
        str(box.raw) if box.raw is not None else "",
    )


def _places_by_schedule(sheet: RightsSheet, areas: list[PlaceRow], boxes: list[BoxRow]) -> dict[str, list[str]]:
    """Return the places of each schedule; none for modes that ignore the choices."""
    used: dict[str, list[str]] = {}
    if sheet.devices is not None and sheet.devices.mode == SELECTED:
        for row in areas:
            used.setdefault(row.choice, []).append(row.place)
    if sheet.keys is not None and sheet.keys.mode == SELECTED:
        for box in boxes:
            for row in box.units if box.mode == SELECTED else ():
                used.setdefault(row.choice, []).append(
                    _("%(box)s · %(unit)s") % {"box": box.place, "unit": f"{row.place} {row.note}".strip()}
                )
    return used


def _sealed(sheet: RightsSheet) -> dict[str, str]:
    """Return the hidden inputs for undescribed values, unchanged and sealed."""
    found = {}
    for part, side in (("devices", sheet.devices), ("keys", sheet.keys)):
        if side is not None and side.unknown_fields:
            found[f"{part}.extras"] = seal(side.unknown_fields)
        if side is not None and side.raw is not None:
            found[f"{part}.whole"] = seal(side.raw)
    if sheet.unknown_privileges != {}:
        found["privilege.odd"] = seal(sheet.unknown_privileges)
    return found


def _raw_entries(sheet: RightsSheet) -> dict[str, list[tuple[str, str]]]:
    """Return undescribed entries, sealed and as text, for their checkboxes."""
    sides = {"devices": sheet.devices, "keys": sheet.keys}
    return {part: [(seal(v), str(v)) for v in side.raw_entries] if side else [] for part, side in sides.items()}


def modes(side: str, current: Any) -> list[tuple[str, str, str]]:
    """Return (mode, title, explanation) of each radio button of one side."""
    found = {
        "devices": [
            ("allow_all", _("Every area"), _("including areas added later")),
            (DENY_ALL, _("No area"), _("no door opens")),
            (SELECTED, _("Selected areas"), _("area by area")),
        ],
        "keys": [
            ("allow_all", _("Every key"), _("including key boxes added later")),
            (DENY_ALL, _("No key"), _("no key box opens")),
            (SELECTED, _("Selected keys"), _("box by box")),
        ],
    }[side]
    if current is not None:
        found.append((UNCHANGED, _("No change"), _("unknown setting")))
    return found


def sample_rows() -> dict[str, Any]:
    """Return the samples that the script copies for a new line or schedule. The script inserts the real names."""
    stem = "__s__.__n__"
    return {
        "sample_line": _line(stem, 0, Slot()),
        "sample_range": _line(stem, 0, Slot("range")),
        "sample_schedule": ScheduleView.of("__s__", Schedule([])),
    }
