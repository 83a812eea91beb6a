"""Round trips: written values must be read again. They find out which of the operations loses a field.

A field that the read does not show after the creation is written again by an update. If it appears then, the creation
lost it; if it still does not, the read does not show it.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from accessapi import permissions
from tests.contract.lab import House
from tests.contract.outcomes import Outcome
from tests.contract.shapes import Json
from tests.contract.things import days_ahead
from tests.contract.values import differences

#: Minutes in which a guest may still return keys.
GRACE_MINUTES = 45
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass
class Trip:
    """A record that was created with `given`, and the fields that were lost, by the operation that lost them."""

    identifier: str
    given: Json
    read: Json = field(repr=False)
    lost_by_create: dict[str, str] = field(default_factory=dict)
    lost_by_read: dict[str, str] = field(default_factory=dict)

    def seen(self, fields: Json) -> Json:
        """Return those of `fields` that the read can show."""
        return {name: value for name, value in fields.items() if name not in self.lost_by_read}


def member_trip(house: House) -> Trip:
    """Return a member with everything that the tenant's contracts allow; created once."""
    return house.once("member trip", lambda: _member_trip(house))  # type: ignore[no-any-return]


def _member_trip(house: House) -> Trip:
    given = member_fields(house)
    member_id = house.call("create_member", body=given)["member_id"]
    path = {"member_id": member_id}
    trip = Trip(member_id, given, house.call("read_member", path=path))
    if wrong := differences(given, trip.read):
        again = {name: given[name] for name in wrong}
        still = wrong
        if house.reply("update_member", path=path, body=again).fine:
            still = differences(again, house.call("read_member", path=path))
        _blame(trip, wrong, still)
        _ask_the_list(house, trip)
    return trip


def _blame(trip: Trip, wrong: dict[str, str], still: dict[str, str]) -> None:
    """Set which operation lost each field: the read if the field is still missing after an update (`still`)."""
    trip.lost_by_read = still
    trip.lost_by_create = {name: text for name, text in wrong.items() if name not in still}


def _ask_the_list(house: House, trip: Trip) -> None:
    """Blame the creation instead of the read for fields on which the list agrees with the read."""
    try:
        rows = house.everyone()
    except Outcome:
        return
    row = next((row for row in rows if row["member_id"] == trip.identifier), {})
    for name in list(trip.lost_by_read):
        if row.get(name) is not None and not differences({name: row[name]}, trip.read):
            trip.lost_by_create[name] = trip.lost_by_read.pop(name)


def member_fields(house: House) -> Json:
    """Return every field of a member that can be set here. Its use period begins tomorrow: it gives no access."""
    fields: Json = {
        "member_name": house.name("everything"),
        "membergroup_id": house.group_id(),
        "member_code": house.code(20),
        "card_data": house.card(),
        "use_date_start": days_ahead(300),
        "use_date_end": days_ahead(330.5),
    }
    if house.has("qr"):
        fields["qrcode"] = {"data": house.qr()}
    if house.has("door") and house.area_ids():
        fields["devices_pass"] = area_rights(house.area_ids())
    if house.has("key_box"):
        fields["privilege"] = {"keys_without_2fa": True, "restricted_keys_enabled": True}
        if house.usable_boxes():
            fields["keys_pass"] = key_rights(house.usable_boxes())
    return fields


def area_rights(area_ids: list[str]) -> Json:
    """Return rights by option: weekly and range schedules, always, and never, as far as there are areas."""
    start, end = days_ahead(301), days_ahead(302)
    scheduled = permissions.by_schedule(
        permissions.weekly("09:00:00", "17:30:00", *WEEKDAYS),
        permissions.weekly("10:00:00", "12:00:00", "Sunday", "Holiday"),
        {"mode": "range", "start": _edge(start), "end": _edge(end)},
    )
    passes = [scheduled, permissions.always(), permissions.never()]
    entries = [{"area_id": name, "pass": value} for name, value in zip(area_ids, passes, strict=False)]
    return {"default_mode": "option", "areas_list": entries}


def key_rights(boxes: list[Json]) -> Json:
    """Return rights by option: single units of the first key box with a schedule and always, all of the second."""
    morning = permissions.by_schedule(permissions.weekly("06:00:00", "11:59:59", "Monday", "Saturday"))
    numbers = [unit["unit_no"] for unit in boxes[0]["units"]]
    units = [
        {"unit_no": number, "pass": value}
        for number, value in zip(numbers, [morning, permissions.always()], strict=False)
    ]
    entries: list[Json] = [{"key_device_id": boxes[0]["key_device_id"], "default_mode": "option", "units": units}]
    if len(boxes) > 1:
        entries.append({"key_device_id": boxes[1]["key_device_id"], "default_mode": "allow_all", "units": []})
    return {"default_mode": "option", "key_devices_list": entries}


def _edge(moment: str) -> Json:
    date, _, time = moment.partition("T")
    return {"date": date, "time": time}


def guest_trip(house: House) -> Trip:
    """Return a guest with neither areas nor keys whose period is in the future; created once."""
    return house.once("guest trip", lambda: _guest_trip(house))  # type: ignore[no-any-return]


def _guest_trip(house: House) -> Trip:
    body = guest_body(house, "one")
    given = {
        name: value for name, value in body.items() if name not in ("qrcode_issuing_method", "return_grace_period")
    }
    given["qrcode_data"] = body["qrcode_issuing_method"]["qrcode_data"]
    guest_id = house.call("create_guest", body=body)["guest_id"]
    path = {"guest_id": guest_id}
    trip = Trip(guest_id, given, house.call("read_guest", path=path))
    if wrong := differences(given, trip.read):
        again = {name: given[name] for name in wrong if name != "is_for_reserve"}
        still = wrong
        if again and house.reply("update_guest", path=path, body=again).fine:
            still = differences({name: given[name] for name in wrong}, house.call("read_guest", path=path))
        _blame(trip, wrong, still)
    return trip


def guest_body(house: House, label: str, **fields: Any) -> Json:
    """Return the body of a new guest for an hour tomorrow. QR data is given directly, so that no mail is sent."""
    body: Json = {
        "guest_name": house.name(label),
        "use_date_start": days_ahead(1),
        "use_date_end": days_ahead(1 + 1 / 24),
        "qrcode_issuing_method": {"qrcode_data": house.qr()},
        "is_for_reserve": False,
    }
    if house.has("key_box"):
        body["return_grace_period"] = GRACE_MINUTES
    return body | fields


@dataclass(frozen=True)
class SecondGuest:
    """A guest that was created with one area and one key, if they exist and the service accepts them."""

    identifier: str
    area_id: str = ""
    key_device_id: str = ""
    unit_no: str = ""
    read: Json = field(default_factory=dict, repr=False)

    @property
    def path(self) -> dict[str, str]:
        return {"guest_id": self.identifier}

    @property
    def key(self) -> Json:
        """Return the key in the form in which a guest is given it."""
        return {"key_device_id": self.key_device_id, "units_no_list": [self.unit_no]}


def second_guest(house: House) -> SecondGuest:
    """Create the guest once, and read it at once. The period is tomorrow, and cleaning up ends it before."""

    def make() -> SecondGuest:
        guest = _second_guest(house)
        return replace(guest, read=house.call("read_guest", path=guest.path))

    return house.once("second guest", make)  # type: ignore[no-any-return]


def _second_guest(house: House) -> SecondGuest:
    body = guest_body(house, "two")
    area_id = house.area_ids()[0] if house.has("door") and house.area_ids() else ""
    if area_id:
        body["area_id_list"] = [area_id]
    for box in house.usable_boxes() if house.has("key_box") else []:
        units = sorted(box["units"], key=lambda unit: bool(unit.get("restriction")))
        guest = SecondGuest("", area_id, box["key_device_id"], units[0]["unit_no"])
        # Refused where the device setting for guest keys is off.
        reply = house.reply("create_guest", body=body | {"key_devices_list": [guest.key]})
        if not 400 <= reply.status <= 499:
            return replace(guest, identifier=house.judged("create_guest", reply)["guest_id"])
    return SecondGuest(house.call("create_guest", body=body)["guest_id"], area_id)
