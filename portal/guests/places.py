"""Areas, keys and hosts for the desk's forms: choices from the mirror, and conversion to the specification's shapes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from portal.base.ui.value_words import add_label, join_values
from portal.domain.people import queries as mirror
from portal.domain.people.models import Member
from portal.domain.people.text_folding import fold, search_terms, stored_forms
from portal.domain.places.queries import areas, key_boxes

Choices = list[tuple[str, str]]
Keys = list[dict[str, Any]]
_MOST_HOSTS = 12
_LABEL = re.compile(r"(.*\S)\s*\[(.+)\]\s*")


@dataclass(frozen=True)
class Host:
    """The person that a guest visits: a name, and the member ID if it is a member."""

    name: str = ""
    member_id: str = ""


class GuestPlaces:
    """The areas and keys that guests can get, from the mirror of the tenant in scope; loaded at first use."""

    @cached_property
    def areas(self) -> Choices:
        """Return (area_id, name) of each area."""
        rows = areas().values_list("area_id", "area_name")
        return [(area_id, name or area_id) for area_id, name in rows]

    @cached_property
    def boxes(self) -> list[tuple[str, str, Choices]]:
        """Return (key_device_id, name, [(unit_no, unit_name), …]) of each key box."""
        rows = key_boxes().only("tenant_id", "key_device_id", "key_device_name", "units")
        return [(box.key_device_id, str(box), _units(box.units)) for box in rows]

    def area_choices(self, in_use: Iterable[str] = ()) -> Choices:
        """Return the areas, then areas in use that no longer exist, marked as deleted."""
        known = dict(self.areas)
        return [
            *self.areas,
            *((deleted, _deleted_text(deleted)) for deleted in dict.fromkeys(in_use) if deleted not in known),
        ]

    def key_choices(self, in_use: Iterable[str] = ()) -> list[tuple[str, Choices]]:
        """Return the keys grouped by key box, with `unit_value` values, then keys in use that no longer exist."""
        groups = [
            (name, [(unit_value(box, unit_no), word) for unit_no, word in units]) for box, name, units in self.boxes
        ]
        known = {value for _name, units in groups for value, _word in units}
        deleted = [value for value in dict.fromkeys(in_use) if value not in known]
        if deleted:
            groups.append(
                (_("Deleted"), [(value, _deleted_text(" ".join(_split_unit_value(value)))) for value in deleted])
            )
        return [group for group in groups if group[1]]

    def area_names(self, area_ids: Sequence[str]) -> list[str]:
        if not area_ids or not isinstance(area_ids, (list, tuple)):
            return []
        known = dict(self.areas)
        return [known.get(area_id) or _deleted_text(area_id) for area_id in map(str, area_ids)]

    def key_names(self, keys: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return one line for each key box: its name and its keys."""
        if not keys or not isinstance(keys, (list, tuple)):
            return []
        boxes = {box: (name, dict(units)) for box, name, units in self.boxes}
        lines = []
        for item in keys:
            if not isinstance(item, dict):  # the service's data is not validated here
                continue
            box = str(item.get("key_device_id"))
            name, units = boxes.get(box, (_deleted_text(box), {}))
            listed = item.get("units_no_list")
            numbers = listed if isinstance(listed, list) else []
            lines.append(add_label(join_values(units.get(str(number), str(number)) for number in numbers), name))
        return lines


def _units(units: Any) -> Choices:
    found = []
    for unit in units if isinstance(units, list) else []:
        if isinstance(unit, dict) and isinstance(unit.get("unit_no"), str):
            name = unit.get("unit_name")
            found.append((unit["unit_no"], f"{unit['unit_no']} {name}" if name else unit["unit_no"]))
    return found


def _deleted_text(what: str) -> str:
    return _("%(what)s (deleted)") % {"what": what}


def unit_value(key_device_id: str, unit_no: str) -> str:
    """Return a unit as the value of a choice."""
    return f"{unit_no}@{key_device_id}"


def _split_unit_value(value: str) -> tuple[str, str]:
    unit_no, _at, box = value.partition("@")
    return box, unit_no


def values_of(keys: Any) -> list[str]:
    """Return a key_devices_list as choice values, without malformed entries."""
    found = []
    for item in keys if isinstance(keys, list) else []:
        if isinstance(item, dict) and isinstance(item.get("units_no_list"), list):
            found += [unit_value(str(item.get("key_device_id")), str(number)) for number in item["units_no_list"]]
    return found


def keys_of(values: Iterable[str]) -> Keys:
    """Return choice values as a key_devices_list: one entry for each box, units in order."""
    boxes: dict[str, list[str]] = {}
    for value in values:
        box, unit_no = _split_unit_value(value)
        boxes.setdefault(box, []).append(unit_no)
    return [{"key_device_id": box, "units_no_list": sorted(set(units))} for box, units in boxes.items()]


def host_choices(text: str) -> list[str]:
    """Return suggested names for `text`: names that contain its words, with the group if names are equal.

    The desk must not learn members' codes: they are not shown, and names are not found by a code.
    """
    words = search_terms(text)
    if not words:
        return []
    found = mirror.search_members(mirror.members(), text).order_by("name_key", "pk")[: _MOST_HOSTS * 4]
    members = [member for member in found if all(word in fold(member.member_name) for word in words)][:_MOST_HOSTS]
    names = [member.name_key for member in members]
    return list(dict.fromkeys(_label(member, names.count(member.name_key) > 1) for member in members))


def _label(member: Member, ambiguous: bool) -> str:
    group = member.membergroup_name
    return f"{member.member_name} [{group}]" if ambiguous and group else str(member.member_name)


def host_of(text: str) -> Host:
    """Return the only member of this name (with group or code in brackets), otherwise the name without a member."""
    text = text.strip()
    if not text:
        return Host()
    labelled = _LABEL.fullmatch(text)
    name, mark = (labelled[1], labelled[2]) if labelled else (text, "")
    alike = mirror.members().filter(name_key__in=stored_forms(name))
    found = list(alike[:20])
    if mark:
        found = [member for member in found if mark in (member.membergroup_name, member.member_code)]
    if len(found) == 1:
        return Host(str(found[0].member_name), found[0].member_id)
    return Host(text)
