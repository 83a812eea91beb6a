"""The desk sees the same state of a guest's keys as the pages of keys."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.people.models import Guest
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit
from tests.support.keys import key_box, reads, tells
from tests.support.members import said


@pytest.fixture
def lent(place):
    """Create a guest with two keys of a box, and one that is no longer in any list."""
    key_box(place)
    known = visit(place, "山田 花子")
    with tenant_scope(place.tenant):
        Guest.objects.create(
            guest_id=known.guest_id, guest_name="山田 花子", name_key="山田 花子", detail=detail("01", "02"),
            use_date_start=known.use_date_start, use_date_end=known.use_date_end,
        )  # fmt: skip
    return known


def detail(*units):
    return {"key_devices_list": [{"key_device_id": "K1", "units_no_list": list(units)}]}


def keys_of(place, who, role="receptionist"):
    page = said(place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/guests/{who.guest_id}/"))
    return page[page.index("Keys") :][:400]


def test_which_key_is_out_with_them_and_since_when(place, lent):
    reads(place, u01="return", u02="return", ago=3600)
    at = timezone.now() - timedelta(minutes=20)
    tells(place, "01", "Key taken", at, who=lent.guest_id, name="山田 花子")
    words = keys_of(place, lent)
    assert "総務キーボックス 01 正面玄関 予備 Out with this guest since" in words
    assert "総務キーボックス 02 社用車 In the box" in words


def test_a_key_that_somebody_else_has_is_not_with_them(place, lent):
    tells(place, "01", "Key taken", timezone.now() - timedelta(minutes=20), who="m-5")
    words = keys_of(place, lent)
    assert "01 正面玄関 予備 Out since" in words
    assert "with this guest" not in words
    assert "02 社用車 Unknown" in words


def test_where_box_and_log_disagree_the_desk_is_told(place, lent):
    tells(place, "01", "Key taken", timezone.now() - timedelta(minutes=20), who=lent.guest_id)
    reads(place, u01="return", u02="return")
    assert "Key box and activity log don’t match" in keys_of(place, lent)


def test_a_key_that_no_box_has_is_named_all_the_same(place, lent):
    with tenant_scope(place.tenant):
        known = Guest.objects.get(guest_id=lent.guest_id)
        known.detail = detail("01", "77")
        known.save()
    assert "総務キーボックス: 01 正面玄関 予備, 77" in keys_of(place, lent)
