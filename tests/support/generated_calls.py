"""Generate API calls from the OpenAPI document, and check that each answer is as the document says.

`calls` draws a call of one operation, within the document or beyond it. `furnish` replaces invented identifiers by real
ones. `judged` makes the call and checks the answer.
"""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from http import HTTPStatus
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accessapi.limits import JST, UNIT_PATTERN
from accessapi.openapi import build_document
from accessapi.operations import Body, CallClass, Operation
from tests.support.sandbox import Sandbox, SandboxTenant

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
EVERYTHING = {"default_mode": "allow_all"}
JPEG = b"\xff\xd8\xff\xe0" + bytes(100) + b"\xff\xd9"
_EDGES = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), datetime(2026, 11, 20)]  # noqa: DTZ001 - drawn with JST
_moments = st.datetimes() | st.sampled_from(_EDGES)
schemathesis.openapi.format(
    "date-time", _moments.map(lambda moment: moment.replace(microsecond=0, tzinfo=JST).isoformat())
)
schemathesis.openapi.media_type("image/jpeg", st.binary(max_size=200) | st.just(JPEG))


@cache
def _found() -> dict[str, Any]:
    # The caller's token is always valid: only the rest of the call is generated.
    config = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False}})
    schema = schemathesis.openapi.from_dict(build_document(), config=config)
    operations = (each.ok() for each in schema.get_all_operations())
    return {each.definition.raw["operationId"]: each for each in operations}


def calls(row: Operation, *, sound: bool) -> st.SearchStrategy[Case]:
    """Return a strategy for calls of an operation that the document allows, or (not `sound`) forbids."""
    mode = GenerationMode.POSITIVE if sound else GenerationMode.NEGATIVE
    found: st.SearchStrategy[Case] = _found()[row.name].as_strategy(generation_mode=mode)
    return found


def identifiers(sandbox: Sandbox, tenant: SandboxTenant) -> dict[str, str]:
    """Return one identifier of each kind that the tenant has, by the name of its field.

    A door is opened, so that a log exists. The member has every right.
    """

    def first(path: str, key: str, name: str) -> str:
        rows = sandbox.api("GET", path, token=tenant.token).json().get(key)
        return str(rows[0][name]) if rows else "none"

    def request(path: str, body: dict[str, Any]) -> str:
        answer = sandbox.api("POST", path, body, token=tenant.token, licence=tenant.licence_key)
        return str(answer.json()["request_id"])

    door = first("/v1/devices/passes", "devices", "device_id")
    opened = request(f"/v1/devices/passes/{door}/requests", {"tag": "lock_operation", "control": "unlock"})
    group = first("/v1/membergroups", "membergroups", "membergroup_id")
    qrcode = {"data": secrets.token_hex(8), "one_time_qr": {"enabled": True}}
    body = {"member_name": "Everything", "membergroup_id": group, "qrcode": qrcode, "keys_pass": EVERYTHING}
    member = sandbox.api("POST", "/v1/members", body, token=tenant.token).json()["member_id"]
    camera = sandbox.look("cameras", tenant_id=tenant.tenant_id)["cameras"][0]["camera_id"]
    client = sandbox.client("http://127.0.0.1:9/callback")
    return {
        "member_id": member,
        "membergroup_id": group,
        "guest_id": first("/v1/guests", "guests", "guest_id"),
        "history_id": first("/v1/histories", "histories", "history_id"),
        "camera_id": camera,
        "cameras_list": camera,
        "area_id": first("/v1/areas", "areas", "area_id"),
        "device_id": door,
        "key_device_id": first("/v1/devices/keys", "key_devices", "key_device_id"),
        "request_id": opened,
        "unit_no": "01",
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "redirect_uri": client.redirect_uris[0],
        "code": sandbox.code(client, tenant),
        "token": sandbox.token(tenant.tenant_id, client_id=client.client_id),
    }


def furnish(case: Case, known: Mapping[str, str]) -> None:
    """Replace invented identifiers by existing ones. Values that the document forbids stay as they are."""
    case.path_parameters = _furnished(dict(case.path_parameters or {}), known)
    case.query = _furnished(dict(case.query or {}), known)
    case.body = _furnished(case.body, known)


def _furnished(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_furnished(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: known[name] if name in known and _replaceable(name, item) else _furnished(item, known)
        for name, item in value.items()
    }


def _replaceable(name: str, value: Any) -> bool:
    if not isinstance(value, str) or not value or "\0" in value:
        return False
    return name != "unit_no" or bool(re.fullmatch(UNIT_PATTERN, value))


def judged(sandbox: Sandbox, tenant: SandboxTenant, row: Operation, case: Case, known: Mapping[str, str]) -> int:
    """Make the call and return its status. The answer must be JSON as the document says, and no failure."""
    headers = {"Authorization": f"Bearer {tenant.token}", "License-Key": tenant.licence_key}
    if row.number > 38:
        headers["AUTHORIZATIONS"] = f"Bearer {known['token']}"
    answer = case.call(base_url=sandbox.url, headers=headers, allow_redirects=False)
    # To the document, any bytes are an image. The authorization endpoint refuses with a redirect.
    refuses = row.body is not Body.IMAGE and row.name != "authorize"
    case.validate_response(answer, checks=[*CHECKS, negative_data_rejection] if refuses else CHECKS)
    if row.name != "authorize":
        assert_shaped(row, answer)
    return int(answer.status_code)


def assert_shaped(row: Operation, answer: Any) -> None:
    """Check that the answer is JSON in the service's shapes. Only the answer to a revocation has no body."""
    if answer.status_code == 200 and row.name == "revoke_token":
        return
    assert answer.headers["content-type"] == ["application/json"], answer.headers
    body = answer.json()
    if answer.status_code < 400:
        return
    if row.call_class is CallClass.OAUTH and "error" in body:
        assert set(body) == {"error", "error_description"}
    else:
        assert set(body) == {"message", "error_code", "error_detail"}
        assert len(body["error_code"]) == 5
        assert body["message"] == HTTPStatus(answer.status_code).phrase
