"""Refusals for a tenant without a contract. Tried only where the credentials name one tenant with it and one without.

The specification does not show how a list is refused: an empty one is accepted.
"""

from accessapi.overrides import RequestOutcome as Meaning
from tests.contract.images import jpeg
from tests.contract.lab import House, said
from tests.contract.outcomes import Differs, NotTried, Outcome, Unneeded
from tests.contract.registry import case
from tests.contract.requests import follow
from tests.contract.shapes import array_in
from tests.contract.trips import guest_body


def _empty(house: House, name: str, contract: str) -> None:
    other = house.lab.another(name, house, lacking=contract)
    reply = other.reply(name)
    if reply.fine and array_in(reply.json):
        raise Differs(name, f"a tenant without the contract {contract} is shown a list")


@case("list_key_boxes", "shows no key boxes to a tenant without the key-box contract", refusal=True)
def hides_boxes(house: House) -> None:
    _empty(house, "list_key_boxes", "key_box")


@case("list_guests", "shows no guests to a tenant without the QR option contract", refusal=True)
def hides_guests(house: House) -> None:
    _empty(house, "list_guests", "qr")


@case("create_guest", "refuses a tenant without the QR option contract", refusal=True)
def refuses_guests(house: House) -> None:
    other = house.lab.another("create_guest", house, lacking="qr")
    body = {key: value for key, value in guest_body(other, "refused").items() if key != "return_grace_period"}
    other.refused("create_guest", "a guest of a tenant without the contract qr", body=body)


@case("pass_controller_status", "refuses a tenant without the door-entry contract", refusal=True)
def refuses_doors(house: House) -> None:
    other = house.lab.another("pass_controller_status", house, lacking="door")
    try:
        ids = other.doors()
    except Outcome:
        ids = []
    if not ids:
        raise Unneeded("pass_controller_status", "the tenant without the contract door has no pass controllers")
    other.refused("pass_controller_status", "a tenant without the contract door", path={"device_id": ids[0]})


@case("register_face_image", "refuses a tenant without the face-recognition option contract", refusal=True)
def refuses_faces(house: House) -> None:
    other = house.lab.another("register_face_image", house, lacking="face")
    reply = other.reply("register_face_image", path={"member_id": other.member()}, body=jpeg(1200, 1600))
    if not reply.fine:
        return
    data = reply.json
    request_id = data.get("request_id") if isinstance(data, dict) else None
    record = follow(other, request_id) if isinstance(request_id, str) else {}
    if other.lab.catalogue.states.outcome_of("face", record.get("status")) is not Meaning.FAILED:
        raise Differs("register_face_image", f"a tenant without the contract face was answered {said(reply)}")


@case("create_member", "gives no QR code, areas or keys to a tenant without the contract for them", refusal=True)
def gives_nothing_more(house: House) -> None:
    for field, contract, value in (
        ("qrcode", "qr", {"data": house.qr()}),
        ("devices_pass", "door", {"default_mode": "allow_all"}),
        ("keys_pass", "key_box", {"default_mode": "allow_all"}),
    ):
        try:
            other = house.lab.another("create_member", house, lacking=contract)
        except NotTried:
            continue
        body = {"member_name": other.name("without"), "membergroup_id": other.group_id(), field: value}
        reply = other.reply("create_member", body=body)
        if not reply.fine:
            continue  # refused, which is as good as not storing it
        path = {"member_id": other.judged("create_member", reply)["member_id"]}
        shown = other.call("read_member", path=path).get(field)
        if isinstance(shown, dict) and (shown.get("data") or shown.get("default_mode") == "allow_all"):
            raise Differs("create_member", f"a tenant without the contract {contract} was given {field}")
