"""The overview of the day: what needs attention first, who is on site, and how complete the data is."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain.alerts import actions, detection
from portal.domain.alerts.models import Alert, Rule
from portal.domain.history.coverage import start_of_day
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.jobs.models import Job, Row
from portal.domain.people.models import Member
from portal.domain.places.models import PassController
from portal.domain.presence import passages
from portal.domain.presence.models import HourlyPassages
from portal.domain.visits.models import Visit
from portal.lockdown.models import Lockdown, LockdownDoor
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support import cached_places
from tests.support.doors import shows
from tests.support.keys import key_box, reads, tells
from tests.support.log import area, happened, lists_read, loaded, record
from tests.support.members import MembersDesk, tight
from tests.support.places import fresh_nonce
from tests.support.rounds import round_of

ROLES = ("owner", "facility manager", "guard", "auditor")


@pytest.fixture
def house(place):
    """Create a building with a closed door and a complete log."""
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="front", device_name="正面エントランス 入口")
    shows(place, "front")
    loaded(place)
    lists_read(place)
    return place


def home(place, role="facility manager"):
    return tight(place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/").content.decode())


def lines(html):
    """Return what needs attention: (text, detail), in order."""
    found = re.search(r'class="home-lines">(.*?)</ul>', html, re.DOTALL)
    rows = re.findall(r"<a [^>]*>([^<]*)</a>\s*(?:<span>([^<]*)</span>)?", found[1]) if found else []
    return [(text.strip(), detail.strip()) for text, detail in rows]


def request_of(place, **values):
    with tenant_scope(place.tenant):
        return Intent.objects.create(
            tenant=place.tenant, nonce=fresh_nonce().value, operation="create_member", delivery="create",
            title="Create member: X", by=place.owner, permission="members_edit", priority=1, queue="interactive",
            **({"state": "uncertain", "reason": "lost", "due_at": None} | values),
        )  # fmt: skip


def forced(place, device_id, name):
    """Force a door open, and check the alert rules."""
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id=device_id, device_name=name)
    shows(place, device_id, door="open", errors=["forced_open"])
    with tenant_scope(place.tenant):
        detection.check_tenant()


def import_with_failed_rows(place, **values):
    with tenant_scope(place.tenant):
        job = Job.objects.create(
            kind="import", title="new.csv", permission="imports_run", by=place.owner,
            **({"state": "done", "finished_at": timezone.now()} | values),
        )  # fmt: skip
        Row.objects.create(job=job, line=2, action="create", state="failed")
    return job


def came_in(place, member_id, device_id):
    """Let a member pass a door now."""
    rows = happened(place, record(timezone.now(), member_id=member_id, member_name=member_id, device_id=device_id))
    with tenant_scope(place.tenant):
        passages.save_new_passages(place.tenant, histories=rows)


def test_the_connection_is_one_line_beneath_everything_else_and_the_calls_are_in_the_footer_alone(house):
    html = home(house)
    assert "Connected" in html[html.index('"home-line"') :].partition("</summary>")[0]
    assert "API calls left" not in html.partition("<main")[2].partition("</main>")[0]
    for heading in ("Needs attention", "On site", "Doors", "Guests today", "Ends within 14 days"):
        assert html.index(f">{heading}</h2>") < html.index('"home-line"')


def test_the_overview_counts_todays_guests_and_names_whose_access_ends_soon(house):
    now = timezone.now()
    with tenant_scope(house.tenant):
        hours = {"use_date_start": now, "use_date_end": now + timedelta(hours=1), "stage": "issued"}
        Visit.objects.create(guest_id="G", guest_name="山田", **hours)
        Visit.objects.create(guest_id="H", guest_name="田中", arrived_at=now, **hours)
        for name, days in (("佐藤", 3), ("鈴木", 13), ("高橋", 15), ("伊藤", -1)):
            end = now + timedelta(days=days)
            Member.objects.create(member_id=name, member_name=name, use_date_end=end, use_end_key=int(end.timestamp()))
    html = home(house)
    assert "1 of 2 arrived" in html
    assert re.search(r'show=expected">Expected</a>\s*<b>1</b>', html)
    assert re.findall(r">(佐藤|鈴木|高橋|伊藤)</a>", html) == ["佐藤", "鈴木"]
    assert "2 members" in html
    assert ("1 expired member not deleted", "") in lines(html)


def test_a_quiet_house_says_that_nothing_needs_attention(house):
    html = home(house)
    assert "Nothing needs attention" in html
    assert re.search(r"As of\s*<time", html)


@pytest.mark.parametrize("role", ["facility manager", "guard"])
def test_calm_is_not_claimed_where_something_is_not_known(house, role):
    with tenant_scope(house.tenant):
        PassController.objects.create(device_id="new", device_name="屋上")
    assert "Nothing needs attention" not in home(house, role)
    assert "Not known: 1 door not loaded" in home(house, role)
    loaded(house, ago=3 * 3600)
    assert "activity log not updated, 1 door not loaded" in home(house, role)
    with tenant_scope(house.tenant):
        Connection.objects.update(state=Connection.State.BROKEN)
    assert "Not known: not connected to the service" in home(house, role)


def test_alerts_come_first_with_their_place_and_stay_quiet_once_taken(house):
    forced(house, "store", "倉庫 入口")
    assert lines(home(house))[:2] == [
        ("1 unassigned alert", "Door forced open: 倉庫 入口"),
        ("1 door needs attention", "Forced open"),
    ]
    with tenant_scope(house.tenant):
        actions.assign(alert=Alert.objects.get(), by=Requester(house.tenant, house.owner))
    assert lines(home(house)) == [("1 door needs attention", "Forced open"), ("1 alert assigned, open", "")]


@pytest.mark.parametrize("role", ROLES)
def test_a_door_that_needs_somebody_is_on_the_first_page(house, role):
    with tenant_scope(house.tenant):
        PassController.objects.create(device_id="d", device_name="裏口")
    shows(house, "d", door="open", lock="unlock")
    html = home(house, role)
    assert "裏口" in html
    assert ">Open<" in html
    assert ("1 door needs attention", "Open") in lines(html)


def test_requests_without_an_answer_and_jobs_with_failed_rows_lead_to_where_they_are_settled(house):
    request = request_of(house)
    job = import_with_failed_rows(house)
    html = home(house)
    assert lines(html) == [
        ("1 uncertain request", "Create member: X"),
        ("1 job with failed rows", "Import new.csv"),
    ]
    assert f'href="/t/{house.tenant.slug}/intents/{request.pk}/"' in html
    assert f"/imports/{job.pk}/" in html
    request_of(house)
    assert f'href="/t/{house.tenant.slug}/intents/?show=open"' in home(house)


def test_a_job_of_long_ago_and_one_whose_rows_were_sent_again_are_not_told(house):
    import_with_failed_rows(house, finished_at=timezone.now() - timedelta(days=15))
    job = import_with_failed_rows(house)
    with tenant_scope(house.tenant):
        again = Job.objects.create(kind="import", permission="imports_run", by=house.owner, state="done")
        Row.objects.filter(job=job).update(retried_in=again)
    assert lines(home(house)) == []


def test_how_many_are_in_the_building_says_how_certain_it_is(house):
    area(house, "Hall", front="in")
    came_in(house, "M1", "front")
    assert re.search(r"About 1 in the building</a></p>\s*<p>0 confirmed, 1 likely", home(house))
    area(house, "Lobby", front="in", back="out")
    html = home(house)
    assert "At least 1 in the building" in html
    assert re.search(r"Activity log complete through \d\d:\d\d", html)


def passed(place, at, device_id="front", times=1, **said):
    """Record that members passed a door."""
    found = [record(at, member_id="M1", device_id=device_id, **said) for _ in range(times)]
    rows = happened(place, *found)
    with tenant_scope(place.tenant):
        passages.count_new_passages(place.tenant, histories=rows)


def this_hour():
    return timezone.now().replace(minute=0, second=0, microsecond=0)


def figures_of(html, at):
    """Return the figures of an hour in the chart: (today, usual)."""
    name = f"{at.astimezone(TOKYO):%H}:00"
    row = re.search(rf'<th scope="row">{name}</th>(.*?)</tr>', html, re.DOTALL)[1]
    return tuple(re.findall(r">([^<>]+)</td>", row))


@pytest.fixture
def with_ways_out(house):
    area(house, "Hall", front="in", back="out")
    return house


def test_entries_by_hour_stand_beside_what_is_usual_for_this_weekday(with_ways_out):
    house, hour = with_ways_out, this_hour()
    passed(house, hour, times=3)
    passed(house, hour, device_id="back")
    for weeks, times in ((1, 4), (2, 8)):
        passed(house, hour - timedelta(weeks=weeks), times=times)
    passed(house, hour - timedelta(days=1), times=50)
    loaded(house, days=15)
    assert figures_of(home(house), hour) == ("3", "6")
    assert re.search(r"3 entries today</p>\s*<p class=\"muted\">Usually about \d+ by now", home(house))


def test_before_this_weekday_is_known_days_of_the_same_sort_tell_what_is_usual(with_ways_out):
    house, hour = with_ways_out, this_hour()
    today = hour.astimezone(TOKYO).weekday()
    alike = [n for n in range(1, 7) if ((today - n) % 7 >= 5) == (today >= 5)]
    for number in range(1, 7):
        passed(house, hour - timedelta(days=number), times=5 if number in alike else 9)
    sixth = start_of_day(hour.astimezone(TOKYO).date() - timedelta(days=6))
    loaded(house, days=(timezone.now() - sixth + timedelta(minutes=1)) / timedelta(days=1))  # from its beginning
    html = home(house)
    assert figures_of(html, hour) == ("0", "5")
    assert ("Usual from Monday to Friday" if today < 5 else "Usual on Saturday and Sunday") in html


def test_a_guard_sees_todays_entries_and_nothing_of_other_days(with_ways_out):
    hour = this_hour()
    passed(with_ways_out, hour, times=3)
    before = home(with_ways_out, "guard")
    passed(with_ways_out, hour - timedelta(weeks=1), times=4)
    assert figures_of(home(with_ways_out, "guard"), hour) == figures_of(before, hour) == ("3",)
    assert "Usually" not in before


def test_what_is_usual_is_not_said_of_days_that_are_not_loaded(with_ways_out):
    passed(with_ways_out, this_hour())
    loaded(with_ways_out, days=0.5)
    html = home(with_ways_out)
    assert "1 entry today" in html
    assert "Usually" not in html


def test_refusals_keys_and_what_a_notification_alone_told_are_no_entries(with_ways_out):
    house, hour = with_ways_out, this_hour()
    passed(house, hour)
    passed(house, hour, category="warning")
    passed(house, hour, units=[{"unit_no": "01"}])
    passed(house, hour, notified=True)
    assert figures_of(home(house), hour)[0] == "1"


def test_hours_are_counted_again_from_the_log_and_let_go_in_time(with_ways_out):
    house, hour = with_ways_out, this_hour()
    happened(house, *[record(hour - timedelta(days=20), member_id="M1", device_id="front") for _ in range(2)])
    round_of("passages_taken_again")
    passed(house, hour)
    happened(house, record(hour, member_id="M2", device_id="front"))  # missed by the listener
    round_of("passages_taken_again")
    round_of("passages_taken_again")
    with tenant_scope(house.tenant):
        assert sorted(HourlyPassages.objects.values_list("number", flat=True)) == [2, 2]
        HourlyPassages.objects.update(hour=F("hour") - timedelta(days=40))
    round_of("passages_taken_again")
    with tenant_scope(house.tenant):
        assert list(HourlyPassages.objects.values_list("number", flat=True)) == [2]


def test_a_guard_sees_neither_members_nor_calls_nor_changes(house):
    html = home(house, "guard")
    for words in ("Guests today", "Ends within", "Recent changes", "expired member"):
        assert words not in html
    service = html[html.index("home-service") :].partition("</details>")[0]  # the frame's footer also mentions calls
    assert "Connected" in service
    for words in ("API calls", "allowance"):
        assert words not in service


@pytest.mark.parametrize("role", ["facility manager", "guard", "auditor"])
def test_the_overview_leads_to_the_activity_log(house, role):
    part = home(house, role).partition('id="overview"')[2]
    assert f'href="/t/{house.tenant.slug}/logs/"' in part


def steps(html):
    """Return the next steps: (text, whether it is done, whether it is a link)."""
    found = re.findall(r"<li>(.*?)</li>", html[html.index('id="next-steps"') :].partition("</ol>")[0], re.DOTALL)
    return [
        (re.findall(r"<(?:a|span)[^>]*>([^<]+)</(?:a|span)>", each)[1], ">Done<" in each, "<a " in each)
        for each in found
    ]


def test_a_new_tenant_says_what_to_do_next_by_role(place):
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.NONE)
    connect = "Connect this tenant to the service"
    html = home(place, "owner")
    assert "Needs attention" not in html
    assert steps(html)[0] == (connect, False, True)
    assert ("Invite staff", True, False) in steps(html)
    assert ("Create presets for guests", False, True) in steps(html)
    assert steps(home(place, "guard")) == [(connect, False, False), ("Load the doors", False, False)]
    assert "An owner can do this." in home(place, "guard")


def test_a_connected_tenant_with_nothing_in_it_says_how_far_it_is(place):
    assert steps(home(place, "owner"))[0] == ("Connect this tenant to the service", True, False)
    cached_places.read(place, unread=MembersDesk.unread)
    assert "First steps" not in home(place, "owner")


def lively(place):
    """Create a building in which everything happens at once."""
    for number in range(3):
        forced(place, f"f{number}", f"Door {number}")
    for number in range(30):
        with tenant_scope(place.tenant):
            PassController.objects.create(device_id=f"d{number}", device_name=f"Quiet {number}")
        request_of(place, state="queued")
        request_of(place)
        import_with_failed_rows(place)
        came_in(place, f"M{number}", "front")
    with tenant_scope(place.tenant):
        Member.objects.create(member_id="M1", member_name="佐々木 健太郎")
        order = Lockdown.objects.create(
            kind="evacuation", scope="all", state="active", by=place.owner, started_by=place.owner
        )
        LockdownDoor.objects.create(lockdown=order, device_id="front", name="Front")
        Alert.objects.create(
            kind="refused", subject="member:M1", severity=2, weight=2, began_at=timezone.now(), last_at=timezone.now(),
            facts={"n": 5, "minutes": 10, "person": True, "device": "front", "device_name": "Front"},
        )  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
def test_the_overview_costs_twelve_queries_at_most_however_much_there_is(house, role):
    client = house.client(house.staff(role))
    client.get(f"/t/{house.tenant.slug}/")
    with CaptureQueriesContext(connection) as few:
        client.get(f"/t/{house.tenant.slug}/")
    lively(house)
    with CaptureQueriesContext(connection) as many:
        client.get(f"/t/{house.tenant.slug}/")
    assert len(few) <= 9
    assert len(many) <= 12, [each["sql"][:200] for each in many]


def test_recent_changes_come_once_the_page_is_there_for_those_who_may_see_the_audit_log(house):
    at = f"/t/{house.tenant.slug}/recent-changes/"
    assert f'hx-get="{at}"' in home(house)
    assert f'hx-get="{at}"' not in home(house, "guard")
    assert house.client(house.staff("guard")).get(at).status_code == 403


def test_what_has_not_changed_is_not_drawn_again(house):
    client = house.client(house.staff("guard"))
    page = client.get(f"/t/{house.tenant.slug}/").content.decode()
    shown = re.search(r'id="overview"[^>]*data-version="([^"]+)"', page)[1]
    assert client.get(f"/t/{house.tenant.slug}/", headers={"X-Version": shown}).status_code == 204
    forced(house, "store", "倉庫 入口")
    answer = client.get(f"/t/{house.tenant.slug}/", headers={"X-Version": shown})
    assert "倉庫 入口" in answer.content.decode()


def test_keys_that_are_overdue_are_told_first_and_those_in_use_are_quiet(house):
    key_box(house)
    tells(house, "01", "Key taken", timezone.now() - timedelta(hours=30))
    tells(house, "02", "Key taken", timezone.now() - timedelta(hours=1))
    assert lines(home(house)) == [("1 key overdue", "総務キーボックス 01 正面玄関 予備"), ("2 keys out", "")]
    with tenant_scope(house.tenant):
        Rule.objects.create(kind="key_overdue", is_on=True, severity=2, values={"hours": 48})
    assert lines(home(house)) == [("2 keys out", "")]


def test_keys_of_which_nobody_knows_and_boxes_out_of_reach_are_no_calm(house):
    key_box(house)
    assert "3 keys: location unknown" in home(house)
    reads(house, u01="return", u02="return", u03="return")
    reads(house, line="disconnected")
    page = home(house)
    assert "location unknown" not in page
    assert "1 key box offline" in page
