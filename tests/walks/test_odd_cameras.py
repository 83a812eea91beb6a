"""Any answers of a service about cameras: their pages still work, and show nothing that the service did not report."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.domain.budget.models import Gauge
from portal.domain.cameras import refreshing
from portal.domain.cameras.models import Camera, CameraUsage, Clip, Viewing
from portal.domain.sync.models import SharedReading
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.effort import SOAK
from tests.support.extremes import BODIES, SOME
from tests.support.log import happened, record
from tests.support.odd_service import Service, serving
from tests.support.places import signed_in, staff_of

pytestmark = pytest.mark.share
# For each operation: correct fields of its answer.
ONES: dict[str, dict[str, Any]] = {
    "usage": {
        "since": "2026-11-01T00:00:00+09:00", "until": "2099-11-30T23:59:59+09:00", "tenant_streaming_total": 1,
        "tenant_streaming_limit": 36000, "tenant_download_total": 1, "tenant_download_limit": 36000,
    },
    "snapshots": {"cameras": [{"camera_id": "C1", "snapshot": "https://x.example/1.jpg"}]},
    "streaming": {
        "camera_id": "C1", "streaming_url": "https://x.example/s", "playback_type": "live",
        "expires_at": "2099-01-01T00:00:00+09:00",
    },
    "status": {"is_connected": True, "is_streaming": False},
    "video": {"camera_name": "x", "video_url": "https://x.example/v"},
}  # fmt: skip


class Odd:
    """A service that answers `body` to one of its operations, and correctly to the others."""

    operation, body = "", b""

    def __call__(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        name = path.rpartition("/")[2]
        if name == self.operation:
            return 200, self.body
        return 200, ONES.get(name, {})


@pytest.fixture
def odd(customer: MakeCustomer) -> Iterator[tuple[Odd, Service, Customer]]:
    answer = Odd()
    with serving(answer) as service:
        here = customer(base_url=service.url)
        with tenant_scope(here.tenant):
            Camera.objects.create(camera_id="C1", name="Gate")
        yield answer, service, here


def bodies(operation: str) -> list[bytes]:
    """Yield whole bodies that are no answer, and answers with a wrong value in each field."""
    sound, step = ONES[operation], 1 if SOAK else 4
    odd = [json.dumps(sound | {name: "@"}).replace('"@"', value) for name in sound for value in SOME[::step]]
    if operation == "snapshots":
        rows = ['{"camera_id": %s}', '{"camera_id": "C1", "snapshot": %s}', '{"camera_id": "C9", "snapshot": %s}', "%s"]
        odd += [f'{{"cameras": [{row % value}, {row % value}]}}' for row in rows for value in SOME[::step]]
        odd += ['{"cameras": {"camera_id": "C1", "snapshot": ""}}', '{"cameras": {"C1": "x"}}']
    return [each.encode() for each in odd] + list(BODIES[:: 1 if SOAK else 6]) + [b'{"tenant_streaming_limit": -5}']


@pytest.mark.parametrize("operation", ONES)
def test_pages_of_cameras_stand(odd: tuple[Odd, Service, Customer], operation: str) -> None:
    """Check each answer with a new request by a person's action, which takes several seconds."""
    answer, service, here = odd
    place = type("Here", (), {"tenant": here.tenant})
    (row,) = happened(place, record(timezone.now() - timedelta(minutes=5), device_id="D1"))
    with tenant_scope(here.tenant):
        client = signed_in(staff_of(here.tenant, "owner"))
    client.raise_request_exception = False

    def at(name: str, *more: str) -> str:
        return reverse(f"cameras:{name}", args=[here.tenant.slug, *more])

    answer.operation = operation
    found = {}
    for body in bodies(operation):
        answer.body = body
        with tenant_scope(here.tenant):
            for model in (SharedReading, Viewing, Clip, CameraUsage, Gauge):
                model.objects.all().delete()
            Camera.objects.update(status_at=None)
            client.get(at("index"))
            refreshing.read_in_sight()
        posts = {"status": at("status", "C1"), "streaming": at("live", "C1"), "video": at("clip", row.history_id)}
        if operation in posts:
            found[body, "post"] = client.post(posts[operation]).status_code
        for page in (at("index"), at("camera", "C1"), at("clip", row.history_id)):
            found[body, page] = client.get(page).status_code
    assert not {key: status for key, status in found.items() if status >= 500}
    assert any(path.endswith(operation) for path, _ in service.asked)
