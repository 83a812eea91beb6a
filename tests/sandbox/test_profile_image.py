"""Profile images: checked by their content, served under a separate address, replaced and removed."""

from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.support.sandbox import Sandbox, SandboxTenant

LARGEST = 2 * 1024 * 1024


def jpeg(size: int = 200) -> bytes:
    return b"\xff\xd8\xff\xe0" + b"\0" * (size - 6) + b"\xff\xd9"


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 50 + b"\0\0\0\0IEND\xaeB`\x82"


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and two members."""
    return sandbox.tenant(members=2, guests=0)


def members(sandbox: Sandbox, tenant: SandboxTenant) -> list[str]:
    found = sandbox.api("GET", "/v1/members", token=tenant.token).json()["members"]
    return [member["member_id"] for member in found]


def put(sandbox: Sandbox, tenant: SandboxTenant, member_id: str, content: bytes) -> httpx2.Response:
    headers = {"Content-Type": "application/octet-stream"}
    path = f"/v1/members/{member_id}/profile_image"
    return sandbox.api("PUT", path, content=content, token=tenant.token, headers=headers)


def kept(sandbox: Sandbox, tenant: SandboxTenant, member_id: str, content: bytes) -> str:
    """Upload the picture, and return its address from the answer."""
    answer = put(sandbox, tenant, member_id, content)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"member_id", "profile_image_url"}
    assert answer.json()["member_id"] == member_id
    return str(answer.json()["profile_image_url"])


def read(sandbox: Sandbox, tenant: SandboxTenant, member_id: str) -> dict[str, Any]:
    return dict(sandbox.api("GET", f"/v1/members/{member_id}", token=tenant.token).json())


def fetch(sandbox: Sandbox, address: str, method: str = "GET") -> httpx2.Response:
    return sandbox.api(method, urlsplit(address).path)


@pytest.mark.parametrize(("content", "content_type"), [(jpeg(), "image/jpeg"), (PNG, "image/png")])
def test_a_picture_is_served_as_what_it_is(
    sandbox: Sandbox, tenant: SandboxTenant, content: bytes, content_type: str
) -> None:
    first, second = members(sandbox, tenant)
    address = kept(sandbox, tenant, first, content)
    assert address.startswith(f"{sandbox.url}/files/")
    found = fetch(sandbox, address)
    assert (found.status_code, found.content) == (200, content)
    assert found.headers["Content-Type"] == content_type
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert "private" in found.headers["Cache-Control"]
    assert read(sandbox, tenant, first)["profile_image_url"] == address
    assert "profile_image_url" not in read(sandbox, tenant, second)


def test_another_picture_has_another_address(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    member_id = members(sandbox, tenant)[0]
    old, new = (kept(sandbox, tenant, member_id, jpeg(size)) for size in (200, 201))
    assert old != new
    assert len(fetch(sandbox, new).content) == 201
    assert fetch(sandbox, old).status_code == 404
    assert read(sandbox, tenant, member_id)["profile_image_url"] == new


def test_a_deleted_member_takes_the_picture_along(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    member_id = members(sandbox, tenant)[0]
    address = kept(sandbox, tenant, member_id, PNG)
    assert sandbox.api("DELETE", f"/v1/members/{member_id}", token=tenant.token).status_code == 200
    assert fetch(sandbox, address).status_code == 404


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (jpeg(LARGEST), 200),
        (jpeg(LARGEST + 1), 400),
        (jpeg(5 * 1024 * 1024), 413),
        (PNG[:20], 400),
        (jpeg()[:100], 400),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 400),
        (b"GIF89a" + b"\0" * 100, 400),
        (b"", 400),
    ],
    ids=["2 MB", "2 MB and a byte", "5 MB", "PNG cut off", "JPEG cut off", "SVG", "GIF", "empty"],
)
def test_a_picture_is_a_jpeg_or_png_of_two_megabytes(
    sandbox: Sandbox, tenant: SandboxTenant, content: bytes, status: int
) -> None:
    assert put(sandbox, tenant, members(sandbox, tenant)[0], content).status_code == status


def test_pictures_need_the_scope_and_a_member(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    assert put(sandbox, tenant, "missing", PNG).status_code == 404
    foreign = members(sandbox, sandbox.tenant(members=1))[0]
    assert put(sandbox, tenant, foreign, PNG).status_code == 404
    member_id = members(sandbox, tenant)[0]
    tenant.token = sandbox.token(tenant.tenant_id, scopes=["members:read"])
    assert put(sandbox, tenant, member_id, PNG).json()["error_code"] == "40301"


def test_an_address_that_nobody_was_given_shows_nothing(sandbox: Sandbox) -> None:
    for path in ("/files/profile_images/guessed", "/files/profile_images/%00", "/files/profile_images/", "/files/"):
        assert sandbox.api("GET", path).status_code in {401, 404}
        assert sandbox.api("GET", path).headers["Content-Type"] == "application/json"
    assert sandbox.api("POST", "/files/profile_images/guessed", {}).status_code == 405
