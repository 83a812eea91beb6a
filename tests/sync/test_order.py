"""Names are sorted as people expect, in the same way in lists of the database and of Python."""

import pytest

from portal.domain.places.models import PassController, natural_key
from tenants.scope import tenant_scope

NAMES = [
    "Door 7",
    "Door 14",
    "Door 14 B2",
    "Door 14 B10",
    "Door 0100",
    "会議室２",
    "会議室10",
    "会議室１００",
    "扉",
    "扉 12345678901234567890",
]


@pytest.mark.django_db
def test_numbers_in_names_count_as_numbers(place):
    with tenant_scope(place.tenant):
        PassController.objects.all().delete()
        PassController.objects.bulk_create(
            PassController(device_id=f"d-{number}", device_name=name) for number, name in enumerate(reversed(NAMES))
        )
        rows = PassController.objects.order_by("name_order").values_list("device_name", "name_order")
        assert [name for name, _key in rows] == NAMES
        assert [natural_key(name) for name in NAMES] == [key for _name, key in rows]


@pytest.mark.django_db
def test_a_door_without_a_name_stands_where_its_id_does(place):
    with tenant_scope(place.tenant):
        PassController.objects.all().delete()
        PassController.objects.create(device_id="Door 9", device_name="")
        PassController.objects.create(device_id="x", device_name="Door 10")
        assert [str(door) for door in PassController.objects.order_by("name_order")] == ["Door 9", "Door 10"]
