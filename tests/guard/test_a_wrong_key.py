"""A key is put into the place of another: from the key box through the service to its mark and its alert."""

import pytest

from portal.domain.alerts import detection
from portal.domain.alerts.models import Alert
from portal.domain.places.models import KeyBox
from portal.keys import status_reading
from tenants.scope import tenant_scope
from tests.support.desk import said
from tests.support.doors import hear
from tests.support.sandbox_building import House

MARK = "Another key is in its place"


@pytest.fixture
def house(place):
    """Return the service's side: a member with a card, and requests that take no time."""
    house = House(place.sandbox, place.service)
    house.member(card_data="CARD1")
    box = house.get("/v1/devices/keys")["key_devices"][0]
    with tenant_scope(place.tenant):
        KeyBox.objects.create(key_device_id=house.box, key_device_name="Office keys", units=box["units"])
        status_reading.read_due_boxes()
    hear(place)
    return house


def learns(place):
    """Read the log, the key boxes and the alerts."""
    hear(place)
    with tenant_scope(place.tenant):
        status_reading.read_due_boxes()
        detection.check_tenant()


def test_a_wrong_key_is_marked_and_an_alert_until_the_right_one_is_back(place, house):
    guard, unit = place.client(place.staff("guard")), house.free_key()
    pages = [f"/t/{place.tenant.slug}/keys/{rest}" for rest in ("", f"{house.box}/", f"{house.box}/{unit}/")]
    house.key("take", unit, "CARD1")
    learns(place)
    assert all(MARK not in said(guard.get(page)) for page in pages)
    house.key("replace", unit, "CARD1")
    learns(place)
    assert all(MARK in said(guard.get(page)) for page in pages)
    with tenant_scope(place.tenant):
        alert = Alert.objects.get(kind="key_wrong")
    assert "another key is in its place" in said(guard.get(f"/t/{place.tenant.slug}/alerts/{alert.pk}/"))
    house.key("return", unit, "CARD1")
    learns(place)
    assert all(MARK not in said(guard.get(page)) for page in pages)
    with tenant_scope(place.tenant):
        assert Alert.objects.get(kind="key_wrong").ended_at is not None
