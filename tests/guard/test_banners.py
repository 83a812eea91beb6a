"""The banners on top of every page: alarms are above what can wait."""

from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.domain.alerts import detection
from portal.domain.places.models import PassController
from portal.lockdown.models import Kind, Lockdown, State
from tenants.scope import tenant_scope
from tests.support.doors import shows
from tests.support.keys import key_box, tells


def shows_forced(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="F", device_name="倉庫 入口")
    shows(place, "F", door="open", errors=["forced_open"])


def test_a_forced_door_stands_above_a_key_that_is_overdue(place):
    key_box(place)
    tells(place, "01", "Key taken", database_now() - timedelta(hours=30))
    shows_forced(place)
    with tenant_scope(place.tenant):
        detection.check_tenant()
    html = place.client(place.staff("guard")).get(f"/t/{place.tenant.slug}/keys/").content.decode()
    worst, sheet = html.split('class="status-worst">', 1)[1].split('class="menu-body"', 1)
    assert worst.startswith("倉庫 入口 has been forced open.")
    assert "· 1 more" in worst
    assert sheet.index("倉庫 入口 has been forced open.") < sheet.index("has been out for over 12 hours.")
    assert '<span class="nav-count" data-count="keys">1</span>' in html
    assert 'data-counts="{&quot;alerts&quot;: 2, &quot;keys&quot;: 1}"' in html


@pytest.mark.parametrize(("role", "shown"), [("owner", True), ("guard", False), ("receptionist", False)])
def test_calls_left_are_in_the_footer_for_people_who_see_the_connection(place, role, shown):
    page = place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/", follow=True).content.decode()
    foot = page.split('class="foot"', 1)[1]
    assert "Refresh" in foot
    assert ("API calls left" in foot) is shown


def test_a_lockdown_has_a_bar_and_other_notices_share_a_line(place):
    shows_forced(place)
    with tenant_scope(place.tenant):
        started_by = place.staff("owner")
        Lockdown.objects.create(
            kind=Kind.LOCKDOWN, state=State.ACTIVE, scope="all", by=started_by, started_by=started_by
        )
    html = place.client(place.staff("guard")).get(f"/t/{place.tenant.slug}/alerts/").content.decode()
    bars, line = html.split('<div class="notice-line', 1)
    assert bars.count('class="banner banner-alarm"') == 1
    assert "倉庫 入口 has been forced open." in line
