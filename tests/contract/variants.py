"""Another service that keeps to the specification, and chose otherwise wherever it shows nothing."""

from typing import Any

from tests.contract.altering import changed
from tests.contract.trial import Trial
from tests.support.faults import Exchange

#: Every method and path that may be another, and other shapes.
OTHER_PATHS = """
[operations]
get_tenant = { number = 1, path = "/v2/organisation" }
update_webhook = { number = 2, method = "POST", path = "/v2/organisation/notifications" }
update_member = { number = 6, method = "PATCH", path = "/v2/people/{member_id}" }
register_profile_image = { number = 7, method = "POST", path = "/v2/people/{member_id}/picture" }
register_face_image = { number = 8, method = "POST", path = "/v2/people/{member_id}/face" }
delete_face_image = { number = 9, path = "/v2/people/{member_id}/face" }
delete_member = { number = 10, method = "POST", path = "/v2/people/{member_id}/remove" }
bulk_create = { number = 13, method = "PUT", path = "/v2/people/many" }
bulk_update = { number = 14, method = "PATCH", path = "/v2/people/many" }
bulk_delete = { number = 15, method = "POST", path = "/v2/people/many/remove" }
create_group = { number = 17, path = "/v2/groups" }
update_group = { number = 18, method = "PATCH", path = "/v2/groups/{membergroup_id}" }
list_guests = { number = 19, path = "/v2/visitors" }
update_guest = { number = 22, method = "PATCH", path = "/v2/visitors/{guest_id}" }
usage = { number = 29, path = "/v2/cameras" }
snapshots = { number = 30, path = "/v2/pictures" }
streaming = { number = 31, method = "POST", path = "/v2/cameras/{camera_id}/sessions" }
camera = { number = 32, path = "/v2/cameras/{camera_id}" }
video = { number = 33, path = "/v2/logs/{history_id}/clip" }
result = { number = 34, path = "/v2/tasks/{request_id}" }
door = { number = 35, path = "/v2/doors/{device_id}/commands" }
keys = { number = 36, path = "/v2/boxes/{key_device_id}/commands" }

[shapes]
qr_removal = { remove = true }
image_body = "multipart"
image_field = "file"
pass_list_key = "pass_controllers"
"""

_OPTIONAL = ("member_code", "card_data", "face_data", "use_date_start", "use_date_end", "qrcode", "profile_image_url")


def be_another_service(trial: Trial) -> None:
    """From now on the trial's proxy answers as that service would."""
    trial.proxy.on(r"^\S+ /v1/", _otherwise)


def _otherwise(exchange: Exchange) -> None:
    """Other statuses and codes for refusals, fields that nobody described, null for what is not there."""
    answer: list[bytes] = []
    caught = Exchange(exchange.request, _Catch(answer), exchange.proxy)  # type: ignore[arg-type]
    changed(_richer)(caught)
    head, _, body = b"".join(answer).partition(b"\r\n\r\n")
    head = head.replace(b"HTTP/1.1 400 Bad Request", b"HTTP/1.1 422 Unprocessable Entity")
    head = head.replace(b"HTTP/1.1 404 Not Found", b"HTTP/1.1 410 Gone")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"x-rate-limit")]
    body = body.replace(b'"error_code": "40002"', b'"error_code": "42200"')
    exchange.reply(b"\r\n".join(lines) + b"\r\n\r\n" + body)


class _Catch:
    def __init__(self, into: list[bytes]) -> None:
        self.sendall = into.append


def _richer(data: Any) -> Any:
    if isinstance(data, dict):
        if "member_id" in data and "member_name" in data and "status" not in data:
            data = dict.fromkeys(_OPTIONAL) | data
        if data.get("default_mode") == "deny_all":
            data |= {"areas_list": [], "key_devices_list": []}
        data = {name: _richer(value) for name, value in data.items()}
        if not any(name[:2] == "20" for name in data):
            data["added_later"] = {"by": "nobody"}
    elif isinstance(data, list):
        data = [_richer(item) for item in data]
    return data
