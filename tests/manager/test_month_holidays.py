"""A month of visits shows the public holidays, and a badge says that its holder is a guest."""

import pytest
from django.utils import timezone

from portal.domain.places.models import TenantRecord
from tenants.scope import tenant_scope
from tests.support.codes import read_pdf, url, visit
from tests.support.members import said


@pytest.mark.parametrize("counts", [True, False])
def test_public_holidays_are_named_whether_or_not_the_tenants_schedules_know_them(place, counts):
    holiday = {
        "is_include_public_holiday": counts,
        "public_holiday": {"2025-10-13": "スポーツの日", "2025-10-20": "臨時"},
        "exclude_date": {"2025-10-20": ""},
        "include_date": {"2025-10-31": "創立記念日"},
    }
    with tenant_scope(place.tenant):
        TenantRecord.objects.create(holiday=holiday, read_at=timezone.now())
    client = place.client(place.staff("facility manager"))
    told = said(client.get(f"/t/{place.tenant.slug}/guests/month/", {"month": "2025-10"}))
    assert "2025-10-13 (Mon) スポーツの日" in told
    assert "2025-10-31 (Fri) 創立記念日" in told
    assert "臨時" not in told
    table = client.get(f"/t/{place.tenant.slug}/guests/month/csv/", {"month": "2025-10"})
    lines = b"".join(table.streaming_content).decode("utf-8-sig").splitlines()
    assert lines[0].rstrip('"').endswith("Holiday")
    assert "スポーツの日" in lines[13]


@pytest.mark.parametrize("name", ["W" * 40, "寿限無" * 13])
def test_a_badge_says_guest_in_both_languages_and_holds_all_of_a_long_name(place, name):
    guest, desk = visit(place, name), place.client(place.staff("receptionist"))
    page = said(desk.get(url(place, f"{guest.guest_id}/badge/")))
    assert "GUEST 来訪者" in page
    assert name in page
    for form in ("badge", "slip"):
        words, _sizes, _codes = read_pdf(desk.get(url(place, f"{guest.guest_id}/{form}.pdf")).content)
        assert "GUEST 来訪者" in words
        assert name in words.replace(" ", "").replace("\n", "")
