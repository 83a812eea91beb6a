"""Another service that keeps to the specification, and makes other choices wherever the specification leaves one."""

from typing import Any

from tests.contract.altering import changed
from tests.contract.trial import Trial
from tests.support.faults import Exchange

_OPTIONAL = ("member_code", "card_data", "face_data", "use_date_start", "use_date_end", "qrcode", "profile_image_url")


def be_another_service(trial: Trial) -> None:
    """Make the trial's proxy answer as that service would."""
    trial.proxy.on(r"^\S+ /v1/", _otherwise)


def _otherwise(exchange: Exchange) -> None:
    """Change refusals' statuses and codes, add unknown fields, and show missing values as null."""
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
