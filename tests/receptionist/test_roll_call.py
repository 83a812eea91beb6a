"""A roll call: begun, ticked off together, added to, ended and read afterwards."""

import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from portal.core.inside import people
from portal.core.inside.models import Inside
from portal.core.mirror import hooks
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.core.mirror.months import KEEP
from portal.rollcall import keeping
from portal.rollcall.models import Listed, RollCall, Tick
from tenants.models import AuditEntry, SupportSession, User
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit
from tests.support.log import area, happened, record
from tests.support.members import said
from tests.support.places import signed_in


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """The day began in time, whatever the hour of the test."""
    monkeypatch.setattr(people, "day_begins", lambda now: now - timedelta(hours=10))


def passes(place, who, door, at=None):
    """A member passes a door; the portal reads of it."""
    at = at or timezone.now()
    rows = happened(place, record(at, member_id=who, member_name=who, device_id=door, device_name=f"Door {door}"))
    with tenant_scope(place.tenant):
        hooks.tell(Kind.HISTORIES, place.tenant, histories=rows)


def furnish(place):
    area(place, "Lobby", IN="in", OUT="out")
    with tenant_scope(place.tenant):
        for number, name in (("m-1", "相沢"), ("m-2", "馬場"), ("m-3", "千葉")):
            Member.objects.create(member_id=number, member_name=name, name_key=name)
    for number in ("m-1", "m-2"):
        passes(place, number, "IN", timezone.now() - timedelta(minutes=9))
    visit(place, "山田", arrived_at=timezone.now() - timedelta(minutes=5), arrived_by="desk")


def start(place, client, nonce=None, name="Fire alarm"):
    answer = client.post(f"/t/{place.tenant.slug}/roll-call/start/", {"name": name, "nonce": nonce or uuid.uuid4()})
    assert answer.status_code == 302, answer.content
    return answer["Location"]


def listed(place, name):
    with tenant_scope(place.tenant):
        return Listed.objects.get(name=name).pk


def press(row, word="safe", at=None, nonce=None):
    return {"id": row, "said": word, "at": (at or timezone.now()).isoformat(), "nonce": str(nonce or uuid.uuid4())}


def send(client, at, *presses):
    answer = client.post(f"{at}ticks/", json.dumps(presses), content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def begun(place):
    furnish(place)
    client = place.client(place.staff("receptionist"))
    return client, start(place, client)


def test_it_lists_whoever_is_believed_to_be_in_and_is_written_down(place, begun):
    client, at = begun
    words = said(client.get(at))
    assert "0 of 3 accounted for, 3 not yet, 0 not found" in words
    for name in ("相沢", "馬場", "山田"):
        assert name in words
    assert "千葉" not in words
    with tenant_scope(place.tenant):
        entry = AuditEntry.objects.get(action="roll_call.started")
    assert entry.after == {"people": 3}


def test_the_same_form_sent_twice_begins_one(place):
    furnish(place)
    client, nonce = place.client(place.staff("receptionist")), uuid.uuid4()
    assert start(place, client, nonce) == start(place, client, nonce)
    with tenant_scope(place.tenant):
        assert Listed.objects.count() == 3


def test_wardens_see_each_others_ticks(place, begun):
    client, at = begun
    guard = place.client(place.staff("guard"))
    before = guard.get(f"{at}state/").json()
    assert guard.get(f"{at}state/", headers={"X-Seen": before["seen"]}).status_code == 204
    send(client, at, press(listed(place, "相沢")), press(listed(place, "馬場"), "missing"))
    told = guard.get(f"{at}state/?since={before['last']}", headers={"X-Seen": before["seen"]}).json()
    assert {row[0] for row in told["rows"].values()} == {"safe", "missing"}
    words = said(guard.get(at))
    assert "1 of 3 accounted for, 1 not yet, 1 not found" in words
    assert words.index("山田") < words.index("馬場") < words.index("相沢")


def test_a_press_sent_twice_is_one_tick(place, begun):
    client, at = begun
    once = press(listed(place, "相沢"))
    send(client, at, once)
    told = send(client, at, once, once)
    assert told == {"kept": [once["nonce"]] * 2, "refused": []}
    with tenant_scope(place.tenant):
        assert Tick.objects.count() == 1


def test_of_two_at_once_both_are_kept_and_the_newest_counts_whichever_comes_first(place, begun):
    client, at = begun
    row, now = listed(place, "相沢"), timezone.now()
    guard = place.client(place.staff("guard"))
    send(guard, at, press(row, "safe", now))
    send(client, at, press(row, "missing", now - timedelta(seconds=1)))
    assert "1 of 3 accounted for" in said(client.get(at))
    report = said(client.get(f"{at}report/"))
    assert "Safe ·" in report
    assert "Not found ·" in report


def test_a_phone_whose_clock_is_fast_does_not_win_and_what_it_told_is_kept(place, begun):
    client, at = begun
    row, ahead = listed(place, "相沢"), timezone.now() + timedelta(hours=3)
    send(client, at, press(row, "missing", ahead))
    send(client, at, press(row, "safe"))
    assert "1 of 3 accounted for" in said(client.get(at))
    with tenant_scope(place.tenant):
        first = Tick.objects.order_by("pk").first()
    assert first.pressed_at == parse_datetime(ahead.isoformat())
    assert first.counts_at < ahead


def test_a_tick_is_taken_back(place, begun):
    client, at = begun
    row = listed(place, "相沢")
    send(client, at, press(row))
    send(client, at, press(row, "open"))
    assert "0 of 3 accounted for" in said(client.get(at))


def test_a_press_of_somebody_elses_list_or_nonsense_is_not_kept(place, begun):
    client, at = begun
    stranger = press(999_999)
    assert send(client, at, stranger)["refused"] == [stranger["nonce"]]
    for told in ("[1]", "nonsense", '[{"id": "x"}]', "5"):
        assert client.post(f"{at}ticks/", told, content_type="application/json").status_code == 400


def test_without_script_a_button_is_enough(place, begun):
    client, at = begun
    assert client.post(f"{at}ticks/", {"tick": f"{listed(place, '相沢')}:safe"})["Location"] == at
    client.post(f"{at}ticks/", {"tick": "nonsense"})
    assert "1 of 3 accounted for" in said(client.get(at))


def test_whoever_left_by_the_log_is_said_so_and_whoever_came_can_be_added(place, begun):
    client, at = begun
    before = client.get(f"{at}state/").json()
    passes(place, "m-1", "OUT")
    passes(place, "m-3", "IN")
    assert client.get(f"{at}state/").json()["page"] != before["page"]
    words = said(client.get(at))
    assert "Door OUT" in words
    assert "Seen in the building after the start" in words
    for _ in range(2):
        client.post(f"{at}people/", {"key": "member:m-3"})
    client.post(f"{at}people/", {"name": "Courier", "place": "Ramp", "nonce": uuid.uuid4()})
    words = said(client.get(at))
    assert "0 of 5 accounted for" in words
    assert "Courier" in words
    assert "Seen in the building after the start" not in words


def test_it_ends_and_its_report_stays(place, begun):
    client, at = begun
    row = listed(place, "相沢")
    earlier = press(row, at=timezone.now())
    client.post(f"{at}end/")
    client.post(f"{at}end/")
    assert client.get(at)["Location"] == f"{at}report/"
    late = press(row, "missing")
    assert send(client, at, earlier, late)["refused"] == [late["nonce"]]
    words = said(client.get(f"{at}report/"))
    assert "1 of 3 accounted for" in words
    assert "Ended" in words
    with tenant_scope(place.tenant):
        assert AuditEntry.objects.filter(action="roll_call.ended").count() == 1
    assert "Nobody was added" in said(client.post(f"{at}people/", {"name": "X", "nonce": uuid.uuid4()}, follow=True))


def test_an_auditor_reads_the_reports_and_takes_no_roll_call(place, begun):
    client, at = begun
    send(client, at, press(listed(place, "相沢")))
    auditor, first = place.client(place.staff("auditor")), f"/t/{place.tenant.slug}/roll-call/"
    page = said(auditor.get(first))
    assert "Fire alarm" in page
    assert "Start roll call" not in page
    assert f"{at}report/" in auditor.get(first).content.decode()
    report = said(auditor.get(f"{at}report/"))
    assert "1 of 3 accounted for" in report
    assert "Tick people off" not in report
    for rest, answer in (
        ("", auditor.get(at)),
        ("ticks/", auditor.post(f"{at}ticks/")),
        ("end/", auditor.post(f"{at}end/")),
    ):
        assert answer.status_code == 403, rest
    assert auditor.post(f"{first}start/", {"name": "X", "nonce": uuid.uuid4()}).status_code == 403


def test_support_reads_no_roll_call(place, begun):
    _, at = begun
    user = User.objects.create_user("support@example.test", "x" * 12, name="S", platform_role="support")
    with tenant_scope(place.tenant):
        ends = timezone.now() + timedelta(hours=1)
        SupportSession.objects.create(tenant=place.tenant, user=user, reason="Ticket 12", expires_at=ends)
    assert signed_in(user).get(f"{at}report/").status_code == 403
    assert signed_in(user).get(f"/t/{place.tenant.slug}/devices/").status_code == 200


def test_three_hundred_people_are_one_page_of_few_statements(place, begun):
    client, _ = begun
    now = timezone.now()
    with tenant_scope(place.tenant):
        Member.objects.bulk_create(Member(member_id=f"n{n}", member_name=f"N{n}", name_key=f"n{n}") for n in range(300))
        Inside.objects.bulk_create(
            Inside(member_id=f"n{n}", at=now, history_id=f"n{n}", device_id="IN") for n in range(300)
        )
    at = start(place, client, name="Drill")
    client.get(at)
    for rest in ("", "state/", "report/"):
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(f"{at}{rest}")
        assert answer.status_code == 200
        assert len(captured) <= 12, [each["sql"][:200] for each in captured]
    assert "0 of 303 accounted for" in said(client.get(at))


def test_old_roll_calls_go_with_the_log(place, begun):
    with tenant_scope(place.tenant):
        RollCall.objects.update(started_at=timezone.now() - KEEP - timedelta(days=1))
    keeping.tidy()
    with tenant_scope(place.tenant):
        assert not RollCall.objects.exists()
        assert not Listed.objects.exists()


def test_the_worker_serves_this_page_alone(place, begun):
    client, at = begun
    answer = client.get(f"{at}worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert answer["Service-Worker-Allowed"] == at
    assert client.get("/t/x/roll-call/1/worker.js").status_code == 404


def test_signing_out_takes_what_rests_in_the_browser_along(place, begun):
    client, _ = begun
    assert client.post("/accounts/logout/")["Clear-Site-Data"] == '"storage"'
