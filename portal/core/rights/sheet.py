"""Rights laid out for a person to change: places on one side, a few schedules that they share on the other.

    sheet = Sheet.of(rights)          # from what the service told
    sheet = Sheet.posted(data, …)     # from a form (`posting.py`)
    sheet.devices.rights(sheet.pool)  # the devices_pass it stands for, in canonical form

Every place holds a choice: "never", "always", "s3" (the third schedule) or "k1" (a pass that nobody described, kept as
it came). Passes that are the same share a schedule, so that office hours are changed once and not for each door.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accessapi.permissions import always, by_schedule, never, normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, is_plain, normal_pass, sort_key
from portal.core.mirror.fields.members import PRIVILEGE
from portal.core.rights.slots import Slot, item_of, slot_of

NEVER, ALWAYS = "never", "always"
ALL, NOTHING, LISTED, AS_IT_IS = "allow_all", "deny_all", "option", "keep"
_KNOWN_MODES = (ALL, NOTHING, LISTED)


@dataclass
class Schedule:
    """The lines of one schedule. `name` is that of the template it came from, if any."""

    slots: list[Slot] = field(default_factory=list)
    name: str = ""

    @classmethod
    def of(cls, pass_: Json, name: str = "") -> "Schedule":
        return cls([slot_of(item) for item in pass_["schedule"]], name)

    @property
    def filled(self) -> list[Slot]:
        return [slot for slot in self.slots if not slot.is_blank]

    def pass_(self) -> Json:
        """The pass; lines that cannot be read are left out, and say why in their `problems`."""
        items = [item_of(slot) for slot in self.filled]
        readable = [item for item, slot in zip(items, self.filled, strict=True) if not slot.problems]
        made: Json = normal_pass(by_schedule(*readable))
        return made

    @property
    def is_wrong(self) -> bool:
        """Whether a line needs correcting; known once `pass_` was asked for."""
        return any(slot.problems for slot in self.filled)


@dataclass
class Pool:
    """The schedules, and the passes that nobody described, by the choices that name them."""

    schedules: dict[str, Schedule] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def choice_of(self, pass_: Any) -> str:
        """What to choose for this pass; a new schedule or kept pass where there is none like it."""
        value = normal_pass(pass_)
        if is_plain(value) and value["effect"] != "allow":
            return ALWAYS if value["effect"] == "allow_all" else NEVER
        key = sort_key(value)
        if key not in self._names:
            self._names[key] = self.add(value)
        return self._names[key]

    def remember(self) -> None:
        """Let schedules that were put in from a form be found by what they say."""
        for choice, schedule in self.schedules.items():
            pass_ = schedule.pass_()
            if not schedule.is_wrong:
                self._names.setdefault(sort_key(pass_), choice)
        for choice, value in self.kept.items():
            self._names.setdefault(sort_key(value), choice)

    def add(self, pass_: Any, name: str = "") -> str:
        """A schedule (or kept pass) of its own, even if there is one like it."""
        if is_plain(pass_) and pass_["effect"] == "allow":
            choice = free("s", self.schedules)
            self.schedules[choice] = Schedule.of(pass_, name)
        else:
            choice = free("k", self.kept)
            self.kept[choice] = pass_
        return choice

    def pass_of(self, choice: str) -> Any:
        """The pass that a choice stands for; never for one that nobody offered."""
        if choice in self.schedules:
            return self.schedules[choice].pass_()
        if choice in self.kept:
            return self.kept[choice]
        return always() if choice == ALWAYS else never()

    def knows(self, choice: str) -> bool:
        return choice in (NEVER, ALWAYS) or choice in self.schedules or choice in self.kept


def free(letter: str, taken: Mapping[str, Any]) -> str:
    number = len(taken) + 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"


@dataclass
class Side:
    """Entry permissions or key permissions. `mode` AS_IT_IS: `whole` is in no known shape and stays; `kept` are entries
    that nobody described, `extras` unknown fields.
    """

    mode: str = NOTHING
    kept: list[Any] = field(default_factory=list)
    extras: Json = field(default_factory=dict)
    whole: Json | None = None

    def _closed(self, list_name: str, entries: list[Any]) -> Json:
        if self.mode == AS_IT_IS and self.whole is not None:
            return self.whole
        made = {**self.extras, "default_mode": self.mode if self.mode in _KNOWN_MODES else NOTHING}
        return {**made, list_name: [*entries, *self.kept]} if self.mode == LISTED else made


@dataclass
class Devices(Side):
    """Entry permissions: a choice for each area."""

    areas: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Any, pool: Pool) -> "Devices":
        made = cls()
        entries = _open(made, normalise_devices(rights), "areas_list")
        listed, made.kept = _split(entries, "area_id")
        made.areas = {name: pool.choice_of(entry["pass"]) for name, entry in listed.items()}
        return made

    def rights(self, pool: Pool) -> Json:
        given = [(name, pool.pass_of(choice)) for name, choice in self.areas.items() if choice != NEVER]
        return normalise_devices(self._closed("areas_list", [{"area_id": name, "pass": each} for name, each in given]))


@dataclass
class Box:
    """One key box: its own three modes, or `whole` as nobody described it."""

    mode: str = NOTHING
    units: dict[str, str] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    whole: Any = None


@dataclass
class Keys(Side):
    """Key permissions: key boxes by id."""

    boxes: dict[str, Box] = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Any, pool: Pool) -> "Keys":
        keys = cls()
        for entry in _open(keys, normalise_keys(rights), "key_devices_list"):
            name = entry.get("key_device_id") if isinstance(entry, dict) else None
            if not isinstance(name, str) or not _usable(name) or name in keys.boxes:
                keys.kept.append(entry)
            else:
                keys.boxes[name] = _box_of(entry, pool)
        return keys

    def rights(self, pool: Pool) -> Json:
        entries = [_entry_of(name, box, pool) for name, box in self.boxes.items() if box.mode != NOTHING]
        return normalise_keys(self._closed("key_devices_list", entries))


def _box_of(entry: Json, pool: Pool) -> Box:
    mode, units = entry.get("default_mode"), entry.get("units", [])
    plain = set(entry) <= {"key_device_id", "default_mode", "units"} and isinstance(units, list)
    if not plain or mode not in _KNOWN_MODES:
        return Box(AS_IT_IS, whole=entry)
    listed, kept = _split(units, "unit_no")
    return Box(mode, {name: pool.choice_of(unit["pass"]) for name, unit in listed.items()}, kept)


def _entry_of(name: str, box: Box, pool: Pool) -> Any:
    if box.mode == AS_IT_IS:
        return box.whole
    if box.mode != LISTED:
        return {"key_device_id": name, "default_mode": box.mode}
    given = [(unit_no, pool.pass_of(choice)) for unit_no, choice in box.units.items() if choice != NEVER]
    units = [{"unit_no": unit_no, "pass": pass_} for unit_no, pass_ in given]
    return {"key_device_id": name, "default_mode": LISTED, "units": [*units, *box.kept]}


def _open(side: Side, normal: Json, list_name: str) -> list[Any]:
    """Give a side the mode and the unknown fields of rights in canonical form, and return their entries."""
    side.extras = {name: value for name, value in normal.items() if name not in ("default_mode", list_name)}
    mode, entries = normal.get("default_mode"), normal.get(list_name, [])
    if isinstance(mode, str) and mode in _KNOWN_MODES and isinstance(entries, list):
        side.mode = mode
        return entries
    side.mode, side.whole = AS_IT_IS, normal
    return []


def _split(entries: list[Any], identifier: str) -> tuple[dict[str, Json], list[Any]]:
    """Entries that are a name and a pass, each name once; and the others, as they came."""
    listed: dict[str, Json] = {}
    kept: list[Any] = []
    for entry in entries:
        name = entry.get(identifier) if isinstance(entry, dict) else None
        if _usable(name) and name not in listed and set(entry) == {identifier, "pass"}:
            listed[str(name)] = entry
        else:
            kept.append(entry)
    return listed, kept


def _usable(name: Any) -> bool:
    """Whether an id can be the name of a form's field: text that UTF-8 can write."""
    if not isinstance(name, str):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass
class Sheet:
    """Everything of one member. `devices` or `keys` None: not told, and not to be changed. `odd` are privileges
    whose values are no yes or no, and unknown ones, verbatim.
    """

    pool: Pool = field(default_factory=Pool)
    devices: Devices | None = None
    keys: Keys | None = None
    privilege: dict[str, bool] = field(default_factory=dict)
    odd: Any = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Mapping[str, Any]) -> "Sheet":
        """The sheet of rights as told: {"devices_pass", "keys_pass", "privilege"}."""
        sheet = cls()
        if rights.get("devices_pass") is not None:
            sheet.devices = Devices.of(rights["devices_pass"], sheet.pool)
        if rights.get("keys_pass") is not None:
            sheet.keys = Keys.of(rights["keys_pass"], sheet.pool)
        told = rights.get("privilege")
        sheet.privilege, sheet.odd = split_privilege(told)
        return sheet

    def rights(self) -> dict[str, Any]:
        """What it stands for: the parts that it has."""
        made: dict[str, Any] = {}
        if self.devices is not None:
            made["devices_pass"] = self.devices.rights(self.pool)
        if self.keys is not None:
            made["keys_pass"] = self.keys.rights(self.pool)
        made["privilege"] = {**self.odd, **self.privilege} if isinstance(self.odd, dict) else self.odd
        return made

    @property
    def is_wrong(self) -> bool:
        """Whether a schedule has a line that cannot be read; asks every schedule."""
        for schedule in self.pool.schedules.values():
            schedule.pass_()
        return any(schedule.is_wrong for schedule in self.pool.schedules.values())


def split_privilege(told: Any) -> tuple[dict[str, bool], Any]:
    """Privileges that are a yes or no (absent: no, as specified), and everything else verbatim."""
    if told is not None and not isinstance(told, dict):
        return {}, told
    given = told or {}
    # A nought equals False, and is not what the service calls a no.
    plain = {
        name: bool(value) for name in PRIVILEGE.unsaid if (value := given.get(name)) is None or isinstance(value, bool)
    }
    return plain, {name: value for name, value in given.items() if name not in plain}
