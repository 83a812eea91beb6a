"""Rights prepared for editing: places on one side, and the few schedules that they share on the other.

    sheet = RightsSheet.of(rights)           # from the service's values
    sheet = parse_sheet(data)                # from a form (`editing.py`)
    sheet.devices.to_body(sheet.pool)        # its devices_pass, in canonical form

Every place has a choice: "never", "always", "s3" (the third schedule) or "k1" (an undescribed pass). Equal passes share
a schedule, so that office hours are changed once and not for each door. Undescribed are all values in a shape that the
specification does not describe. They are kept unchanged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accessapi.permissions import always, by_schedule, never, normalise_devices, normalise_keys
from accessapi.permissions.passes import Json, is_plain, normal_pass, sort_key
from portal.domain.people.member_fields import PRIVILEGE
from portal.domain.rights.schedules import Slot, items_of, slot_of

NEVER, ALWAYS = "never", "always"
ALLOW_ALL, DENY_ALL, SELECTED, UNCHANGED = "allow_all", "deny_all", "option", "keep"
_KNOWN_MODES = (ALLOW_ALL, DENY_ALL, SELECTED)


@dataclass
class Schedule:
    """The lines of one schedule. `name` is the name of its template, if any."""

    slots: list[Slot] = field(default_factory=list)
    name: str = ""

    @classmethod
    def of(cls, pass_: Json, name: str = "") -> "Schedule":
        return cls([slot_of(item) for item in pass_["schedule"]], name)

    @property
    def filled_slots(self) -> list[Slot]:
        return [slot for slot in self.slots if not slot.is_blank]

    def to_pass(self) -> Json:
        """Return the pass. Unreadable lines are left out and get a message in their `problems`."""
        items = [item for slot in self.filled_slots for item in items_of(slot)]
        made: Json = normal_pass(by_schedule(*items))
        return made

    @property
    def is_wrong(self) -> bool:
        """Return True if a line needs correcting. Call `to_pass` first."""
        return any(slot.problems for slot in self.filled_slots)


@dataclass
class SchedulePool:
    """The schedules and the undescribed passes, by the choices that name them."""

    schedules: dict[str, Schedule] = field(default_factory=dict)
    raw_passes: dict[str, Any] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def choice_of(self, pass_: Any) -> str:
        """Return the choice for this pass. Add a schedule or an undescribed pass if there is no equal one."""
        value = normal_pass(pass_)
        if is_plain(value) and value["effect"] != "allow":
            return ALWAYS if value["effect"] == "allow_all" else NEVER
        key = sort_key(value)
        if key not in self._names:
            self._names[key] = self.add(value)
        return self._names[key]

    def index_schedules(self) -> None:
        """Index the schedules that came from a form, so that `choice_of` finds equal ones."""
        for choice, schedule in self.schedules.items():
            pass_ = schedule.to_pass()
            if not schedule.is_wrong:
                self._names.setdefault(sort_key(pass_), choice)
        for choice, value in self.raw_passes.items():
            self._names.setdefault(sort_key(value), choice)

    def add(self, pass_: Any, name: str = "") -> str:
        """Add a separate schedule or undescribed pass, even if there is an equal one. Return its choice."""
        if is_plain(pass_) and pass_["effect"] == "allow":
            choice = free_name("s", self.schedules)
            self.schedules[choice] = Schedule.of(pass_, name)
        else:
            choice = free_name("k", self.raw_passes)
            self.raw_passes[choice] = pass_
        return choice

    def pass_of(self, choice: str) -> Any:
        """Return the pass of a choice; "never" for an unknown choice."""
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
    """Entry permissions or key permissions.

    With `mode` UNCHANGED, `raw` has an unknown shape and is kept. `raw_entries` are undescribed entries,
    `unknown_fields` unknown fields.
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
    """One key box with its own mode, or `raw` if it is undescribed."""

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
    listed, raw_entries = _split(units, "unit_no")
    return BoxRights(mode, {name: pool.choice_of(unit["pass"]) for name, unit in listed.items()}, raw_entries)


def _entry_of(name: str, box: BoxRights, pool: SchedulePool) -> Any:
    if box.mode == UNCHANGED:
        return box.raw
    if box.mode != SELECTED:
        return {"key_device_id": name, "default_mode": box.mode}
    given = [(unit_no, pool.pass_of(choice)) for unit_no, choice in box.units.items() if choice != NEVER]
    units = [{"unit_no": unit_no, "pass": pass_} for unit_no, pass_ in given]
    return {"key_device_id": name, "default_mode": SELECTED, "units": [*units, *box.raw_units]}


def _read_mode(side: RightsSide, normal: Json, list_name: str) -> list[Any]:
    """Set the mode and the unknown fields of a side from rights in canonical form. Return their entries."""
    side.unknown_fields = {name: value for name, value in normal.items() if name not in ("default_mode", list_name)}
    mode, entries = normal.get("default_mode"), normal.get(list_name, [])
    if isinstance(mode, str) and mode in _KNOWN_MODES and isinstance(entries, list):
        side.mode = mode
        return entries
    side.mode, side.raw = UNCHANGED, normal
    return []


def _split(entries: list[Any], identifier: str) -> tuple[dict[str, Json], list[Any]]:
    """Return entries that consist of a name and a pass, each name once, and the other entries unchanged."""
    listed: dict[str, Json] = {}
    raw_entries: list[Any] = []
    for entry in entries:
        name = entry.get(identifier) if isinstance(entry, dict) else None
        if _usable(name) and name not in listed and set(entry) == {identifier, "pass"}:
            listed[str(name)] = entry
        else:
            raw_entries.append(entry)
    return listed, raw_entries


def _usable(name: Any) -> bool:
    """Return True if an id can be the name of a form's field: text that UTF-8 can encode."""
    if not isinstance(name, str):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass
class RightsSheet:
    """All rights of one member.

    `devices` or `keys` None: unknown, and not to be changed. `unknown_privileges` are unknown privileges and those
    whose values are not true or false, unchanged.
    """

    pool: SchedulePool = field(default_factory=SchedulePool)
    devices: AreaRights | None = None
    keys: KeyRights | None = None
    privilege: dict[str, bool] = field(default_factory=dict)
    unknown_privileges: Any = field(default_factory=dict)

    @classmethod
    def of(cls, rights: Mapping[str, Any]) -> "RightsSheet":
        """Return the sheet of rights from the service: {"devices_pass", "keys_pass", "privilege"}."""
        sheet = cls()
        if rights.get("devices_pass") is not None:
            sheet.devices = AreaRights.of(rights["devices_pass"], sheet.pool)
        if rights.get("keys_pass") is not None:
            sheet.keys = KeyRights.of(rights["keys_pass"], sheet.pool)
        privilege = rights.get("privilege")
        sheet.privilege, sheet.unknown_privileges = split_privilege(privilege)
        return sheet

    def to_body(self) -> dict[str, Any]:
        """Return the rights for the request to the service, with the parts that the sheet has."""
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
        """Return True if a schedule has an unreadable line. It parses every schedule."""
        for schedule in self.pool.schedules.values():
            schedule.to_pass()
        return any(schedule.is_wrong for schedule in self.pool.schedules.values())


def split_privilege(privilege: Any) -> tuple[dict[str, bool], Any]:
    """Return privileges that are true or false (absent: false, as specified), and everything else unchanged."""
    if privilege is not None and not isinstance(privilege, dict):
        return {}, privilege
    given = privilege or {}
    # 0 equals False, but the service does not use it for false.
    plain = {
        name: bool(value) for name in PRIVILEGE.default if (value := given.get(name)) is None or isinstance(value, bool)
    }
    return plain, {name: value for name, value in given.items() if name not in plain}
