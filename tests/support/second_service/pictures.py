"""Images of members: operations 7 to 9."""

from __future__ import annotations

import hashlib
from email.message import Message
from email.parser import BytesParser

from tests.support.second_service.answers import Answer, Call, Json, Refusal, route
from tests.support.second_service.people import find, gone
from tests.support.second_service.requests import Face, submit

FIELD = "member[image]"


def image(call: Call) -> bytes:
    """Return the file in a multipart body."""
    kind = call.headers.get("Content-Type", "")
    if not kind.startswith("multipart/form-data"):
        raise Refusal(415, 41500, "a form with one file is wanted")
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + call.raw).get_payload()
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, Message) and part.get_param("name", header="content-disposition") == FIELD:
            content = part.get_payload(decode=True)
            return content if isinstance(content, bytes) else b""
    raise Refusal(422, 42218, f"there is no file {FIELD}")


@route(7, "POST", "/v1/members/{member_id}/portrait", "members:write")
def profile_image(call: Call) -> Json:
    member = find(call)
    name = hashlib.sha256(image(call)).hexdigest()[:12]
    member["profile_image_url"] = f"https://pictures.elsewhere.example/{name}?size=s"
    return {"member_id": member["member_id"], "profile_image_url": member["profile_image_url"]}


@route(8, "POST", "/v1/members/{member_id}/faces", "members:write", contract="face")
def face_image(call: Call) -> Json:
    picture = image(call)
    problem = None
    if call.path["member_id"] not in call.house.members:
        problem = gone("member")
    elif not picture.startswith(b"\xff\xd8\xff") and not call.has("face_from_png"):
        problem = Refusal(415, 41501, "no JPEG")
    elif len(picture) > 2 * 1024 * 1024 and not call.has("face_of_any_size"):
        problem = Refusal(413, 41302, "more than 2 MB")
    if problem and not call.world.choices.judges_late:
        raise problem
    sees = call.world.choices.sees_faces and not problem
    name = hashlib.sha256(picture).hexdigest()
    return submit(call, Face(call.path["member_id"], name, sees=sees, twice=call.has("face_used_twice")))


@route(9, "POST", "/v1/members/{member_id}/faces/none", "members:write", contract="face")
def delete_face(call: Call) -> Answer:
    member = find(call)
    if call.world.choices.deletes_once and member["member_id"] not in call.house.faces:
        raise Refusal(404, 40417, "there is no such face")
    if not call.has("face_kept"):
        call.house.faces.pop(member["member_id"], None)
    return Answer(204)
