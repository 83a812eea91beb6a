"""Check whether an answer has the shape that the specification shows.

Types come from accessapi's resources and are strict: a string is a string, a datetime has the one format. Optional
fields may be null. Unknown fields and values are allowed.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from accessapi.operations import Operation
from accessapi.resources.received import ReceivedModel
from accessapi.resources.registry import ANSWERS

Json = dict[str, Any]

MOMENT = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\+09:00", re.ASCII)

#: Required fields of an answer (for a list: of each of its items).
REQUIRED: dict[str, tuple[str, ...]] = {
    "get_tenant": ("tenant_id", "tenant_name", "settings"),
    "list_members": ("member_id", "member_name"),
    "create_member": ("member_id", "member_name"),
    "read_member": ("member_id", "member_name", "membergroup_id", "account_type"),
    "update_member": ("member_id", "member_name"),
    "register_profile_image": ("member_id", "profile_image_url"),
    "register_face_image": ("request_id", "request_type"),
    "temporary_use": ("sent_device_id_list",),
    "one_time_qr": ("member_id", "one_time_qr_data", "version", "expiration_in_seconds"),
    "bulk_create_members": ("request_id", "request_type"),
    "bulk_update_members": ("request_id", "request_type"),
    "bulk_delete_members": ("request_id", "request_type"),
    "list_membergroups": ("membergroup_id", "membergroup_name", "member_count"),
    "create_membergroup": ("membergroup_id", "membergroup_name"),
    "update_membergroup": ("membergroup_id", "membergroup_name"),
    "list_guests": ("guest_id", "guest_name"),
    "create_guest": ("guest_id", "guest_name"),
    "read_guest": ("guest_id", "guest_name", "use_date_start", "use_date_end", "qrcode_data"),
    "update_guest": ("guest_id", "guest_name"),
    "list_areas": ("area_id", "area_name", "is_outside", "is_management", "devices_list"),
    "pass_controller_status": ("device_id",),
    "list_key_boxes": ("key_device_id", "key_device_name", "product_type", "number_of_management", "units"),
    "key_box_status": ("key_device_id",),
    "camera_usage": (
        "since",
        "until",
        "tenant_streaming_total",
        "tenant_streaming_limit",
        "tenant_download_total",
        "tenant_download_limit",
    ),
    "camera_snapshots": ("camera_id",),
    "camera_streaming": ("camera_id", "streaming_url", "playback_type", "expires_at"),
    "camera_status": ("is_connected", "is_streaming"),
    "history_video": ("camera_name", "video_url"),
    "request_result": ("request_id", "request_type", "status"),
    "operate_door": ("request_id", "request_type"),
    "operate_keys": ("request_id", "request_type"),
}

_WORDS = {str: "a string", int: "an integer", bool: "true or false", float: "a number", dict: "an object"}


def faults(operation: Operation, data: Any) -> list[str]:
    """Return the faults of an answer's JSON, a sentence each; empty when there are none."""
    model = ANSWERS.get(operation.name)
    if model is None:
        return []
    if not isinstance(data, dict):
        return [f"expected a JSON object, got {kind(data)}"]
    if operation.list_key is None:
        return list(_record(model, REQUIRED.get(operation.name, ()), data, ""))
    # The specification shows neither the key of this list nor the fields of its items.
    if operation.name == "list_pass_controllers":
        return (
            [] if array_in(data) is not None else ["expected a list of pass controllers, got an object without array"]
        )
    return list(_page(operation, model, data))


def _page(operation: Operation, model: type[ReceivedModel], data: Json) -> Iterator[str]:
    key = operation.list_key or ""
    rows = data.get(key)
    if not isinstance(rows, list):
        yield f"expected an array {key}, got {kind(rows) if key in data else 'none'}"
        return
    cursor = data.get("last_evaluated_key")
    if cursor is not None and not isinstance(cursor, str):
        yield f"last_evaluated_key: expected a string, got {kind(cursor)}"
    for number, row in enumerate(rows):
        # Report only one sentence for a fault that all items have.
        if found := list(_record(model, REQUIRED.get(operation.name, ()), row, f"{key}[{number}].")):
            yield from found
            return


def _record(model: type[ReceivedModel], required: tuple[str, ...], data: Any, at: str) -> Iterator[str]:
    if not isinstance(data, dict):
        yield f"{at.rstrip('.') or 'the answer'}: expected an object, got {kind(data)}"
        return
    for name in required:
        if data.get(name) is None:
            yield f"{at}{name}: expected {_expected(model, name)}, got {'null' if name in data else 'nothing'}"
    yield from _fields(model, data, at)


def _fields(model: type[ReceivedModel], data: Json, at: str) -> Iterator[str]:
    for key, wanted in _hints(model).items():
        if data.get(key) is not None:
            yield from _value(wanted, data[key], f"{at}{key}")


@cache
def _hints(model: type[ReceivedModel]) -> dict[str, Any]:
    """Return the type of each field, by its name in JSON."""
    hints = get_type_hints(model)
    return {field.alias or name: _plain(hints[name]) for name, field in model.model_fields.items()}


def _value(wanted: Any, value: Any, at: str) -> Iterator[str]:
    wanted = _plain(wanted)
    origin = get_origin(wanted) or wanted
    if origin is Any:
        return
    if origin is list:
        if not isinstance(value, list):
            yield f"{at}: expected an array, got {kind(value)}"
            return
        for number, item in enumerate(value):
            yield from _value(get_args(wanted)[0], item, f"{at}[{number}]")
    elif isinstance(origin, type) and issubclass(origin, ReceivedModel):
        if isinstance(value, dict):
            yield from _fields(origin, value, f"{at}.")
        else:
            yield f"{at}: expected an object, got {kind(value)}"
    elif origin is datetime:
        if not isinstance(value, str) or not MOMENT.fullmatch(value):
            yield f"{at}: expected a datetime YYYY-MM-DDThh:mm:ss+09:00, got {_shown(value)}"
    elif not _is(origin, value):
        yield f"{at}: expected {_WORDS[origin]}, got {kind(value)}"


def _plain(wanted: Any) -> Any:
    if get_origin(wanted) in (Union, UnionType):
        return next(each for each in get_args(wanted) if each is not NoneType)
    return wanted


def _is(wanted: type, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, (int, float) if wanted is float else wanted)


def _expected(model: type[ReceivedModel], name: str) -> str:
    wanted = _hints(model).get(name, str)
    origin = get_origin(wanted) or wanted
    return "an array" if origin is list else "a datetime" if origin is datetime else _WORDS.get(origin, "an object")


def kind(value: Any) -> str:
    """Return the JSON type of a value, in words; never the value, which may be a secret."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"a string of {len(value)} characters" if value else "an empty string"
    if isinstance(value, list):
        return "an array"
    return "an object" if isinstance(value, dict) else f"the number {value}"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) and len(value) <= 40 else kind(value)


def array_in(data: Any) -> list[Any] | None:
    """Return the first array in an answer, at any depth."""
    if isinstance(data, list):
        return data
    if isinstance(data, dict):
        return next((found for value in data.values() if (found := array_in(value)) is not None), None)
    return None


def error_faults(status: int, data: Any) -> list[str]:
    """Return the faults in the body of a refusal (specification: Errors)."""
    if not isinstance(data, dict):
        return [f"its body is not the specified error object but {kind(data)}"]
    found = [
        f"its {name} is {kind(data[name]) if name in data else 'missing'}, expected a string"
        for name in ("message", "error_code", "error_detail")
        if not isinstance(data.get(name), str)
    ]
    code = data.get("error_code")
    if isinstance(code, str) and not re.fullmatch(r"[0-9]{5}", code):
        found.append(f"its error_code is {code[:40]!r}, expected five digits")
    if code == "40002" and isinstance(data.get("message"), str) and data["message"] != "Bad Request":
        found.append(f"its message is {data['message'][:40]!r}, expected 'Bad Request' for code 40002")
    return found
