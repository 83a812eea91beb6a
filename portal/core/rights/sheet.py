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
ALLOW_ALL, DENY_ALL, SELECTED, UNCHANGED = "allow_all", "deny_all", "option", "keep"
_KNOWN_MODES = (ALLOW_ALL, DENY_ALL, SELECTED)


@dataclass
class Schedule:
    """The lines of one schedule. `name` is that of the template it came from, if any."""

    slots: list[Slot] = field(default_factory=list)
    name: str = ""

    @classmethod
    def of(cls, pass_: Json, name: str = "") -> "Schedule":
        return cls([slot_of(item) for item in pass_["schedule"]], name)

    @property
    def filled_slots(self) -> list[Slot]:
        return [slot for slot in self.slots if not slot.is_blank]

    def to_pass(self) -> Json:
        """The pass; lines that cannot be read are left out, and say why in their `problems`."""
        items = [item_of(slot) for slot in self.filled_slots]
        readable = [item for item, slot in zip(items, self.filled_slots, strict=True) if not slot.problems]
        made: Json = normal_pass(by_schedule(*readable))
        return made

    @property
    def is_wrong(self) -> bool:
        """Whether a line needs correcting; known once `to_pass` was asked for."""
        return any(slot.problems for slot in self.filled_slots)


@dataclass
class SchedulePool:
    """The schedules, and the passes that nobody described, by the choices that name them."""

    schedules: dict[str, Schedule] = field(default_factory=dict)
    raw_passes: dict[str, Any] = field(default_factory=dict)
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

    def index_schedules(self) -> None:
        """Let schedules that were put in from a form be found by what they say."""
        for choice, schedule in self.schedules.items():
            pass_ = schedule.to_pass()
            if not schedule.is_wrong:
                self._names.setdefault(sort_key(pass_), choice)
        for choice, value in self.raw_passes.items():
            self._names.setdefault(sort_key(value), choice)

    def add(self, pass_: Any, name: str = "") -> str:
        """A schedule (or kept pass) of its own, even if there is one like it."""
        if is_plain(pass_) and pass_["effect"] == "allow":
            choice = free_name("s", self.schedules)
            self.schedules[choice] = Schedule.of(pass_, name)
        else:
            choice = free_name("k", self.raw_passes)
            self.raw_passes[choice] = pass_
        return choice

    def pass_of(self, choice: str) -> Any:
        """The pass that a choice stands for; never for one that nobody offered."""
        if choice in self.schedules:
            return self.schedules[choice].to_pass()
        if choice in self.raw_passes:
            return self.raw_passes[choice]
        return always() if choice == ALWAYS else never()

    def has_choice(self, choice: str) -> bool:
        return choice in (NEVER, ALWAYS) or choice in self.schedules or choice in self.raw_passes


def free_name(letter: str, taken: Mapping[str, Any]) -> str:
    number = len(taken) + 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"


@dataclass
class RightsSide:
    """Entry permissions or key permissions. `mode` AS_IT_IS: `raw` is in no known shape and stays; `kept` are entries
    that nobody described, `unknown_fields` unknown fields.
    """

    mode: str = DENY_ALL
    raw_entries: list[Any] = field(default_factory=list)
    unknown_fields: Json = field(default_factory=dict)
    raw: Json | None = None

    def _to_body(self, list_name: str, entries: list[Any]) -> Json:
        if self.mode == UNCHANGED and self.raw is not None:
            return self.raw
        made = {**self.unknown_fields, "default_mode": self.mode if self.mode in _KNOWN_MODES else DENY_ALL}
        return {**made, list_name: [*entries, *self.raw_entries]} if self.mode == SELECTED else made


@dataclass
class AreaRights(RightsSide):
    """Entry permissions: a choice for each area."""

    areas: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Any, pool: SchedulePool) -> "AreaRights":
        made = cls()
        entries = _read_mode(made, normalise_devices(rights), "areas_list")
        listed, made.raw_entries = _split(entries, "area_id")
        made.areas = {name: pool.choice_of(entry["pass"]) for name, entry in listed.items()}
        return made

    def to_body(self, pool: SchedulePool) -> Json:
        given = [(name, pool.pass_of(choice)) for name, choice in self.areas.items() if choice != NEVER]
        return normalise_devices(self._to_body("areas_list", [{"area_id": name, "pass": each} for name, each in given]))


@dataclass
class BoxRights:
    """One key box: its own three modes, or `raw` as nobody described it."""

    mode: str = DENY_ALL
    units: dict[str, str] = field(default_factory=dict)
    raw_units: list[Any] = field(default_factory=list)
    raw: Any = None


@dataclass
class KeyRights(RightsSide):
    """Key permissions: key boxes by id."""

    boxes: dict[str, BoxRights] = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Any, pool: SchedulePool) -> "KeyRights":
        keys = cls()
        for entry in _read_mode(keys, normalise_keys(rights), "key_devices_list"):
            name = entry.get("key_device_id") if isinstance(entry, dict) else None
            if not isinstance(name, str) or not _usable(name) or name in keys.boxes:
                keys.raw_entries.append(entry)
            else:
                keys.boxes[name] = _box_of(entry, pool)
        return keys

    def to_body(self, pool: SchedulePool) -> Json:
        entries = [_entry_of(name, box, pool) for name, box in self.boxes.items() if box.mode != DENY_ALL]
        return normalise_keys(self._to_body("key_devices_list", entries))


def _box_of(entry: Json, pool: SchedulePool) -> BoxRights:
    mode, units = entry.get("default_mode"), entry.get("units", [])
    plain = set(entry) <= {"key_device_id", "default_mode", "units"} and isinstance(units, list)
    if not plain or mode not in _KNOWN_MODES:
        return BoxRights(UNCHANGED, raw=entry)
    listed, kept = _split(units, "unit_no")
    return BoxRights(mode, {name: pool.choice_of(unit["pass"]) for name, unit in listed.items()}, kept)


def _entry_of(name: str, box: BoxRights, pool: SchedulePool) -> Any:
    if box.mode == UNCHANGED:
        return box.raw
    if box.mode != SELECTED:
        return {"key_device_id": name, "default_mode": box.mode}
    given = [(unit_no, pool.pass_of(choice)) for unit_no, choice in box.units.items() if choice != NEVER]
    units = [{"unit_no": unit_no, "pass": pass_} for unit_no, pass_ in given]
    return {"key_device_id": name, "default_mode": SELECTED, "units": [*units, *box.raw_units]}


def _read_mode(side: RightsSide, normal: Json, list_name: str) -> list[Any]:
    """Give a side the mode and the unknown fields of rights in canonical form, and return their entries."""
    side.unknown_fields = {name: value for name, value in normal.items() if name not in ("default_mode", list_name)}
    mode, entries = normal.get("default_mode"), normal.get(list_name, [])
    if isinstance(mode, str) and mode in _KNOWN_MODES and isinstance(entries, list):
        side.mode = mode
        return entries
    side.mode, side.raw = UNCHANGED, normal
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
class RightsSheet:
    """Everything of one member. `devices` or `keys` None: not told, and not to be changed. `odd` are privileges
    whose values are no yes or no, and unknown ones, verbatim.
    """

    pool: SchedulePool = field(default_factory=SchedulePool)
    devices: AreaRights | None = None
    keys: KeyRights | None = None
    privilege: dict[str, bool] = field(default_factory=dict)
    unknown_privileges: Any = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Mapping[str, Any]) -> "RightsSheet":
        """The sheet of rights as told: {"devices_pass", "keys_pass", "privilege"}."""
        sheet = cls()
        if rights.get("devices_pass") is not None:
            sheet.devices = AreaRights.of(rights["devices_pass"], sheet.pool)
        if rights.get("keys_pass") is not None:
            sheet.keys = KeyRights.of(rights["keys_pass"], sheet.pool)
        told = rights.get("privilege")
        sheet.privilege, sheet.unknown_privileges = split_privilege(told)
        return sheet

    def to_body(self) -> dict[str, Any]:
        """What it stands for: the parts that it has."""
        made: dict[str, Any] = {}
        if self.devices is not None:
            made["devices_pass"] = self.devices.to_body(self.pool)
        if self.keys is not None:
            made["keys_pass"] = self.keys.to_body(self.pool)
        made["privilege"] = (
            {**self.unknown_privileges, **self.privilege}
            if isinstance(self.unknown_privileges, dict)
            else self.unknown_privileges
        )
        return made

    @property
    def is_wrong(self) -> bool:
        """Whether a schedule has a line that cannot be read; asks every schedule."""
        for schedule in self.pool.schedules.values():
            schedule.to_pass()
        return any(schedule.is_wrong for schedule in self.pool.schedules.values())


def split_privilege(told: Any) -> tuple[dict[str, bool], Any]:
    """Privileges that are a yes or no (absent: no, as specified), and everything else verbatim."""
    if told is not None and not isinstance(told, dict):
        return {}, told
    given = told or {}
    # A nought equals False, and is not what the service calls a no.
    plain = {
        name: bool(value) for name in PRIVILEGE.default if (value := given.get(name)) is None or isinstance(value, bool)
    }
    return plain, {name: value for name, value in given.items() if name not in plain}
