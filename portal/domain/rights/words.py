"""Rights in words for pages, with the names of areas, key boxes and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, JSONField, Value
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.permissions import always, never, normalise_devices, normalise_keys, phrase_pass
from accessapi.permissions.passes import normal_pass, sort_key
from portal.base.ui.value_words import join_values
from portal.domain.people.member_fields import PRIVILEGES
from portal.domain.places.models import Area, KeyBox, natural_key
from portal.domain.rights.member_rights import canonical


@dataclass(frozen=True)
class BoxNames:
    """A key box: its name, and its keys' names by number in the order of numbers."""

    name: str
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaceNames:
    """Areas and key boxes by id, each in the order of names. Other places in rights are shown by their ids."""

    areas: Mapping[str, str] = field(default_factory=dict)
    boxes: Mapping[str, BoxNames] = field(default_factory=dict)

    def area_name(self, area_id: str) -> str:
        return self.areas.get(area_id) or area_id

    def box_name(self, key_device_id: str) -> str:
        found = self.boxes.get(key_device_id)
        return found.name if found else key_device_id

    def key_name(self, key_device_id: str, unit_no: str) -> str:
        """Return a key's name, empty if it has none."""
        found = self.boxes.get(key_device_id)
        return found.units.get(unit_no, "") if found else ""


def load_place_names() -> PlaceNames:
    """Return the places of the current tenant, with one query."""
    areas = _named(Area, "area_id", "area_name", Value(None, JSONField()))
    boxes = _named(KeyBox, "key_device_id", "key_device_name", F("units"))
    found = sorted(areas.union(boxes, all=True), key=lambda row: (natural_key(row[1]), row[0]))
    return PlaceNames(
        {id_: name or id_ for kind, name, id_, _ in found if kind == Area.__name__},
        {id_: BoxNames(name or id_, _units(units)) for kind, name, id_, units in found if kind == KeyBox.__name__},
    )


def _named(model: type[Area] | type[KeyBox], identifier: str, name: str, units: Any) -> Any:
    rows = model.objects.annotate(kind=Value(model.__name__), named=F(name), id_=F(identifier), holds=units)
    return rows.values_list("kind", "named", "id_", "holds")


def _units(listed: object) -> dict[str, str]:
    """Return numbers and names of a key box's array of units. Anything else in the array is ignored."""
    units = [unit for unit in listed if isinstance(unit, dict)] if isinstance(listed, list) else []
    named = {str(unit["unit_no"]): str(unit.get("unit_name") or "") for unit in units if unit.get("unit_no")}
    return dict(sorted(named.items(), key=lambda unit: natural_key(unit[0])))


_MOST_NAMED = 3


@dataclass(frozen=True)
class RightsLine:
    """One statement. `kind`: "area", "box", "key", or "all" for everything at once. `pass_` is drawn as a week."""

    kind: str
    target: str
    unit_no: str
    place: str
    when: str
    pass_: Any = None
    is_unknown: bool = False

    def __str__(self) -> str:
        return _("%(place)s: %(when)s") % {"place": self.place, "when": self.when} if self.place else self.when


@dataclass(frozen=True)
class RightsDifference:
    """A place whose pass differs, in words. `passes` are the two passes (None: not a pass)."""

    place: str
    before: str
    after: str
    passes: tuple[Any, Any] = (None, None)


def pass_text(pass_: Any) -> str:
    """Return a pass as a separate sentence: "Weekdays 08:00 to 19:00, and 1 December 2026 all day"."""
    return capitalise(phrase_pass(pass_, _))


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def device_lines(devices_pass: Any, places: PlaceNames) -> list[RightsLine]:
    """Return the accessible areas: one line for everything, or one for each area in the order of names."""
    rights = normalise_devices(devices_pass)
    mode = rights.get("default_mode")
    if mode == "allow_all":
        return [RightsLine("all", "", "", "", _("Every area, including areas added later"), always())]
    if mode == "deny_all":
        return [RightsLine("all", "", "", "", _("No area"), never())]
    if mode != "option" or not isinstance(rights.get("areas_list"), list):
        return [_unknown_line(rights)]
    lines = [_entry(entry, "area_id", "area", "", places) for entry in rights["areas_list"]]
    order = {area_id: place for place, area_id in enumerate(places.areas)}
    return sorted(lines, key=lambda line: (line.is_unknown, order.get(line.target, len(order)), line.target))


def key_lines(keys_pass: Any, places: PlaceNames) -> list[RightsLine]:
    """Return the permitted keys: one line for everything, or one for each key box or key."""
    rights = normalise_keys(keys_pass)
    mode = rights.get("default_mode")
    if mode == "allow_all":
        return [RightsLine("all", "", "", "", _("Every key box, including key boxes added later"), always())]
    if mode == "deny_all":
        return [RightsLine("all", "", "", "", _("No key"), never())]
    if mode != "option" or not isinstance(rights.get("key_devices_list"), list):
        return [_unknown_line(rights)]
    return [line for box in rights["key_devices_list"] for line in _box(box, places)]


def rights_lines(rights: Mapping[str, Any], places: PlaceNames) -> list[RightsLine]:
    """Return the lines of areas, then those of keys. An unknown part has no line."""
    devices, keys = rights.get("devices_pass"), rights.get("keys_pass")
    found = [] if devices is None else device_lines(devices, places)
    return found if keys is None else [*found, *key_lines(keys, places)]


def group_by_time(found: list[RightsLine]) -> list[str]:
    """Return lines with the same times joined: "Lobby, Lab and 3 more: weekdays 08:00 to 19:00"."""
    together: dict[str, list[RightsLine]] = {}
    for line in found:
        together.setdefault(line.when if line.place else f"\0{line.when}", []).append(line)
    return [_group_text(group) for group in together.values()]


def summary_lines(rights: Mapping[str, Any], places: PlaceNames) -> list[str]:
    """Return rights as sentences, those with the same times joined."""
    return [capitalise(text) for text in group_by_time(rights_lines(rights, places))]


def summary_text(rights: Mapping[str, Any], places: PlaceNames) -> str:
    """Return all rights as one paragraph."""
    return " ".join(_("%(text)s.") % {"text": text} for text in summary_lines(rights, places))


def differences(before: Mapping[str, Any], after: Mapping[str, Any], places: PlaceNames) -> list[RightsDifference]:
    """Return each place and privilege whose rights differ in meaning."""
    old, new = canonical(before), canonical(after)
    found = []
    for name, described in (("devices_pass", device_lines), ("keys_pass", key_lines)):
        if old[name] != new[name] and new[name] is not None:
            found += _differences(described(old[name], places), described(new[name], places), name)
    if old["privilege"] != new["privilege"]:
        found += _privileges(old["privilege"], new["privilege"])
    return found


def privilege_words() -> dict[str, str]:
    return {flag.name: str(flag.label) for flag in PRIVILEGES}


def _group_text(group: list[RightsLine]) -> str:
    if not group[0].place:
        return group[0].when
    named = [line.place for line in group[:_MOST_NAMED]]
    more = len(group) - len(named)
    text = join_values(named)
    if more:
        text = ngettext("%(list)s and %(n)d more", "%(list)s and %(n)d more", more) % {"list": text, "n": more}
    return _("%(place)s: %(when)s") % {"place": text, "when": group[0].when}


def _differences(old: list[RightsLine], new: list[RightsLine], name: str) -> list[RightsDifference]:
    """Return the differences of two lists, place by place.

    Where everything was allowed, each place counts as allowed at any time. No extra line is needed where a list
    replaces "no access".
    """
    was, now = _by_place(old), _by_place(new)
    all_places = _("All areas") if name == "devices_pass" else _("All keys")
    keys = dict.fromkeys([*now, *was])
    if _WHOLE in keys and never() in (_pass(was, _WHOLE), _pass(now, _WHOLE)) and len(keys) > 1:
        del keys[_WHOLE]
    return [
        RightsDifference(
            (now.get(key) or was[key]).place or all_places,
            _when(was, key),
            _when(now, key),
            (_pass(was, key), _pass(now, key)),
        )
        for key in keys
        if sort_key(_pass(was, key)) != sort_key(_pass(now, key)) or (key == _WHOLE and len(keys) > 1)
    ]


_Placed = dict[tuple[str, str, str], RightsLine]
_WHOLE = ("", "", "")


def _by_place(found: list[RightsLine]) -> _Placed:
    return {(line.target, line.unit_no, line.when if line.is_unknown else ""): line for line in found}


def _pass(placed: _Placed, key: tuple[str, str, str]) -> Any:
    """Return the pass of a place: its own, or the one for everything."""
    line = placed.get(key) or placed.get(_WHOLE)
    return line.pass_ if line else None


def _when(placed: _Placed, key: tuple[str, str, str]) -> str:
    if key in placed:
        return placed[key].when
    if key == _WHOLE:
        return _("selected only")
    return _("at any time") if _pass(placed, key) == always() else _("not listed")


def _privileges(old: Any, new: Any) -> list[RightsDifference]:
    was, now = (value if isinstance(value, dict) else {"": value} for value in (old, new))
    words = privilege_words()
    names = [name for name in dict.fromkeys([*was, *now]) if was.get(name) != now.get(name)]
    return [RightsDifference(words.get(name, name), yes_no(was.get(name)), yes_no(now.get(name))) for name in names]


def yes_no(value: Any) -> str:
    return _("yes") if value is True else _("no") if value is False else str(value)


def _box(box: Any, places: PlaceNames) -> list[RightsLine]:
    device = box.get("key_device_id") if isinstance(box, dict) else None
    if not isinstance(device, str):
        return [_unknown_line(box)]
    name, mode = places.box_name(device), box.get("default_mode")
    if mode == "allow_all":
        return [RightsLine("box", device, "", name, _("every key, including keys added later"), always())]
    if mode == "deny_all":
        return [RightsLine("box", device, "", name, _("no key"), never())]
    if mode != "option" or not isinstance(box.get("units", []), list):
        return [_unknown_line(box, device, name)]
    return [_entry(unit, "unit_no", "key", device, places) for unit in box.get("units", [])]


def _entry(entry: Any, identifier: str, kind: str, box: str, places: PlaceNames) -> RightsLine:
    name = entry.get(identifier) if isinstance(entry, dict) else None
    if not isinstance(name, str):
        return _unknown_line(entry, box, places.box_name(box) if box else "")
    place = unit_name(box, name, places) if box else places.area_name(name)
    pass_ = normal_pass(entry.get("pass"))
    odd = set(entry) - {identifier, "pass"}
    target, unit_no = (box, name) if box else (name, "")
    if odd:
        return RightsLine(kind, target, unit_no, place, _unknown(entry), entry, is_unknown=True)
    return RightsLine(kind, target, unit_no, place, phrase_pass(pass_, _), pass_)


def unit_name(box: str, unit_no: str, places: PlaceNames) -> str:
    """Return a key's name with its key box: "Key box 1 · 01 Van"."""
    named = " ".join(filter(None, (unit_no, places.key_name(box, unit_no))))
    return _("%(box)s · %(unit)s") % {"box": places.box_name(box), "unit": named}


def _unknown_line(value: Any, target: str = "", place: str = "") -> RightsLine:
    return RightsLine("all", target, "", place, _unknown(value), value, is_unknown=True)


def _unknown(value: Any) -> str:
    text = str(value)
    return _("unknown setting: %(value)s") % {"value": text if len(text) <= 80 else text[:79] + "…"}
