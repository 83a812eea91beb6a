"""Moving the clock instead of waiting: everything that happens with time follows the clock."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from tests.support.sandbox import Sandbox, SandboxClient, SandboxTenant

CALLBACK = "http://127.0.0.1:9/callback"
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 200 + b"\xff\xd9"


@pytest.fixture
def client(sandbox: Sandbox) -> SandboxClient:
    return sandbox.client(CALLBACK)


def get(sandbox: Sandbox, tenant: SandboxTenant, path: str) -> dict[str, Any]:
    answer = sandbox.api("GET", path, token=tenant.token)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def exchange(sandbox: Sandbox, client: SandboxClient, code: str) -> httpx2.Response:
    form = {"grant_type": "authorization_code", "client_id": client.client_id, "code": code}
    return sandbox.api(
        "POST", "/oauth2/token", data=form | {"client_secret": client.client_secret, "redirect_uri": CALLBACK}
    )


def submit(sandbox: Sandbox, tenant: SandboxTenant, count: int) -> str:
    group = get(sandbox, tenant, "/v1/membergroups")["membergroups"][0]["membergroup_id"]
    members = [{"member_name": f"New {number}", "membergroup_id": group} for number in range(count)]
    answer = sandbox.api("POST", "/v1/members/bulk/create", {"members": members}, token=tenant.token)
    return str(answer.json()["request_id"])


def progress(sandbox: Sandbox, tenant: SandboxTenant, request_id: str) -> tuple[str, int]:
    found = get(sandbox, tenant, f"/v1/requests/{request_id}")
    return found["status"], found["result"]["completed_member_count"]


def test_each_tenant_has_a_clock_of_its_own(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    other = sandbox.tenant(seed="other")
    moved = sandbox.move_clock(tenant.tenant_id, days=3, hours=2)
    assert abs(moved - datetime.now(UTC) - timedelta(days=3, hours=2)) < timedelta(minutes=1)
    assert abs(sandbox.now(other.tenant_id) - datetime.now(UTC)) < timedelta(minutes=1)
    assert sandbox.move_clock(tenant.tenant_id, hours=-2) - datetime.now(UTC) < timedelta(days=3, minutes=1)
    assert abs(sandbox.move_clock(tenant.tenant_id) - datetime.now(UTC)) < timedelta(minutes=1)


def test_the_clock_can_be_set_to_a_moment(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    wanted = datetime.fromisoformat("2027-02-03T04:05:06+09:00")
    for _ in range(2):
        found = sandbox.console("clock", tenant_id=tenant.tenant_id, at=wanted.isoformat())
        assert abs(datetime.fromisoformat(found["now"]) - wanted) < timedelta(minutes=1)
    assert found["tenant_id"] == tenant.tenant_id
    assert found["now"].endswith("+09:00")
    sandbox.api("GET", "/v1/tenant", token=tenant.token)
    assert sandbox.calls(tenant.tenant_id)[0]["at"].startswith("2027-02-03T04:0")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"seconds": 1, "reset": True},
        {"seconds": 1, "at": "2027-01-01T00:00:00+09:00"},
        {"at": "2027-01-01T00:00:00"},
        {"at": "soon"},
        {"seconds": "much"},
        {"seconds": 1e12},
        {"at": "1900-01-01T00:00:00+09:00"},
        {"seconds": 1, "strange": 1},
    ],
)
def test_a_clock_that_cannot_be_moved_so_says_why(sandbox: Sandbox, wrong: dict[str, Any]) -> None:
    answer = sandbox.api("POST", "/console/api/clock", wrong)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")
    assert abs(sandbox.now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_strangers_clock_does_not_exist(sandbox: Sandbox) -> None:
    answer = sandbox.api("POST", "/console/api/clock", {"tenant_id": "nobody", "reset": True})
    assert (answer.status_code, answer.json()["error_code"]) == (404, "40401")


def test_a_code_ends_after_ten_minutes(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    sandbox.move_clock(tenant.tenant_id, days=-30)
    in_time, too_late = sandbox.code(client, tenant), sandbox.code(client, tenant)
    sandbox.move_clock(tenant.tenant_id, seconds=590)
    assert exchange(sandbox, client, in_time).status_code == 200
    sandbox.move_clock(tenant.tenant_id, seconds=20)
    assert exchange(sandbox, client, too_late).json()["error"] == "invalid_grant"
    # The time of another tenant's administrator is that tenant's.
    other = sandbox.tenant(seed="other")
    assert exchange(sandbox, client, sandbox.code(client, other)).status_code == 200


def test_somebody_who_signs_in_and_consents_in_one_form_does_so_on_their_tenants_clock(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    sandbox.move_clock(tenant.tenant_id, days=100)
    query = {"response_type": "code", "client_id": client.client_id, "redirect_uri": CALLBACK}
    with httpx2.Client() as browser:
        address = f"{sandbox.url}/oauth2/authorize?{urlencode(query)}"
        token = browser.get(address).text.split('csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"login": tenant.admin_login, "password": tenant.admin_password, "decision": "allow"}
        back = browser.post(address, data=form | {"csrfmiddlewaretoken": token}).headers["Location"]
    assert exchange(sandbox, client, back.split("code=")[1]).status_code == 200


def test_results_are_kept_for_thirty_days(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0)
    request_id = submit(sandbox, tenant, 1)
    sandbox.move_clock(tenant.tenant_id, days=29, hours=23)
    assert progress(sandbox, tenant, request_id) == ("completed", 1)
    sandbox.move_clock(tenant.tenant_id, hours=2)
    answer = sandbox.api("GET", f"/v1/requests/{request_id}", token=tenant.token)
    assert (answer.status_code, answer.json()["error_code"]) == (404, "40401")


def test_a_face_is_registered_by_the_clock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, face_seconds=600)
    member = get(sandbox, tenant, "/v1/members")["members"][0]["member_id"]
    answer = sandbox.api("PUT", f"/v1/members/{member}/face_image", content=JPEG, token=tenant.token,
                         headers={"Content-Type": "image/jpeg"}).json()  # fmt: skip
    assert get(sandbox, tenant, f"/v1/requests/{answer['request_id']}")["status"] == "progress"
    sandbox.move_clock(tenant.tenant_id, minutes=10)
    assert get(sandbox, tenant, f"/v1/requests/{answer['request_id']}")["status"] == "succeeded"
    assert get(sandbox, tenant, f"/v1/members/{member}")["face_data"]


def test_bulk_requests_take_their_turns_by_the_clock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=60)
    first, second = submit(sandbox, tenant, 10), submit(sandbox, tenant, 4)

    def seen() -> list[tuple[str, int]]:
        return [progress(sandbox, tenant, each) for each in (first, second)]

    assert seen() == [("progress", 0), ("pending", 0)]
    sandbox.move_clock(tenant.tenant_id, minutes=3, seconds=30)
    assert seen() == [("progress", 3), ("pending", 0)]
    sandbox.move_clock(tenant.tenant_id, minutes=8)
    assert seen() == [("completed", 10), ("progress", 1)]
    sandbox.move_clock(tenant.tenant_id, hours=1)
    assert seen() == [("completed", 10), ("completed", 4)]
    names = [member["member_name"] for member in get(sandbox, tenant, "/v1/members?limit=1000")["members"]]
    assert names[25:] == [f"New {number}" for number in [*range(10), *range(4)]]


def test_a_bulk_request_that_fails_half_way_does_so_by_the_clock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=60, bulk_fail_after=3)
    request_id = submit(sandbox, tenant, 8)
    sandbox.move_clock(tenant.tenant_id, minutes=2, seconds=30)
    assert progress(sandbox, tenant, request_id) == ("progress", 2)
    sandbox.move_clock(tenant.tenant_id, minutes=10)
    assert progress(sandbox, tenant, request_id) == ("failed", 3)


def test_the_window_of_calls_empties_by_the_clock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, general_limit=2)

    def call() -> httpx2.Response:
        return sandbox.api("GET", "/v1/tenant", token=tenant.token)

    assert call().headers["X-Rate-Limit-Remaining"] == "1"
    sandbox.move_clock(tenant.tenant_id, minutes=20)
    assert call().headers["X-Rate-Limit-Remaining"] == "0"
    refused = call()
    assert refused.status_code == 429
    # The first call leaves the window twenty minutes before the second one.
    assert 2390 <= int(refused.headers["X-Rate-Limit-Reset"]) <= 2400
    sandbox.move_clock(tenant.tenant_id, minutes=39)
    assert call().headers["X-Rate-Limit-Reset"] in {"60", "59", "58"}
    sandbox.move_clock(tenant.tenant_id, minutes=1)
    assert call().headers["X-Rate-Limit-Remaining"] == "0"
    assert 1190 <= int(call().headers["X-Rate-Limit-Reset"]) <= 1200


def test_guests_vanish_a_week_after_their_end(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    now = sandbox.now(tenant.tenant_id).replace(microsecond=0)
    body = {
        "guest_name": "Visitor",
        "use_date_start": now.isoformat(),
        "use_date_end": (now + timedelta(days=1)).isoformat(),
        "qrcode_issuing_method": {"qrcode_data": "visitor-1"},
    }
    guest = sandbox.api("POST", "/v1/guests", body, token=tenant.token).json()["guest_id"]
    sandbox.move_clock(tenant.tenant_id, days=7, hours=23)
    assert get(sandbox, tenant, f"/v1/guests/{guest}")["guest_name"] == "Visitor"
    sandbox.move_clock(tenant.tenant_id, hours=2)
    assert sandbox.api("GET", f"/v1/guests/{guest}", token=tenant.token).status_code == 404
