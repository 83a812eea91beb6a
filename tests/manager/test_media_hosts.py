"""A service that returns the addresses of its pictures, and the hosts that the operator has allowed."""

from portal.domain.cameras.models import Camera
from tenants.scope import tenant_scope
from tests.manager.test_cameras import look_at_wall
from tests.support.members import said


def test_an_address_of_another_host_is_not_followed(make):
    place = make(overrides='[media]\nhosts = ["media.example.com"]')
    with tenant_scope(place.tenant):
        known = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"][0]["camera_id"]
        Camera.objects.create(camera_id=known, name="Gate")
    assert "its address is not allowed" in said(look_at_wall(place, place.client()))
