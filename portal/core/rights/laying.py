"""A sheet as the editor's template draws it: rows of places with their choices, schedules with their lines."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from accessapi.permissions import phrase
from portal.core.rights.places import Places
from portal.core.rights.posting import name_of
from portal.core.rights.sheet import ALWAYS, AS_IT_IS, LISTED, NEVER, NOTHING, Box, Schedule, Sheet
from portal.core.rights.slots import KEPT, Slot
from portal.core.rights.weeks import Week, day_names, week_of
from portal.core.rights.words import privilege_words, upper
from portal.core.ui.sealed import seal


@dataclass(frozen=True)
class SlotLine:
    """One line of a schedule in the form. `name` is the stem of its inputs."""

    name: str
    number: int
    slot: Slot
    days: list[tuple[str, str, bool]]  # key, short name, ticked
    sealed: str = ""
    words: str = ""


@dataclass(frozen=True)
class ScheduleView:
    """One schedule in the form. `used` are the places that it is chosen for, as far as the sheet says."""

    choice: str
    name: str
    title: str
    lines: list[SlotLine]
    week: Week
    used: list[str] = field(default_factory=list)
    is_wrong: bool = False

    @classmethod
    def of(cls, choice: str, schedule: Schedule, *, prefix: str = "", used: Iterable[str] = ()) -> "ScheduleView":
        stem = f"{prefix}{choice}"
        lines = [_line(f"{stem}.{number}", number, slot) for number, slot in enumerate(schedule.slots, 1)]
        pass_ = schedule.pass_()
        return cls(choice, stem, schedule.name, lines, week_of(pass_), list(used), schedule.is_wrong)

    @property
    def number(self) -> str:
        return self.choice[1:]

    @property
    def kinds(self) -> dict[str, list[SlotLine]]:
        return {kind: [line for line in self.lines if line.slot.kind == kind] for kind in ("weekly", "range", KEPT)}


def _line(name: str, number: int, slot: Slot) -> SlotLine:
    days = [(key, short, key in slot.days) for key, _name, short in day_names()]
    if slot.kind != KEPT:
        return SlotLine(name, number, slot, days)
    return SlotLine(name, number, slot, days, seal(slot.kept), str(slot.kept))


@dataclass(frozen=True)
class PlaceRow:
    """A place and what is chosen for it. `known` is False for one that the mirror has no name of."""

    name: str
    place: str
    note: str
    choice: str
    known: bool = True

    @property
    def given(self) -> bool:
        return self.choice != NEVER


@dataclass(frozen=True)
class BoxRow:
    """A key box, its mode, and its keys."""

    name: str
    place: str
    mode: str
    units: list[PlaceRow]
    kept: list[tuple[str, str]]
    kept_name: str
    whole: str = ""
    whole_name: str = ""
    known: bool = True
    whole_words: str = ""

    @property
    def given(self) -> bool:
        return self.mode != NOTHING


@dataclass(frozen=True)
class Board:
    """The whole editor."""

    sheet: Sheet
    areas: list[PlaceRow]
    boxes: list[BoxRow]
    schedules: list[ScheduleView]
    kept_passes: list[tuple[str, str, str]]  # choice, sealed, words
    privileges: list[tuple[str, str, bool]]
    sealed: dict[str, str]
    kept: dict[str, list[tuple[str, str]]]
    odd: list[tuple[str, Any]]

    @property
    def options(self) -> list[tuple[str, str]]:
        """What may be chosen for a place."""
        options = [(NEVER, _("Never")), (ALWAYS, _("At any time"))]
        for schedule in self.schedules:
            options.append((schedule.choice, option_words(schedule.number, schedule.title, schedule.week.sentence)))
        options += [(choice, words) for choice, _sealed, words in self.kept_passes]
        return [*options, ("new", _("New schedule…"))]


def option_words(number: str, title: str, sentence: str) -> str:
    """A schedule in a list of choices: its number, and its name or what it says."""
    text = title or sentence
    return _("%(number)s · %(text)s") % {"number": number, "text": text if len(text) <= 60 else text[:59] + "…"}


def board(sheet: Sheet, places: Places) -> Board:
    """Everything that the tenant has, and whatever the rights name beyond it; what is given comes first."""
    areas = _areas(sheet, places)
    boxes = _boxes(sheet, places)
    used = _used(sheet, areas, boxes)
    views = [
        ScheduleView.of(choice, schedule, used=used.get(choice, ()))
        for choice, schedule in sheet.pool.schedules.items()
    ]
    privileges = [
        (name, word, sheet.privilege[name]) for name, word in privilege_words().items() if name in sheet.privilege
    ]
    odd = list(sheet.odd.items()) if isinstance(sheet.odd, dict) else [("privilege", sheet.odd)]
    passes = [(choice, seal(value), upper(phrase(value, _))) for choice, value in sheet.pool.kept.items()]
    return Board(sheet, areas, boxes, views, passes, privileges, _sealed(sheet), _kept(sheet), odd)


def _areas(sheet: Sheet, places: Places) -> list[PlaceRow]:
    if sheet.devices is None:
        return []
    chosen = sheet.devices.areas
    ids = [*places.areas, *(area_id for area_id in chosen if area_id not in places.areas)]
    rows = [
        PlaceRow(
            name_of("devices.area", each), places.area(each) or "–", "", chosen.get(each, NEVER), each in places.areas
        )
        for each in ids
    ]
    return sorted(rows, key=lambda row: not row.given)


def _boxes(sheet: Sheet, places: Places) -> list[BoxRow]:
    if sheet.keys is None:
        return []
    chosen = sheet.keys.boxes
    ids = [*places.boxes, *(name for name in chosen if name not in places.boxes)]
    rows = [_box_row(name, chosen.get(name) or Box(), places) for name in ids]
    return sorted(rows, key=lambda row: not row.given)


def _box_row(name: str, box: Box, places: Places) -> BoxRow:
    known = places.boxes[name].units if name in places.boxes else {}
    numbers = [*known, *(number for number in box.units if number not in known)]
    units = [
        PlaceRow(name_of("keys.unit", name, each), each, known.get(each, ""), box.units.get(each, NEVER), each in known)
        for each in numbers
    ]
    return BoxRow(
        name_of("keys.box", name),
        places.box(name) or "–",
        box.mode,
        units,
        [(seal(value), str(value)) for value in box.kept],
        name_of("keys.boxkept", name),
        seal(box.whole) if box.whole is not None else "",
        name_of("keys.boxwhole", name),
        name in places.boxes,
        str(box.whole) if box.whole is not None else "",
    )


def _used(sheet: Sheet, areas: list[PlaceRow], boxes: list[BoxRow]) -> dict[str, list[str]]:
    """Which places chose which schedule; of modes that make the choices idle, none."""
    used: dict[str, list[str]] = {}
    if sheet.devices is not None and sheet.devices.mode == LISTED:
        for row in areas:
            used.setdefault(row.choice, []).append(row.place)
    if sheet.keys is not None and sheet.keys.mode == LISTED:
        for box in boxes:
            for row in box.units if box.mode == LISTED else ():
                used.setdefault(row.choice, []).append(
                    _("%(box)s · %(unit)s") % {"box": box.place, "unit": f"{row.place} {row.note}".strip()}
                )
    return used


def _sealed(sheet: Sheet) -> dict[str, str]:
    """Hidden inputs: what nobody described, as it came."""
    found = {}
    for part, side in (("devices", sheet.devices), ("keys", sheet.keys)):
        if side is not None and side.extras:
            found[f"{part}.extras"] = seal(side.extras)
        if side is not None and side.whole is not None:
            found[f"{part}.whole"] = seal(side.whole)
    if sheet.odd != {}:
        found["privilege.odd"] = seal(sheet.odd)
    return found


def _kept(sheet: Sheet) -> dict[str, list[tuple[str, str]]]:
    """Entries that nobody described, sealed and in words, for the boxes that keep them."""
    sides = {"devices": sheet.devices, "keys": sheet.keys}
    return {part: [(seal(v), str(v)) for v in side.kept] if side else [] for part, side in sides.items()}


def modes(side: str, current: Any) -> list[tuple[str, str, str]]:
    """(mode, title, explanation) for the radio buttons of one side."""
    found = {
        "devices": [
            ("allow_all", _("Every area"), _("including areas added later")),
            (NOTHING, _("No area"), _("no door opens")),
            (LISTED, _("Selected areas"), _("area by area")),
        ],
        "keys": [
            ("allow_all", _("Every key"), _("including key boxes added later")),
            (NOTHING, _("No key"), _("no key box opens")),
            (LISTED, _("Selected keys"), _("box by box")),
        ],
    }[side]
    if current is not None:
        found.append((AS_IT_IS, _("No change"), _("unknown setting")))
    return found


def samples() -> dict[str, Any]:
    """What the script copies when somebody adds a line or a schedule; it puts the real names in."""
    stem = "__s__.__n__"
    return {
        "sample_line": _line(stem, 0, Slot()),
        "sample_range": _line(stem, 0, Slot("range")),
        "sample_schedule": ScheduleView.of("__s__", Schedule([])),
    }
