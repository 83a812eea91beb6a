"""Operations 20 to 22: guests. Their QR data is given directly, so that no mail is sent. They have no access."""

from datetime import datetime, timedelta
from typing import Any

from accessapi import limits
from accessapi.resources import write_moment
from tests.contract.lab import UNKNOWN_ID, UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried, Outcome
from tests.contract.registry import case
from tests.contract.shapes import Json
from tests.contract.things import days_ahead
from tests.contract.trips import GRACE_MINUTES, guest_body, guest_trip
from tests.contract.values import differences, raise_first, rights_faults


@case("create_guest", "keeps every field that it is given")
def creates(house: House) -> None:
    raise_first("create_guest", guest_trip(house).lost_by_create)


@case("create_guest", "takes names of 40, emails of 254 and QR data of 557 characters, and a grace of 10080 minutes")
def creates_long(house: House) -> None:
    name, data = house.long_name(limits.GUEST_NAME_MAX), house.qr(limits.GUEST_QRCODE_MAX)
    body = guest_body(house, "", guest_name=name, email=_email(), qrcode_issuing_method={"qrcode_data": data})
    if house.has("key_box"):
        body["return_grace_period"] = limits.GRACE_MINUTES_MAX
    answer = house.call("create_guest", body=body)
    if answer["guest_name"] != name:
        raise Differs("create_guest", f"expected the guest_name given in its answer, got {answer['guest_name']!r}")
    read = house.call("read_guest", path={"guest_id": answer["guest_id"]})
    raise_first("create_guest", differences(guest_trip(house).seen({"guest_name": name, "qrcode_data": data}), read))


def _email(length: int = limits.EMAIL_MAX) -> str:
    """Return an address of so many characters. The QR data is given directly: no mail is sent to it."""
    labels = "b" * 60 + "." + "c" * 60 + "." + "d" * 50 + ".example.com"
    return f"{'a' * (length - len(labels) - 1)}@{labels}"


def _keys(number: int) -> Json:
    return {"key_device_id": f"{UNKNOWN_ID}-{number}", "units_no_list": ["01"]}


def _bad_fields(house: House) -> list[tuple[str, Json]]:
    """Return values outside the limits. Fields of a contract are used only with it: without, they may be ignored."""
    found: list[tuple[str, Json]] = [
        ("a name of 41 characters", {"guest_name": house.long_name(limits.GUEST_NAME_MAX + 1)}),
        ("an empty name", {"guest_name": ""}),
        ("an email of 255 characters", {"email": _email(limits.EMAIL_MAX + 1)}),
    ]
    if house.has("door"):
        areas = [f"{UNKNOWN_ID}-{number}" for number in range(limits.GUEST_AREAS_MAX + 1)]
        found.append(("101 areas", {"area_id_list": areas}))
    if house.has("key_box"):
        boxes = [_keys(number) for number in range(limits.GUEST_KEY_DEVICES_MAX + 1)]
        found += [
            ("a return_grace_period of 10081 minutes", {"return_grace_period": limits.GRACE_MINUTES_MAX + 1}),
            ("a return_grace_period of -1", {"return_grace_period": -1}),
            ("101 key boxes", {"key_devices_list": boxes}),
        ]
    return found


@case("create_guest", "refuses what is outside its limits, and what lacks a required field", refusal=True)
def refuses_to_create(house: House) -> None:
    good = guest_body(house, "refused")
    too_long = {"qrcode_issuing_method": {"qrcode_data": house.qr(limits.GUEST_QRCODE_MAX + 1)}}
    for what, fields in [*_bad_fields(house), ("QR data of 558 characters", too_long)]:
        house.refused("create_guest", what, body=good | fields)
    for name in ("guest_name", "use_date_start", "use_date_end", "qrcode_issuing_method"):
        rest = {key: value for key, value in good.items() if key != name}
        house.refused("create_guest", f"a guest without {name}", body=rest)


@case("create_guest", "refuses an area that is named twice", needs=("door",), refusal=True)
def refuses_areas_twice(house: House) -> None:
    if not house.area_ids():
        raise NotTried("create_guest", "the tenant has no areas")
    body = guest_body(house, "refused", area_id_list=[house.area_ids()[0]] * 2)
    house.refused("create_guest", "an area that is named twice", body=body)


@case("read_guest", "shows everything that was given, and rights shaped as a member's")
def reads(house: House) -> None:
    try:
        trip = guest_trip(house)
    except Outcome:
        for row in house.call("list_guests", query={"limit": 1})["guests"]:
            house.call("read_guest", path={"guest_id": row["guest_id"]})
        raise
    if trip.read["guest_id"] != trip.identifier:
        raise Differs("read_guest", f"expected guest_id {trip.identifier!r}, got {trip.read['guest_id']!r}")
    raise_first("read_guest", trip.lost_by_read)
    for name in ("devices_pass", "keys_pass"):
        if found := rights_faults(name, trip.read.get(name)):
            raise Differs("read_guest", found[0])


@case("read_guest", "shows key_return_date_end, the end of use plus the return grace period", needs=("key_box",))
def reads_the_return_date(house: House) -> None:
    guest_id = guest_trip(house).identifier
    house.once("return date", lambda: _shows_return(house, guest_id))


def _shows_return(house: House, guest_id: str) -> bool:
    """Check the shown end of return. If an update corrects it, the creation was wrong; otherwise the read is wrong."""
    if wrong := return_fault(guest_trip(house).read, GRACE_MINUTES):
        path = {"guest_id": guest_id}
        house.call("update_guest", path=path, body={"return_grace_period": GRACE_MINUTES})
        still = return_fault(house.call("read_guest", path=path), GRACE_MINUTES)
        raise Differs("read_guest" if still else "create_guest", wrong)
    return True


def return_fault(read: Json, grace: int) -> str:
    """Return how the shown end of return does not match the end of use ("" when it does)."""
    shown, end = read.get("key_return_date_end"), read["use_date_end"]
    expected = write_moment(datetime.fromisoformat(end) + timedelta(minutes=grace))
    if shown == expected:
        return ""
    return f"key_return_date_end: expected {expected} ({grace} minutes after {end}), got {shown or 'nothing'}"


@case("read_guest", "refuses unknown identifiers and unknown access tokens", refusal=True)
def refuses_to_read(house: House) -> None:
    house.refused("read_guest", "an unknown guest_id", path={"guest_id": UNKNOWN_ID})
    known = {"guest_id": guest_trip(house).identifier}
    house.refused("read_guest", "an unknown access token", path=known, token=UNKNOWN_TOKEN, worded=False)


@case("read_guest", "refuses the identifier of another tenant's guest", refusal=True)
def refuses_other_tenants(house: House) -> None:
    other = house.lab.another("read_guest", house, having="qr")
    other.refused("read_guest", "another tenant's guest_id", path={"guest_id": guest_trip(house).identifier})


def _update(house: House, changes: Json) -> tuple[Json, Json]:
    trip = guest_trip(house)
    path = {"guest_id": trip.identifier}
    answer = house.call("update_guest", path=path, body=changes)
    return answer, house.call("read_guest", path=path)


@case("update_guest", "changes what it names and leaves everything else")
def updates(house: House) -> None:
    trip = guest_trip(house)
    changes: Json = {"remarks": "contract suite", "use_date_end": days_ahead(1 + 2 / 24)}
    answer, read = _update(house, changes)
    if answer["guest_id"] != trip.identifier:
        raise Differs("update_guest", f"expected guest_id {trip.identifier!r}, got {answer['guest_id']!r}")
    raise_first("update_guest", differences(trip.seen(changes), read))
    stay = {name: value for name, value in trip.seen(trip.given).items() if name not in changes}
    stay = {name: value for name, value in stay.items() if name not in trip.lost_by_create}
    if wrong := differences(stay, read):
        raise Differs("update_guest", f"changed though not named: {'; '.join(list(wrong.values())[:3])}")
    if (
        house.has("key_box")
        and not return_fault(trip.read, GRACE_MINUTES)
        and (text := return_fault(read, GRACE_MINUTES))
    ):
        raise Differs("update_guest", f"the grace period changed though not named: {text}")


@case("update_guest", "replaces name, QR data of up to 557 and remarks of up to 200 characters")
def replaces(house: House) -> None:
    data = house.qr(limits.GUEST_QRCODE_MAX)
    remarks = "x" * limits.REMARKS_MAX
    changes: Json = {"guest_name": house.name("guest renamed"), "qrcode_data": data, "remarks": remarks}
    answer, read = _update(house, changes)
    if answer["guest_name"] != changes["guest_name"]:
        raise Differs("update_guest", f"expected the new guest_name in its answer, got {answer['guest_name']!r}")
    raise_first("update_guest", differences(guest_trip(house).seen(changes), read))


@case("update_guest", "moves the end of key return with the return grace period", needs=("key_box",))
def moves_the_return_date(house: House) -> None:
    guest_id = guest_trip(house).identifier
    house.once("return date", lambda: _shows_return(house, guest_id))
    changes = {"use_date_end": days_ahead(1 + 3 / 24), "return_grace_period": limits.GRACE_MINUTES_MAX}
    _, read = _update(house, changes)
    if wrong := return_fault(read, limits.GRACE_MINUTES_MAX):
        raise Differs("update_guest", wrong)


@case("update_guest", "refuses what is outside its limits, and unknown guests", refusal=True)
def refuses_to_update(house: House) -> None:
    path = {"guest_id": guest_trip(house).identifier}
    bad: list[tuple[str, Any]] = [
        *_bad_fields(house),
        ("QR data of 558 characters", {"qrcode_data": house.qr(limits.GUEST_QRCODE_MAX + 1)}),
        ("remarks of 201 characters", {"remarks": "x" * (limits.REMARKS_MAX + 1)}),
    ]
    for what, body in bad:
        house.refused("update_guest", what, path=path, body=body)
    house.refused(
        "update_guest", "an unknown guest_id", path={"guest_id": UNKNOWN_ID}, body={"guest_name": house.name("x")}
    )
