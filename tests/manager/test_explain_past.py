"""The access check for a past moment: it uses today's rights, says so first, and shows what changed since."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.permissions import always, by_schedule, weekly
from portal.domain.history.models import History
from portal.domain.places.models import Area
from portal.domain.sync import local_writes
from portal.domain.sync.models import MirrorState
from tenants.roles import Guard, Permission
from tests.support.changes import ChangesDesk
from tests.support.log import clock, happened, loaded, record
from tests.support.members import said

OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday"))


class PastDesk(ChangesDesk):
    def __init__(self, place):
        super().__init__(place)
        with self.scope():
            self.area = Area.objects.order_by("pk")[0]
        self.member = self.plain()[0]
        self.then = timezone.localtime() - timedelta(hours=1)

    def devices(self, pass_):
        return {"default_mode": "option", "areas_list": [{"area_id": self.area.area_id, "pass": pass_}]}

    def reads(self, pass_):
        """Let a single read of the member return these rights."""
        item = {**self.at_service(self.member.member_id), "devices_pass": self.devices(pass_)}
        local_writes.apply_member_read(self.place.tenant, item, timezone.now())

    def past(self, at=None):
        """Return the page for a moment, by default an hour ago."""
        query = {"member": self.member.member_id, "place": f"area:{self.area.area_id}"}
        return self.client.get(
            f"/t/{self.place.tenant.slug}/explain/", query | {"at": f"{at or self.then:%Y-%m-%dT%H:%M}"}
        )


@pytest.fixture
def desk(place):
    return PastDesk(place)


def test_the_first_line_says_that_the_past_is_judged_by_todays_rights(desk):
    desk.reads(always())
    page = said(desk.past())
    assert "Based on today’s rights" in page
    assert "not those at that time. No changes are known since then" in page
    assert page.index("Based on today’s rights") < page.index("is allowed at any time")
    assert "Based on today’s rights" not in said(desk.past(timezone.localtime() + timedelta(days=1)))


def test_a_reading_that_differs_from_the_last_one_is_shown_as_a_change_from_outside(desk):
    desk.reads(OFFICE)
    desk.reads(OFFICE)
    desk.reads(always())
    page = said(desk.past())
    assert "1 change is known since then" in page
    assert "Outside the portal" in page
    assert "→ at any time" in page


def test_what_staff_changed_alone_and_with_many_is_shown_with_their_name(desk):
    desk.send(f"{desk.member.member_id}/edit/", use_date_end="2099-01-31T18:00")
    desk.changed("suspend", [desk.member])
    page = said(desk.past())
    assert "2 changes are known since then" in page
    assert "Suspend 1 member" in page
    assert "2099-01-31 18:00" in page
    assert page.count(str(desk.user)) >= 2
    soon = timezone.localtime() + timedelta(minutes=5)
    assert "Changes since" not in said(desk.past(soon))


def test_records_of_the_log_around_the_moment_and_how_far_the_log_reaches_are_told(desk):
    desk.reads(always())
    assert "The activity log is not loaded yet" in said(desk.past())
    with desk.scope():
        for minutes, content in ((-10, "Unlocked by card"), (10, "Refused"), (-60 * 24, "Long before")):
            History.objects.create(
                tenant=desk.place.tenant, history_id=f"h{minutes}", at=desk.then + timedelta(minutes=minutes),
                content=content, member_id=desk.member.member_id, device_name="North door",
            )  # fmt: skip
        reach = {"known_from": (desk.then - timedelta(days=9)).isoformat()}
        MirrorState.objects.filter(kind="histories").update(as_of=timezone.now(), memory=reach)
    page = said(desk.past())
    assert page.index("Unlocked by card") < page.index("Refused")
    assert "Long before" not in page
    assert "does not cover that time" not in page
    assert "does not cover that time" in said(desk.past(desk.then - timedelta(days=30)))


def test_a_question_about_the_past_costs_few_queries_whatever_changed(desk):
    def counted():
        with CaptureQueriesContext(connection) as found:
            desk.past()
        return len(found)

    desk.reads(OFFICE)
    desk.past()
    few = counted()
    for turn in range(6):
        desk.reads(always() if turn % 2 else OFFICE)
    assert counted() <= few + 1
    assert few <= 20


def test_whoever_sees_only_today_reads_nothing_of_days_before_not_even_that_nothing_happened(desk, monkeypatch):
    monkeypatch.setattr(Guard, "permissions", Guard.permissions | {Permission.AREAS_VIEW})
    desk.client = desk.place.client(desk.place.staff("guard"))
    loaded(desk.place)
    noon = clock("12:00", timezone.localdate() - timedelta(days=3))
    happened(desk.place, record(noon, content="Unlocked by card", member_id=desk.member.member_id))
    page = said(desk.past(noon + timedelta(minutes=5)))
    assert "Only today’s records are shown." in page
    assert "Unlocked by card" not in page
    assert "No activity" not in page
    night = said(desk.past(clock("00:00") - timedelta(minutes=5)))
    assert "No activity today in the 12 hours before and after." in night
    assert "Only today’s records are shown." in night
