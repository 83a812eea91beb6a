"""The first page of a guard: alerts and doors, people on site, today's entries; and what other roles see."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.alerts import detection
from portal.domain.people.models import Member
from portal.domain.places.models import PassController
from portal.domain.presence import passages
from portal.domain.visits.models import Visit
from tenants.models import SupportSession, User
from tenants.scope import tenant_scope
from tests.support.doors import shows
from tests.support.log import area, happened, loaded, record
from tests.support.places import signed_in

HEADINGS = ("On site", "Doors", "Entries by hour", "Guests today", "Ends within 14 days")


@pytest.fixture
def house(place):
    """Create a building in which a member entered, a guest is present and a door was forced open."""
    now = timezone.now()
    with tenant_scope(place.tenant):
        for key, name in (("front", "正面エントランス 入口"), ("store", "倉庫 入口")):
            PassController.objects.create(device_id=key, device_name=name)
        end = now + timedelta(days=3)
        ends = {"use_date_end": end, "use_end_key": int(end.timestamp())}
        Member.objects.create(member_id="M1", member_name="佐々木 健太郎", **ends)
        hours_of = {"use_date_start": now, "use_date_end": now + timedelta(hours=1), "stage": "issued"}
        Visit.objects.create(guest_id="G", guest_name="山田 花子", arrived_at=now, **hours_of)
    shows(place, "front")
    shows(place, "store", door="open", errors=["forced_open"])
    area(place, "Hall", front="in", back="out")
    rows = happened(place, record(now, member_id="M1", member_name="佐々木 健太郎", device_id="front"))
    loaded(place)
    with tenant_scope(place.tenant):
        passages.save_new_passages(place.tenant, histories=rows)
        passages.count_new_passages(place.tenant, histories=rows)
        detection.check_tenant()
    return place


@pytest.fixture
def helper(house):
    """Return a person of the support staff in a support session."""
    user = User.objects.create_user("support@example.test", "x" * 12, name="S", platform_role="support")
    with tenant_scope(house.tenant):
        ends = timezone.now() + timedelta(hours=1)
        SupportSession.objects.create(tenant=house.tenant, user=user, reason="Ticket 12", expires_at=ends)
    return user


def overview(house, user):
    html = signed_in(user).get(f"/t/{house.tenant.slug}/").content.decode()
    return html[html.index('id="overview"') :]


def headings(html):
    return [each for each in HEADINGS if re.search(rf">\s*{each}\s*</h2>", html)]


def test_a_guard_sees_alerts_and_doors_who_is_in_and_todays_entries(house):
    html = overview(house, house.staff("guard"))
    assert headings(html) == ["On site", "Doors", "Entries by hour"]
    for words in ("1 unassigned alert", "Door forced open: 倉庫 入口", "1 entry today", "At least 2 in the building"):
        assert words in html
    assert "Roll call" in html
    assert html.index("1 unassigned alert") < html.index("1 door needs attention") < html.index("On site")


@pytest.mark.parametrize("role", ["owner", "facility manager"])
def test_owners_and_managers_see_all_of_it(house, role):
    assert headings(overview(house, house.staff(role))) == list(HEADINGS)


def test_an_auditor_sees_all_of_it(house):
    assert headings(overview(house, house.staff("auditor"))) == list(HEADINGS)


def test_support_sees_states_and_counts_and_nothing_of_the_log(house, helper):
    html = overview(house, helper)
    assert headings(html) == ["Doors", "Guests today", "Ends within 14 days"]
    assert "1 unassigned alert" in html
    assert "1 member" in html
    for name in ("佐々木", "山田", "entry today", "in the building", "View activity log"):
        assert name not in html


def test_a_guard_reads_nobodys_name_here(house):
    html = overview(house, house.staff("guard"))
    assert "佐々木" not in html
    assert "山田" not in html
