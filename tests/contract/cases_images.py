"""Operations 7 to 9: profile and face images. The service decides whether a picture shows a face; ours shows none."""

import contextlib

from accessapi import limits
from accessapi.client import Image
from tests.contract.images import jpeg, png
from tests.contract.lab import UNKNOWN_ID, House, patiently, said
from tests.contract.outcomes import Differs, NotTried
from tests.contract.registry import case
from tests.contract.requests import follow
from tests.contract.shapes import kind
from tests.contract.values import blank, differences, raise_first


@case("register_profile_image", "takes an image and gives its address, which the single read shows too")
def registers_a_picture(house: House) -> None:
    path = {"member_id": house.member()}
    answer = house.call("register_profile_image", path=path, body=jpeg())
    if answer["member_id"] != path["member_id"]:
        raise Differs(
            "register_profile_image", f"expected member_id {path['member_id']!r}, got {answer['member_id']!r}"
        )
    house.lab.secret(answer["profile_image_url"])
    if blank(house.call("read_member", path=path).get("profile_image_url")):
        raise Differs("read_member", "profile_image_url is missing after a profile image was registered")


@case("register_profile_image", "refuses an unknown member", refusal=True)
def refuses_a_picture(house: House) -> None:
    house.refused("register_profile_image", "an unknown member_id", path={"member_id": UNKNOWN_ID}, body=jpeg())


def _register(house: House, member_id: str, image: object) -> str:
    """Register a face; return the request's final status."""
    answer = house.call("register_face_image", path={"member_id": member_id}, body=image)
    raise_first("register_face_image", differences({"request_type": "face"}, answer))
    record = follow(house, answer["request_id"])
    if record["request_type"] != "face":
        raise Differs(
            "request_result", f"of a face image: expected request_type 'face', got {record['request_type']!r}"
        )
    return str(record["status"])


@case("request_result", "reports a face image request", needs=("face",))
def tells_of_faces(house: House) -> None:
    with contextlib.suppress(NotTried):
        _face(house)


def _face(house: House) -> tuple[str, object]:
    """Return a member with a registered face, and the image. Raises NotTried when the service finds no face in it."""

    def make() -> tuple[str, object, str]:
        member_id, image = house.new_member("face"), jpeg(1200, 1600)
        return member_id, image, _register(house, member_id, image)

    member_id, image, status = house.once("face", make)
    if status != "succeeded":
        raise NotTried("register_face_image", f"the suite's picture, which shows no face, ended in {status}")
    return member_id, image


@case("register_face_image", "is accepted as a request of type face, and finished by succeeded or failed_…")
def registers_a_face(house: House) -> None:
    try:
        member_id, _ = _face(house)
    except NotTried:
        return  # accepted and finished: nothing more is shown for a picture without a face
    path = {"member_id": member_id}

    def check() -> str | None:
        missing = blank(house.call("read_member", path=path).get("face_data"))
        return "face_data is missing though the registration succeeded" if missing else None

    if found := patiently(check):
        raise Differs("register_face_image", found)


@case("register_face_image", "ends in failed_registered for an image that is used already")
def registers_a_face_once(house: House) -> None:
    _, image = _face(house)
    member_id = house.once("second face", lambda: house.new_member("same face"))
    status = _register(house, member_id, image)
    if status != "failed_registered":
        raise Differs("register_face_image", f"expected failed_registered for an image in use, got {status}")


@case("register_face_image", "refuses other files than JPEG, and more than 2 MB", refusal=True)
def refuses_faces(house: House) -> None:
    member_id = house.once("faceless", lambda: house.new_member("no face"))
    path = {"member_id": member_id}
    large = jpeg(size=limits.FACE_IMAGE_MAX + 65536)
    unknown = {"member_id": UNKNOWN_ID}
    for what, where, image in (
        ("a PNG file", path, png()),
        ("a JPEG file of more than 2 MB", path, large),
        ("an unknown member_id", unknown, jpeg(1200, 1600)),
    ):
        _refuse_face(house, what, where, image)


def _refuse_face(house: House, what: str, path: dict[str, str], image: Image) -> None:
    """Check that the image is refused, or accepted and ends in failed_…. The server may also close the connection."""
    reply = house.lab.raw.api("register_face_image", token=house.credentials.access_token, path=path, body=image)
    data = reply.json
    request_id = data.get("request_id") if isinstance(data, dict) else None
    if reply.status == 0 or 400 <= reply.status <= 499:
        return
    if reply.fine and isinstance(request_id, str) and follow(house, request_id)["status"].startswith("failed_"):
        return
    raise Differs("register_face_image", f"expected a refusal of {what}, got {said(reply)}")


def _without_face(house: House) -> str:
    """Delete the face of `_face`'s member once, and return the member. A second deletion is not specified."""
    member_id, _ = _face(house)
    house.once("deleted face", lambda: house.call("delete_face_image", path={"member_id": member_id}))
    return member_id


@case("delete_face_image", "takes face_data away")
def deletes_a_face(house: House) -> None:
    path = {"member_id": _without_face(house)}

    def check() -> str | None:
        shown = house.call("read_member", path=path).get("face_data")
        return None if blank(shown) else f"face_data is still there after the deletion ({kind(shown)})"

    if found := patiently(check):
        raise Differs("delete_face_image", found)


@case("delete_face_image", "lets another image be registered")
def changes_a_face(house: House) -> None:
    member_id = _without_face(house)
    reply = house.reply("register_face_image", path={"member_id": member_id}, body=jpeg(1200, 1600))
    if not reply.fine:
        raise Differs("delete_face_image", f"after the deletion another image is refused: {said(reply)}")
    status = follow(house, house.judged("register_face_image", reply)["request_id"])["status"]
    if status != "succeeded":
        raise Differs("delete_face_image", f"after the deletion another image ended in {status}")


@case("delete_member", "deletes the member's face image as well", needs=("face",))
def deletes_a_face_with_its_member(house: House) -> None:
    first, second, image = house.new_member("leaves"), house.new_member("stays"), jpeg(1200, 1600)
    if (status := _register(house, first, image)) != "succeeded":
        raise NotTried("delete_member", f"the suite's picture, which shows no face, ended in {status}")
    house.call("delete_member", path={"member_id": first})
    house.gone(first)
    if _register(house, second, image) == "failed_registered":
        raise Differs("delete_member", "the face image of a deleted member is still in use")
