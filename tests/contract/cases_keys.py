"""Operations 11 and 12: temporary key use, and one-time QR."""

from typing import Any

from accessapi import limits
from tests.contract.cases_members import one_time_member
from tests.contract.lab import UNKNOWN_ID, House
from tests.contract.outcomes import Differs, NotTried
from tests.contract.registry import case
from tests.contract.shapes import Json

#: How many key boxes are tried before giving up: some may not be set up for temporary use.
_TRIES = 3


def use_of(box: Json, **fields: Any) -> Json:
    """Return a body for one second of temporary use of an unrestricted key, without light or sound."""
    units = sorted(box["units"], key=lambda unit: bool(unit.get("restriction")))
    target = {"device_id": box["key_device_id"], "unit_no_list": [units[0]["unit_no"]]}
    body = {"target": "key", "timer": 1, "targets_list": [target], "device_action": False, "info": "contract suite"}
    return body | fields


def working(house: House) -> tuple[dict[str, str], Json, Json]:
    """Return a member, a key box that accepts temporary use, and its answer."""

    def find() -> tuple[dict[str, str], Json, Json]:
        boxes = house.usable_boxes()[:_TRIES]
        if not boxes:
            raise NotTried("temporary_use", "the tenant has no key box")
        path = {"member_id": house.new_member("keys", keys_pass={"default_mode": "allow_all"})}
        said = []
        for box in boxes:
            reply = house.reply("temporary_use", path=path, body=use_of(box))
            if reply.status in (405, 501) or not 400 <= reply.status <= 499:
                return path, box, house.judged("temporary_use", reply)
            said.append(str(reply.status))
        if set(said) == {"404"}:
            house.judged("temporary_use", reply)
        statuses = ", ".join(dict.fromkeys(said))
        raise NotTried("temporary_use", f"no key box took it (HTTP {statuses}); its device setting may be off")

    return house.once("temporary use", find)  # type: ignore[no-any-return]


@case("temporary_use", "says to which of the named key boxes it was sent")
def sends_temporary_use(house: House) -> None:
    _, box, answer = working(house)
    if strange := set(answer["sent_device_id_list"]) - {box["key_device_id"]}:
        raise Differs("temporary_use", f"sent_device_id_list names {sorted(strange)[0]!r}, which was not asked for")


@case("temporary_use", "gives nothing to a member without permission for the key", refusal=True)
def gives_nothing(house: House) -> None:
    _, box, _ = working(house)
    reply = house.reply("temporary_use", path={"member_id": house.member()}, body=use_of(box))
    # Refused, or sent to no key box: the specification does not show which.
    if reply.fine and house.judged("temporary_use", reply)["sent_device_id_list"]:
        raise Differs("temporary_use", "it was sent for a member who holds no permission for the key")


@case("temporary_use", "refuses what is outside its limits", refusal=True)
def refuses_temporary_use(house: House) -> None:
    path, box, _ = working(house)
    good = use_of(box)
    target = good["targets_list"][0]
    bad: list[tuple[str, Json]] = [
        ("a target other than key", good | {"target": "door"}),
        ("a timer of 86401 seconds", good | {"timer": limits.TEMPORARY_USE_SECONDS_MAX + 1}),
        ("a timer of -1 seconds", good | {"timer": -1}),
        ("an info of 101 characters", good | {"info": "x" * (limits.INFO_MAX + 1)}),
        ("101 targets", good | {"targets_list": [target] * (limits.TEMPORARY_USE_TARGETS_MAX + 1)}),
        ("a request without target", {key: value for key, value in good.items() if key != "target"}),
        ("a request without timer", {key: value for key, value in good.items() if key != "timer"}),
    ]
    for what, body in bad:
        house.refused("temporary_use", what, path=path, body=body)
    house.refused("temporary_use", "an unknown member_id", path={"member_id": UNKNOWN_ID}, body=good)


@case("one_time_qr", "gives SL-OTQR?v=1&data=…&totp=… for a member with one-time QR")
def issues(house: House) -> None:
    member_id, given = one_time_member(house)
    answer = house.call("one_time_qr", path={"member_id": member_id})
    text = house.lab.secret(answer["one_time_qr_data"])
    prefix, _, rest = text.partition("?")
    names = [part.partition("=")[0] for part in rest.split("&")]
    if prefix != limits.ONE_TIME_QR_PREFIX or names != ["v", "data", "totp"]:
        raise Differs(
            "one_time_qr",
            f"one_time_qr_data: expected SL-OTQR?v=…&data=…&totp=…, got {prefix[:10]}?{'&'.join(names)[:40]}",
        )
    values = dict(part.partition("=")[::2] for part in rest.split("&"))
    wrong = {
        "member_id": (member_id, answer["member_id"]),
        "version": ("1", answer["version"]),
        "v in one_time_qr_data": ("1", values["v"]),
    }
    for name, (expected, got) in wrong.items():
        if expected != got:
            raise Differs("one_time_qr", f"{name}: expected {expected!r}, got {got!r}")
    if values["data"] != given["data"]:
        raise Differs("one_time_qr", "data in one_time_qr_data is not the member's QR data")
    if not values["totp"]:
        raise Differs("one_time_qr", "totp in one_time_qr_data is empty")
    if answer["expiration_in_seconds"] < 0:
        raise Differs("one_time_qr", f"expiration_in_seconds is negative: {answer['expiration_in_seconds']}")


@case("one_time_qr", "takes version=1, and refuses any other", refusal=True)
def takes_a_version(house: House) -> None:
    path = {"member_id": one_time_member(house)[0]}
    answer = house.call("one_time_qr", path=path, query={"version": "1"})
    house.lab.secret(answer["one_time_qr_data"])
    if answer["version"] != "1":
        raise Differs("one_time_qr", f"version: expected '1', got {answer['version']!r}")
    house.refused("one_time_qr", "version=2", path=path, query=[("version", "2")])


@case("one_time_qr", "refuses members without one-time QR, and unknown ones", refusal=True)
def refuses_to_issue(house: House) -> None:
    house.refused("one_time_qr", "a member without one-time QR", path={"member_id": house.member()})
    house.refused("one_time_qr", "an unknown member_id", path={"member_id": UNKNOWN_ID})
