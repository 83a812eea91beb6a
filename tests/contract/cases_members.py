"""Operations 4 to 6 and 10: members, one at a time."""

from accessapi import limits
from tests.contract.lab import UNKNOWN_ID, UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried, Outcome, Unneeded
from tests.contract.registry import case
from tests.contract.shapes import Json, kind
from tests.contract.things import days_ahead
from tests.contract.trips import member_trip
from tests.contract.values import blank, differences, raise_first, rights_difference, rights_faults


@case("create_member", "keeps every field that it is given")
def creates(house: House) -> None:
    raise_first("create_member", member_trip(house).lost_by_create)


@case("create_member", "takes names of 40 characters of any length in bytes; omitted rights equal deny_all")
def creates_short_and_long(house: House) -> None:
    name = house.long_name(limits.MEMBER_NAME_MAX)
    body = {"member_name": name, "membergroup_id": house.group_id()}
    answer = house.call("create_member", body=body)
    if answer["member_name"] != name:
        raise Differs("create_member", f"expected the member_name given in its answer, got {answer['member_name']!r}")
    read = house.call("read_member", path={"member_id": answer["member_id"]})
    if "member_name" not in member_trip(house).lost_by_read:
        raise_first("create_member", differences({"member_name": name}, read))
    for field, contract in (("devices_pass", "door"), ("keys_pass", "key_box")):
        if not house.has(contract) or field in member_trip(house).lost_by_read:
            continue
        if text := rights_difference(field, {"default_mode": "deny_all"}, read.get(field)):
            raise Differs("create_member", f"omitted rights: {text}")
    privilege = read.get("privilege")
    if isinstance(privilege, dict) and privilege.get("keys_without_2fa") is True:
        raise Differs("create_member", "privilege.keys_without_2fa: expected false by default, got true")


@case(
    "create_member",
    "refuses names of 0 and 41 characters, longer codes and cards, other rights, and missing fields",
    refusal=True,
)
def refuses_to_create(house: House) -> None:
    good: Json = {"member_name": house.name("refused"), "membergroup_id": house.group_id()}
    bad: list[tuple[str, Json]] = [
        ("a name of 41 characters", good | {"member_name": house.long_name(limits.MEMBER_NAME_MAX + 1)}),
        ("an empty name", good | {"member_name": ""}),
        ("a member_code of 21 characters", good | {"member_code": house.code(limits.MEMBER_CODE_MAX + 1)}),
        ("card_data of 17 characters", good | {"card_data": house.card(limits.CARD_DATA_MAX + 1)}),
        ("a member without member_name", {"membergroup_id": good["membergroup_id"]}),
        ("a member without membergroup_id", {"member_name": good["member_name"]}),
    ]
    if house.has("door") and house.area_ids():
        entry = {"area_id": house.area_ids()[0], "pass": {"effect": "maybe"}}
        bad += [
            ("another default_mode", good | {"devices_pass": {"default_mode": "maybe"}}),
            ("another effect", good | {"devices_pass": {"default_mode": "option", "areas_list": [entry]}}),
        ]
    for what, body in bad:
        house.refused("create_member", what, body=body)


@case("create_member", "refuses a card that is registered already", refusal=True)
def refuses_a_taken_card(house: House) -> None:
    trip = member_trip(house)
    if "card_data" in trip.lost_by_create:
        raise NotTried("create_member", "no card could be registered")
    body = {"member_name": house.name("same card"), "membergroup_id": house.group_id()}
    house.refused("create_member", "a card that is taken", body=body | {"card_data": trip.given["card_data"]})


@case("read_member", "shows everything that was given, with account_type and rights")
def reads(house: House) -> None:
    try:
        trip = member_trip(house)
    except Outcome:
        for row in house.everyone()[:1]:
            house.call("read_member", path={"member_id": row["member_id"]})
        raise
    if trip.read["member_id"] != trip.identifier:
        raise Differs("read_member", f"expected member_id {trip.identifier!r}, got {trip.read['member_id']!r}")
    raise_first("read_member", trip.lost_by_read)
    for name in ("devices_pass", "keys_pass"):
        if found := rights_faults(name, trip.read.get(name)):
            raise Differs("read_member", found[0])
    if not blank(trip.read.get("face_data")):
        raise Differs("read_member", f"face_data is {kind(trip.read['face_data'])} for a member without a face image")


@case("read_member", "shows one-time QR settings with their totp_seed", needs=("qr",))
def reads_one_time_qr(house: House) -> None:
    member_id, given = one_time_member(house)
    shown = house.call("read_member", path={"member_id": member_id}).get("qrcode")
    raise_first("read_member", differences({"qrcode": given}, {"qrcode": shown}))
    seed = shown["one_time_qr"].get("totp_seed")
    if not isinstance(seed, str) or not seed:
        raise Differs("read_member", f"qrcode.one_time_qr.totp_seed: expected a string, got {kind(seed)}")


def one_time_member(house: House) -> tuple[str, Json]:
    """Return a member with one-time QR enabled, and its qrcode as it was given."""

    def make() -> tuple[str, Json]:
        body = {"member_name": house.name("one-time QR"), "membergroup_id": house.group_id()}
        for timestep, skew in ((60, 1), (300, 0)):  # the specification does not show which values are allowed
            given = {
                "data": house.qr(),
                "one_time_qr": {"enabled": True, "timestep": timestep, "skew": skew},
            }
            reply = house.reply("create_member", body=body | {"qrcode": given})
            if reply.fine:
                return reply.json["member_id"], given
        raise Differs("create_member", f"a member with one-time QR was refused: HTTP {reply.status}")

    return house.once("one-time member", make)  # type: ignore[no-any-return]


@case("read_member", "refuses unknown identifiers and unknown access tokens", refusal=True)
def refuses_to_read(house: House) -> None:
    house.refused("read_member", "an unknown member_id", path={"member_id": UNKNOWN_ID})
    known = {"member_id": house.member()}
    house.refused("read_member", "an unknown access token", path=known, token=UNKNOWN_TOKEN, worded=False)


@case("read_member", "refuses the identifier of another tenant's member", refusal=True)
def refuses_other_tenants(house: House) -> None:
    other = house.lab.another("read_member", house)
    other.refused("read_member", "another tenant's member_id", path={"member_id": house.member()})


@case("update_member", "changes what it names and leaves everything else")
def updates(house: House) -> None:
    trip = member_trip(house)
    path = {"member_id": trip.identifier}
    changes: Json = {"member_code": house.code(7), "use_date_end": days_ahead(340)}
    answer = house.call("update_member", path=path, body=changes)
    if answer["member_id"] != trip.identifier:
        raise Differs("update_member", f"expected member_id {trip.identifier!r}, got {answer['member_id']!r}")
    read = house.call("read_member", path=path)
    raise_first("update_member", differences(trip.seen(changes), read))
    stay = {name: value for name, value in trip.seen(trip.given).items() if name not in changes}
    stay = {name: value for name, value in stay.items() if name not in trip.lost_by_create}
    if wrong := differences(stay, read):
        raise Differs("update_member", f"changed though not named: {'; '.join(list(wrong.values())[:3])}")


@case("update_member", "replaces name, group, card, QR code and rights; null clears the use dates")
def replaces(house: House) -> None:
    trip = member_trip(house)
    path = {"member_id": trip.identifier}
    changes: Json = {
        "member_name": house.name("renamed"),
        "card_data": house.card(),
        "use_date_start": None,
        "use_date_end": None,
    }
    others = [row["membergroup_id"] for row in house.groups() if row["membergroup_id"] != trip.given["membergroup_id"]]
    if others:
        changes["membergroup_id"] = others[0]
    if "qrcode" in trip.given:
        changes["qrcode"] = {"data": house.qr()}
    if "devices_pass" in trip.given:
        changes["devices_pass"] = {"default_mode": "allow_all"}
    if "keys_pass" in trip.given:
        changes["keys_pass"] = {"default_mode": "deny_all"}
    if "privilege" in trip.given:
        changes["privilege"] = {"keys_without_2fa": False, "restricted_keys_enabled": True}
    answer = house.call("update_member", path=path, body=changes)
    if answer["member_name"] != changes["member_name"]:
        raise Differs("update_member", f"expected the new member_name in its answer, got {answer['member_name']!r}")
    raise_first("update_member", differences(trip.seen(changes), house.call("read_member", path=path)))


@case("update_member", "removes the QR code in the shape that the overrides give", needs=("qr",))
def removes_qr(house: House) -> None:
    if house.lab.catalogue.shapes.qr_removal is None:
        raise Unneeded("update_member", "the shape of removing a QR code is not shown")
    path = {"member_id": house.new_member("no QR", qrcode={"data": house.qr()})}
    house.call("update_member", path=path, body={"qrcode": None})
    shown = house.call("read_member", path=path).get("qrcode")
    if isinstance(shown, dict) and shown.get("data"):
        raise Differs("update_member", "qrcode.data is still there after the removal")


@case("update_member", "refuses unknown identifiers, longer values and a card that is taken", refusal=True)
def refuses_to_update(house: House) -> None:
    house.refused(
        "update_member", "an unknown member_id", path={"member_id": UNKNOWN_ID}, body={"member_name": house.name("x")}
    )
    path = {"member_id": house.member()}
    for what, body in (
        ("a name of 41 characters", {"member_name": house.long_name(limits.MEMBER_NAME_MAX + 1)}),
        ("an empty name", {"member_name": ""}),
        ("a member_code of 21 characters", {"member_code": house.code(limits.MEMBER_CODE_MAX + 1)}),
        ("card_data of 17 characters", {"card_data": house.card(limits.CARD_DATA_MAX + 1)}),
        ("a card that is taken", {"card_data": _taken_card(house)}),
    ):
        house.refused("update_member", what, path=path, body=body)


def _taken_card(house: House) -> str:
    card = house.card()
    house.new_member("with a card", card_data=card)
    return card


@case("delete_member", "takes the member away: it can no longer be read, nor is it listed")
def deletes(house: House) -> None:
    member_id = house.new_member("deleted")
    house.call("delete_member", path={"member_id": member_id})
    reply = house.reply("read_member", path={"member_id": member_id})
    if reply.fine:
        raise Differs("delete_member", "the member can still be read after it was deleted")
    if any(row["member_id"] == member_id for row in house.everyone()):
        raise Differs("delete_member", "the member is still in the list after it was deleted")
    house.gone(member_id)


@case("delete_member", "refuses the identifier of another tenant's member", refusal=True)
def keeps_other_tenants(house: House) -> None:
    other = house.lab.another("delete_member", house)
    path = {"member_id": house.member()}
    if other.reply("read_member", path=path).fine:  # another tenant may have the same identifier
        raise NotTried("delete_member", "the other tenant has a member of the same identifier")
    other.reply("delete_member", path=path)
    if not house.reply("read_member", path=path).fine:
        raise Differs("delete_member", "another tenant could delete the member")
