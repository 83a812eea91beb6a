"""The tenant, faces, unknown addresses, overrides, and the control API's own refusals."""

import base64
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.waiting import until

WEBHOOK = {
    "is_invalid": False,
    "url": "https://portal.example/hook",
    "secret_token": "s" * 64,
    "trigger": {"history": {"category": ["normal", "operation"]}},
}


def jpeg(size: int = 200, fill: bytes = b"\0") -> bytes:
    return b"\xff\xd8\xff\xe0" + fill * (size - 6) + b"\xff\xd9"


def members(sandbox: Sandbox, tenant: SandboxTenant) -> list[str]:
    found = sandbox.api("GET", "/v1/members", token=tenant.token).json()["members"]
    return [member["member_id"] for member in found]


def put_face(sandbox: Sandbox, tenant: SandboxTenant, member_id: str, image: bytes) -> Any:
    path = f"/v1/members/{member_id}/face_image"
    return sandbox.api("PUT", path, content=image, token=tenant.token, headers={"Content-Type": "image/jpeg"})


def ended(sandbox: Sandbox, tenant: SandboxTenant, request_id: str) -> str:
    def end() -> str:
        answer = sandbox.api("GET", f"/v1/requests/{request_id}", token=tenant.token).json()
        assert answer["request_type"] == "face"
        return "" if answer["status"] == "progress" else str(answer["status"])

    return until(end)


def test_webhook_settings_are_kept(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    assert sandbox.api("PUT", "/v1/tenant/webhook", WEBHOOK, token=tenant.token).json() == {}
    found = sandbox.api("GET", "/v1/tenant", token=tenant.token).json()
    assert found["settings"]["webhook"] == WEBHOOK
    assert found["tenant_name"] == tenant.name
    assert found["settings"]["holiday"]["weekly"] == ["Saturday", "Sunday"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"secret_token": "s" * 65}, "secret_token"),
        ({"is_invalid": None}, "is_invalid"),
        ({"trigger": {}}, "trigger"),
        ({"url": None}, "url"),
    ],
)
def test_webhook_settings_beyond_the_limits_are_refused(
    sandbox: Sandbox, tenant: SandboxTenant, change: dict[str, Any], field: str
) -> None:
    answer = sandbox.api("PUT", "/v1/tenant/webhook", WEBHOOK | change, token=tenant.token)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")
    assert field in answer.json()["error_detail"]


def test_a_face_is_registered_once(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, face_seconds=0.3)
    first, second, *_ = members(sandbox, tenant)
    answer = put_face(sandbox, tenant, first, jpeg())
    assert answer.json()["request_type"] == "face"
    assert sandbox.api("GET", f"/v1/requests/{answer.json()['request_id']}", token=tenant.token).json()[
        "status"
    ] == "progress"  # fmt: skip
    assert ended(sandbox, tenant, answer.json()["request_id"]) == "succeeded"
    assert sandbox.api("GET", f"/v1/members/{first}", token=tenant.token).json()["face_data"]
    same = put_face(sandbox, tenant, second, jpeg()).json()["request_id"]
    assert ended(sandbox, tenant, same) == "failed_registered"
    # To change a face image, delete it and register again.
    assert put_face(sandbox, tenant, first, jpeg(300)).status_code == 409
    sandbox.api("DELETE", f"/v1/members/{first}/face_image", token=tenant.token)
    assert "face_data" not in sandbox.api("GET", f"/v1/members/{first}", token=tenant.token).json()
    again = put_face(sandbox, tenant, second, jpeg()).json()["request_id"]
    assert ended(sandbox, tenant, again) == "succeeded"


def test_a_deleted_member_takes_the_face_along(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, face_seconds=0)
    first, second, *_ = members(sandbox, tenant)
    assert ended(sandbox, tenant, put_face(sandbox, tenant, first, jpeg()).json()["request_id"]) == "succeeded"
    assert sandbox.api("DELETE", f"/v1/members/{first}", token=tenant.token).status_code == 200
    again = put_face(sandbox, tenant, second, jpeg()).json()["request_id"]
    assert ended(sandbox, tenant, again) == "succeeded"


@pytest.mark.parametrize(
    ("image", "status"),
    [
        (jpeg(2 * 1024 * 1024), 200),
        (jpeg(2 * 1024 * 1024 + 1), 400),
        (jpeg(5 * 1024 * 1024), 413),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, 400),
        (jpeg()[:100], 400),
        (b"", 400),
    ],
    ids=["2 MB", "2 MB and a byte", "5 MB", "PNG", "cut off", "empty"],
)
def test_a_face_is_a_jpeg_of_two_megabytes(sandbox: Sandbox, tenant: SandboxTenant, image: bytes, status: int) -> None:
    assert put_face(sandbox, tenant, members(sandbox, tenant)[0], image).status_code == status


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/nothing"),
        ("GET", "/"),
        ("PATCH", "/v1/members"),
        ("GET", "/v1/members/"),
        ("GET", "/v1/members/a%2Fb"),
        ("GET", "/v1/members/%00"),
        ("GET", "/v1/members/%FF"),
        ("GET", "/v1/requests/x"),
    ],
)
def test_what_does_not_exist_is_a_404_in_json(sandbox: Sandbox, tenant: SandboxTenant, method: str, path: str) -> None:
    answer = sandbox.api(method, path, token=tenant.token)
    assert answer.status_code == 404
    assert answer.json()["error_code"] == "40401"
    assert answer.json()["message"] == "Not Found"


def test_requests_of_another_tenant_do_not_exist(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    request_id = put_face(sandbox, tenant, members(sandbox, tenant)[0], jpeg()).json()["request_id"]
    other = sandbox.tenant()
    assert sandbox.api("GET", f"/v1/requests/{request_id}", token=other.token).status_code == 404


def test_overrides_move_operations_and_shapes() -> None:
    operations = """
        [operations.update_member]
        number = 6
        method = "POST"
        path = "/v1/members/{member_id}/modify"
        [operations.face]
        number = 8
        method = "POST"
        path = "/v1/members/{member_id}/face"
        [shapes]
        qr_removal = { remove = true }
        image_body = "multipart"
        image_field = "face"
        pass_list_key = "passes"
        snapshot = "base64"
        [errors]
        scope = ["40350"]
        contract = { qr = ["40351"] }
        [limits]
        general = 50
        one_time_timestep_max = 3600
    """
    with Sandbox(operations=operations) as sandbox:
        tenant = sandbox.tenant(members=3)
        member = members(sandbox, tenant)[0]
        assert sandbox.api("PUT", f"/v1/members/{member}", {}, token=tenant.token).status_code == 404
        path = f"/v1/members/{member}/modify"
        assert sandbox.api("POST", path, {"qrcode": {"data": "x"}}, token=tenant.token).status_code == 200
        for seconds, status in ((3601, 400), (3600, 200)):
            once = {"qrcode": {"data": "x", "one_time_qr": {"enabled": True, "timestep": seconds}}}
            assert sandbox.api("POST", path, once, token=tenant.token).status_code == status
        assert sandbox.api("POST", path, {"qrcode": None}, token=tenant.token).status_code == 400
        assert sandbox.api("POST", path, {"qrcode": {"remove": True}}, token=tenant.token).status_code == 200
        assert "qrcode" not in sandbox.api("GET", f"/v1/members/{member}", token=tenant.token).json()
        upload = {"face": ("face.jpg", jpeg(), "image/jpeg")}
        answer = sandbox.api("POST", f"/v1/members/{member}/face", files=upload, token=tenant.token)
        assert answer.json()["request_type"] == "face"
        profile = sandbox.api("PUT", f"/v1/members/{member}/profile_image", files=upload, token=tenant.token)
        assert sandbox.api("GET", urlsplit(profile.json()["profile_image_url"]).path).content == jpeg()
        assert "passes" in sandbox.api("GET", "/v1/devices/passes", token=tenant.token).json()
        camera = sandbox.look("cameras", tenant_id=tenant.tenant_id)["cameras"][0]["camera_id"]
        pictures = sandbox.api("GET", f"/v1/cameras/snapshots?cameras_list={camera}", token=tenant.token).json()
        assert base64.b64decode(pictures["cameras"][0]["snapshot"], validate=True).startswith(b"\xff\xd8\xff")
        assert answer.headers["X-Rate-Limit-Limit"] == "50"
        described = sandbox.api("GET", "/openapi.json").json()
        assert described["paths"]["/v1/members/{member_id}/modify"]["post"]["operationId"] == "update_member"
        assert described["servers"] == [{"url": sandbox.url}]
        token = sandbox.token(sandbox.tenant(contracts=["door"]).tenant_id, scopes=["guests:read"])
        refused = [sandbox.api("GET", path, token=token).json() for path in ("/v1/members", "/v1/guests")]
        assert [each["error_code"] for each in refused] == ["40350", "40351"]


def test_another_name_for_this_machine_is_refused(sandbox: Sandbox) -> None:
    answer = sandbox.api("GET", "/console/api/tenants", headers={"Host": "rebound.example"})
    assert answer.status_code == 400
    assert answer.json()["error_code"] == "40002"


def test_the_control_api_takes_json_only(sandbox: Sandbox) -> None:
    assert sandbox.api("POST", "/console/api/reset", data={"tenants": "1"}).status_code == 415
    answer = sandbox.api("POST", "/console/api/settings", {"no_such": 1})
    assert answer.status_code == 400
    assert "no_such" in answer.json()["error_detail"]
    assert sandbox.api("GET", "/console/api/nothing").status_code == 404
