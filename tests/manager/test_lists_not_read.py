"""A list that was never read, is no longer updated or was refused: no page, report or file shows it as empty."""

import csv
import io
import re
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.base.ui.times import local
from portal.domain.events import MirrorKind
from portal.domain.jobs.models import Job, Row
from portal.domain.people.models import Guest, Member
from portal.domain.places.models import Key, KeyBox
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import Visit
from portal.reports.models import Report
from tenants.models import Connection
from tests.support import evidence
from tests.support.log import loaded
from tests.support.members import said
from tests.support.reports import ReportsDesk
from tests.support.reviews import option

_ROWS = {MirrorKind.MEMBERS: Member, MirrorKind.KEY_BOXES: KeyBox, MirrorKind.GUESTS: Guest}
NO_ACCESS = {"default_mode": "deny_all"}


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


def unread(desk, kind):
    """Mark this list as never read."""
    with desk.scope():
        _ROWS[kind].objects.all().delete()
        MirrorState.objects.filter(kind=kind).update(as_of=None, total=0, error="")


def disconnect(desk):
    with desk.scope():
        Connection.objects.update(state=Connection.State.BROKEN)


def last_read(desk, kind):
    with desk.scope():
        return f"{local(MirrorState.objects.get(kind=kind).as_of):%Y-%m-%d %H:%M}"


def know_everybody(desk):
    for member in desk.people:
        desk.know(member, NO_ACCESS)


def page(desk, rest=""):
    return said(desk.client.get(f"/t/{desk.place.tenant.slug}/{rest}"))


def test_a_report_without_the_list_of_members_does_not_say_that_all_rights_are_known(desk):
    know_everybody(desk)
    assert "Rights of all members loaded." in desk.page(desk.ask("may_enter", area=desk.area.area_id))
    unread(desk, MirrorKind.MEMBERS)
    told = desk.page(desk.ask("may_enter", area=desk.area.area_id))
    assert "Members unknown" in told
    assert "Members not loaded." in told
    assert "Rights of all members loaded." not in told
    assert "Nothing in the loaded data" in told


def test_a_report_of_a_tenant_that_is_not_connected_says_since_when_its_lists_stand_still(desk):
    know_everybody(desk)
    disconnect(desk)
    told = desk.page(desk.ask("may_enter", area=desk.area.area_id))
    for kind, name in ((MirrorKind.MEMBERS, "Members"), (MirrorKind.AREAS, "Areas")):
        assert f"{name} not updated since {last_read(desk, kind)}. This tenant is not connected to the service." in told


def test_a_report_of_keys_says_that_the_log_does_not_tell_of_now(desk):
    with desk.scope():
        Key.objects.all().delete()
        box = KeyBox.objects.order_by("pk")[0]
        Key.objects.create(key_box=box, unit_no="1", state="in")
    told = desk.page(desk.ask("keys"))
    assert "The activity log is not loaded." in told
    assert "Keys out unknown" in told
    assert "All key locations known" not in told
    loaded(desk.place)
    assert "All key locations known" in desk.page(desk.ask("keys"))


def test_a_report_of_guests_counts_at_least_where_their_list_is_not_read(desk):
    loaded(desk.place)
    told = desk.page(desk.ask("guests"))
    assert "Guests not loaded." in told
    assert "Visits not recorded Arrived not recorded" in told
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(as_of=timezone.now())
    assert "Guests not loaded." not in desk.page(desk.ask("guests"))


def test_the_list_of_reports_marks_those_whose_data_is_incomplete(desk):
    report = desk.ask("entered")
    assert "Incomplete data" in desk.page(report)
    assert "Ready Incomplete data" in page(desk, "reports/")
    with desk.scope():
        Report.objects.all().delete()
    know_everybody(desk)
    whole = desk.ask("may_enter", area=desk.area.area_id)
    assert "Incomplete data" not in desk.page(whole)
    assert "Incomplete data" not in page(desk, "reports/")


def test_an_areas_figures_are_of_at_least_so_many_where_members_or_rights_are_missing(desk):
    know_everybody(desk)
    desk.know(desk.people[0], option(desk.area.area_id))
    assert "Scheduled 0" in said(desk.client.get(desk.at()))
    with desk.scope():
        Member.objects.filter(pk=desk.people[1].pk).update(rights=None, rights_read_at=None)
    desk.know(desk.people[2], NO_ACCESS)
    unread(desk, MirrorKind.MEMBERS)
    told = said(desk.client.get(desk.at()))
    assert "at least 0" in told
    assert "Scheduled at least 0" in told
    assert "of 0 members" not in told
    assert "The list of members is not loaded." in told
    rows = list(csv.reader(io.StringIO(_text(desk.client.get(desk.areas_url, {"export": "csv"})))))
    column = rows[0].index("Scheduled")
    assert rows[1][column] == "at least 0"
    assert rows[-1] == ["List of members not loaded"]


def _text(answer):
    return b"".join(answer.streaming_content).decode("utf-8-sig")


def test_no_alert_is_no_calm_while_the_log_is_not_read(desk):
    assert "No alerts yet" not in page(desk, "alerts/")
    assert "Not loaded yet" in page(desk, "alerts/")
    loaded(desk.place)
    assert "No alerts yet" in page(desk, "alerts/")
    disconnect(desk)
    assert "This tenant is not connected to the service." in page(desk, "alerts/")


def test_a_search_that_finds_nobody_says_that_the_list_of_members_is_not_read(desk):
    with desk.scope():
        box = KeyBox.objects.create(key_device_id="K", key_device_name="Store", units=[])
        Key.objects.create(key_box=box, unit_no="1")
    pages = [
        "explain/?q=nobody", "rights/compare/?q=nobody", "logs/people/?find=nobody", "keys/K/1/?who=nobody",
        "find/?q=nobody", f"rights/copy/?from={desk.people[0].member_id}&q=nobody",
    ]  # fmt: skip
    assert [rest for rest in pages if "Members not" in page(desk, rest)] == []
    disconnect(desk)
    late = (
        f"Members not updated since {last_read(desk, MirrorKind.MEMBERS)}. This tenant is not connected to the service."
    )
    assert [rest for rest in pages if late not in page(desk, rest)] == []


def test_a_group_is_not_without_members_while_their_list_is_not_read(desk):
    unread(desk, MirrorKind.MEMBERS)
    told = page(desk, f"groups/{desk.group.membergroup_id}/")
    assert "This list has not been loaded from the service yet." in told
    assert "This group has no members." not in told


def test_key_boxes_without_keys_are_not_taken_for_none(desk):
    unread(desk, MirrorKind.KEY_BOXES)
    with desk.scope():
        KeyBox.objects.create(key_device_id="K", key_device_name="Store", units=[])
        MirrorState.objects.filter(kind=MirrorKind.KEY_BOXES).update(as_of=timezone.now())
    assert "No keys listed" in page(desk, "keys/")
    assert "No key boxes yet" not in page(desk, "keys/")


def test_a_month_of_visits_says_what_its_counts_may_lack_also_in_its_file(desk):
    unread(desk, MirrorKind.GUESTS)
    told = page(desk, "guests/month/?month=2020-01")
    assert "Visits recorded since " in told
    assert "Guests not loaded." in told
    rows = list(csv.reader(io.StringIO(_text(desk.client.get(_at(desk, "guests/month/csv/"))))))
    assert ["Guests not loaded."] in rows
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(as_of=timezone.now())
    assert "Guests not" not in page(desk, "guests/month/")


def test_the_list_of_people_in_the_building_says_in_its_file_that_the_log_stands_still(desk):
    [*_rows, last] = csv.reader(io.StringIO(_text(desk.client.get(_at(desk, "guests/building/csv/")))))
    assert last == ["At least 0 in the building; the activity log is not loaded"]
    loaded(desk.place)
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(error="unreachable", error_at=timezone.now())
    [*_rows, last] = csv.reader(io.StringIO(_text(desk.client.get(_at(desk, "guests/building/csv/")))))
    assert "Not updated since" in last[0]


def _at(desk, rest):
    return f"/t/{desk.place.tenant.slug}/{rest}"


def test_of_members_to_review_nothing_is_counted_that_cannot_be_known(desk):
    def counts():
        found = desk.client.get(f"{desk.url}leavers/never/", headers={"HX-Request": "true", "HX-Target": "leaver-tabs"})
        return re.findall(r'tab-count">\s*([^<\s]*)', found.content.decode())

    assert counts() == ["0", "0", "–", "0", "0"]
    [*_rows, last] = csv.reader(io.StringIO(_text(desk.client.get(f"{desk.url}leavers/never/", {"export": "csv"}))))
    assert last == ["The activity log is not loaded yet, so every member is listed."]
    loaded(desk.place)
    assert counts() == ["0", "0", "5", "0", "0"]
    [*_rows, last] = csv.reader(io.StringIO(_text(desk.client.get(f"{desk.url}leavers/never/", {"export": "csv"}))))
    assert "Earlier entries are not counted." in last[0]
    unread(desk, MirrorKind.MEMBERS)
    assert counts() == ["–"] * 5


def test_a_roll_call_without_the_log_says_so_in_list_and_report(desk):
    started = desk.client.post(
        _at(desk, "roll-call/start/"), {"name": "Drill", "nonce": str(uuid.uuid4())}, follow=True
    )
    assert "Activity log not loaded at the start" in said(started)
    assert "Activity log not loaded at the start" in page(desk, "roll-call/")


@pytest.mark.parametrize(
    ("state", "words"),
    [("uncertain", "Done Rows uncertain"), ("failed", "Done Failed rows"), ("succeeded", "Done")],
)
def test_lists_and_pages_of_jobs_say_what_their_rows_leave_open(desk, state, words):
    with desk.scope():
        job = Job.objects.create(
            kind="suspend", permission="members_edit", by=desk.place.owner, state="done", size=1,
            started_at=timezone.now(), finished_at=timezone.now(),
        )  # fmt: skip
        Row.objects.create(job=job, line=1, action="update", state=state, content={"name": "A", "code": ""})
    for rest in ("changes/", f"changes/{job.pk}/"):
        told = page(desk, rest)
        assert words in told, rest
        assert ("rows" in words.lower()) is ("Rows uncertain" in told or "Failed rows" in told), rest


def test_the_desk_says_beside_the_guests_it_knows_that_their_list_is_not_read(desk):
    now = timezone.now()
    with desk.scope():
        Visit.objects.create(
            guest_id="G", guest_name="山田", stage="issued", use_date_start=now, use_date_end=now + timedelta(hours=1)
        )
    client = desk.place.client(desk.place.staff("receptionist"))
    assert "Guests not loaded." in said(client.get(_at(desk, "guests/")))
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(as_of=timezone.now())
    assert "Guests not loaded." not in said(client.get(_at(desk, "guests/")))


def test_an_incident_does_not_say_that_there_are_no_records_while_the_log_is_not_read(desk):
    evidence.opened(desk.place, desk.client)
    loaded(desk.place)
    desk.client.post(evidence.url(desk.place, "new"), {"title": "Then", "began_at": "2020-01-01T10:00"})
    assert "No log records around this time" in said(desk.client.get(evidence.url(desk.place, "records", 2)))
    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=None, memory={})
    told = said(desk.client.get(evidence.url(desk.place, "records", 2)))
    assert "The activity log is not loaded yet." in told
    assert "No log records around this time" not in told
