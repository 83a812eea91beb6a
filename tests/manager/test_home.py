"""A tenant's overview: what each role finds there."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.core.intents.models import Intent
from portal.core.mirror.models import Member, PassController
from portal.core.visits.models import Visit
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.doors import shows
from tests.support.members import tight
from tests.support.places import fresh_nonce


def home(place, role="facility manager"):
    return tight(place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/").content.decode())


def test_connection_and_calls_are_one_line_beneath_everything_else(place):
    html = home(place)
    line = html[html.index("home-line") :].partition("</summary>")[0]
    for words in ("Connected", "API calls left", "720"):
        assert words in line
    for heading in ("Needs attention", "Doors", "Guests today", "Ends within 14 days"):
        assert html.index(f">{heading}</h2>") < html.index("home-line")


def test_the_overview_counts_todays_guests_and_names_whose_access_ends_soon(place):
    now = timezone.now()
    with tenant_scope(place.tenant):
        Visit.objects.create(
            guest_id="G", guest_name="山田", use_date_start=now, use_date_end=now + timedelta(hours=1), stage="issued"
        )
        for name, days in (("佐藤", 3), ("鈴木", 13), ("高橋", 15), ("伊藤", -1)):
            end = now + timedelta(days=days)
            Member.objects.create(member_id=name, member_name=name, use_date_end=end, use_end_key=int(end.timestamp()))
    html = home(place)
    assert re.search(r'show=expected">Expected</a>\s*<b>1</b>', html)
    assert re.findall(r">(佐藤|鈴木|高橋|伊藤)</a>", html) == ["佐藤", "鈴木"]
    assert "2 members" in html


def test_a_quiet_house_says_that_nothing_needs_attention(place):
    assert "Nothing needs attention" in home(place)


def test_a_door_that_needs_somebody_is_on_the_first_page(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="d", device_name="裏口")
    shows(place, "d", door="open", lock="unlock")
    html = home(place, "guard")
    assert "裏口" in html
    assert ">Open<" in html


def test_what_needs_a_decision_comes_first(place):
    with tenant_scope(place.tenant):
        Intent.objects.create(
            tenant=place.tenant, nonce=fresh_nonce().value, operation="create_member", delivery="create",
            title="Create member: X", by=place.owner, permission="members_edit", priority=1, queue="interactive",
            state="uncertain", reason="lost", due_at=None,
        )  # fmt: skip
    html = home(place)
    assert html.index("Needs attention") < html.index("Create member: X") < html.index("home-line")


def test_a_guard_sees_neither_members_nor_calls_nor_changes(place):
    html = home(place, "guard")
    for words in ("Guests today", "Ends within", "Recent changes"):
        assert words not in html
    service = html[html.index("home-service") :].partition("</details>")[0]  # the frame's footer tells of calls, too
    assert "Connected" in service
    for words in ("API calls", "allowance"):
        assert words not in service


@pytest.mark.parametrize("role", ["facility manager", "guard", "auditor"])
def test_the_overview_leads_to_the_activity_log(place, role):
    part = home(place, role).partition('id="overview"')[2]
    assert f'href="/t/{place.tenant.slug}/logs/"' in part


def test_an_unconnected_tenant_says_what_to_do_next(place):
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.NONE)
    assert "Not connected" in home(place)


def test_the_home_costs_the_same_few_queries_however_much_there_is(place):
    client = place.client()
    client.get(f"/t/{place.tenant.slug}/")
    with CaptureQueriesContext(connection) as few:
        client.get(f"/t/{place.tenant.slug}/")
    with tenant_scope(place.tenant):
        for n in range(30):
            PassController.objects.create(device_id=f"d{n}", device_name=f"Door {n}")
    with CaptureQueriesContext(connection) as many:
        client.get(f"/t/{place.tenant.slug}/")
    assert len(many) <= len(few) <= 12
