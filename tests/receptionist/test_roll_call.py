"""A roll call: started, ticked off together, extended, ended and read afterwards."""

import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.history.partitions import RETENTION
from portal.domain.people.models import Member
from portal.domain.presence import people
from portal.domain.presence.models import LastPassage
from portal.rollcall.models import ListedPerson, RollCall, Tick
from tenants.models import AuditEntry, SupportSession, User
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit
from tests.support.log import area, happened, record
from tests.support.members import said
from tests.support.places import signed_in
from tests.support.rounds import round_of


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Let the day begin early enough at any hour of the test."""
    monkeypatch.setattr(people, "day_start_of", lambda now: now - timedelta(hours=10))


def passes(place, who, door, at=None):
    """Load a record that a member passed a door."""
    at = at or timezone.now()
    rows = happened(place, record(at, member_id=who, member_name=who, device_id=door, device_name=f"Door {door}"))
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


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
        return ListedPerson.objects.get(name=name).pk


def press(row, word="safe", at=None, nonce=None):
    return {"id": row, "status": word, "at": (at or timezone.now()).isoformat(), "nonce": str(nonce or uuid.uuid4())}


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
    assert "0 of 3 safe, 3 unaccounted for, 0 not found" in words
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
        assert ListedPerson.objects.count() == 3


def test_wardens_see_each_others_ticks(place, begun):
    client, at = begun
    guard = place.client(place.staff("guard"))
    before = guard.get(f"{at}state/").json()
    assert guard.get(f"{at}state/", headers={"X-Version": before["version"]}).status_code == 204
    send(client, at, press(listed(place, "相沢")), press(listed(place, "馬場"), "missing"))
    told = guard.get(f"{at}state/?since={before['last']}", headers={"X-Version": before["version"]}).json()
    assert {row[0] for row in told["rows"].values()} == {"safe", "missing"}
    words = said(guard.get(at))
    assert "1 of 3 safe, 1 unaccounted for, 1 not found" in words
    assert words.index("山田") < words.index("馬場") < words.index("相沢")


def test_a_press_sent_twice_is_one_tick(place, begun):
    client, at = begun
    once = press(listed(place, "相沢"))
    send(client, at, once)
    assert send(client, at, once, once) == {"answered": 2, "refused": [], "note": ""}
    with tenant_scope(place.tenant):
        assert Tick.objects.count() == 1


def test_of_two_at_once_both_are_kept_and_the_newest_counts_whichever_comes_first(place, begun):
    client, at = begun
    row, now = listed(place, "相沢"), timezone.now()
    guard = place.client(place.staff("guard"))
    send(guard, at, press(row, "safe", now))
    send(client, at, press(row, "missing", now - timedelta(seconds=1)))
    assert "1 of 3 safe" in said(client.get(at))
    report = said(client.get(f"{at}report/"))
    assert "Safe ·" in report
    assert "Not found ·" in report


def test_a_phone_whose_clock_is_fast_does_not_win_and_what_it_told_is_kept(place, begun):
    client, at = begun
    row, ahead = listed(place, "相沢"), timezone.now() + timedelta(hours=3)
    send(client, at, press(row, "missing", ahead))
    send(client, at, press(row, "safe"))
    assert "1 of 3 safe" in said(client.get(at))
    with tenant_scope(place.tenant):
        first = Tick.objects.order_by("pk").first()
    assert first.pressed_at == parse_datetime(ahead.isoformat())
    assert first.counts_at < ahead


def test_a_tick_is_taken_back(place, begun):
    client, at = begun
    row = listed(place, "相沢")
    send(client, at, press(row))
    send(client, at, press(row, "open"))
    assert "0 of 3 safe" in said(client.get(at))


# Data that a phone may send in place of a tick, or of one of its values; each is answered, none is stored.
NO_TICKS = (
    *("0", "null", '"x"', "[]", "{}", "1e999", "-Infinity", "NaN", "9" * 5_000, '"\\ud83d"', '"a\\u0000b"', "true"),
    *('{"id": 0, "id": "x"}', "[" * 60 + "]" * 60, str(2**63), str(10**30), '"０"', '"1e3"', '"' + "9" * 5_000 + '"'),
)
# Not read as JSON at all, or not as a list of ticks.
NO_LISTS = (
    *(b"nonsense", b"5", b"{}", b"null", b'[{"id": ]', b"\xff\xfe[]", b"[NaN", b"\x00[]"),
    *(b"[" * 10_000 + b"]" * 10_000, b"[" * 66 + b"]" * 66, b"[" * 500 + b"]" * 500),
)
CLOCKS_THAT_ARE_WRONG = (
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-11-23T10:00:00+23:59", "2026-11-23T10:00:00+16:00",
    "2026-11-23T10:00:00-23:59", "10000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "8000-01-01T00:00:00Z", "now", "",
    None, 5, 1e300, [], {"at": 1}, "9" * 5_000, "\ud83d", "2026-11-23T10:00:00\x00Z", "infinity", "-infinity",
)  # fmt: skip


def test_each_bad_tick_is_answered_by_itself_and_the_good_ones_are_kept(place, begun):
    client, at = begun
    good, stranger = press(listed(place, "相沢")), press(999_999)
    bad = [f'{{"id": {each}, "status": "safe", "at": "{good["at"]}", "nonce": "{uuid.uuid4()}"}}' for each in NO_TICKS]
    bad += [json.dumps(good)[:-1] + f', "{name}": {each}}}' for name in ("status", "nonce") for each in NO_TICKS]
    sent = [*NO_TICKS, *bad, json.dumps(stranger), json.dumps(good)]
    answer = client.post(f"{at}ticks/", "[" + ",".join(sent) + "]", content_type="application/json")
    assert answer.status_code == 200
    told = answer.json()
    assert told["answered"] == len(sent)
    assert told["refused"] == list(range(len(sent) - 1))
    assert "check-offs not saved: they could not be read" in told["note"]
    assert "not on this list" in told["note"]
    assert "1 of 3 safe" in said(client.get(at))
    with tenant_scope(place.tenant):
        assert Tick.objects.count() == 1


@pytest.mark.parametrize("body", NO_LISTS)
def test_what_is_no_list_of_ticks_is_refused_whole(place, begun, body):
    client, at = begun
    assert client.post(f"{at}ticks/", body, content_type="application/json").status_code == 400
    assert client.post(f"{at}ticks/", body, content_type="text/plain").status_code == 302


def test_a_list_without_end_is_answered_piece_by_piece(place, begun):
    client, at = begun
    good = press(listed(place, "相沢"))
    told = send(client, at, good, *[1] * 100_000)
    assert (told["answered"], len(told["refused"])) == (2000, 1999)
    assert "1 of 3 safe" in said(client.get(at))


@pytest.mark.parametrize("clock", CLOCKS_THAT_ARE_WRONG)
def test_a_phone_whose_clock_is_wrong_loses_no_tick_and_breaks_no_page(place, begun, clock):
    client, at = begun
    told = send(client, at, press(listed(place, "相沢")) | {"at": clock}, press(listed(place, "馬場"), "missing"))
    assert told == {"answered": 2, "refused": [], "note": ""}
    for rest in ("", "state/?since=0", "report/"):
        assert client.get(f"{at}{rest}").status_code == 200
    assert "1 of 3 safe, 1 unaccounted for, 1 not found" in said(client.get(at))
    with tenant_scope(place.tenant):
        call = RollCall.objects.get()
        assert all(call.started_at <= each.counts_at <= timezone.now() for each in Tick.objects.all())


def test_a_tick_without_a_usable_time_does_not_count_for_a_roll_call_that_had_ended(place, begun):
    client, at = begun
    client.post(f"{at}end/")
    told = send(client, at, press(listed(place, "相沢")) | {"at": "0001-01-01T00:00:00+14:00"})
    assert told["refused"] == [0]
    assert "1 check-off not saved: the roll call had ended" in told["note"]


def test_without_script_a_button_is_enough(place, begun):
    client, at = begun
    assert client.post(f"{at}ticks/", {"tick": f"{listed(place, '相沢')}:safe"})["Location"] == at
    client.post(f"{at}ticks/", {"tick": "nonsense"})
    words = said(client.get(at))
    assert "1 of 3 safe" in words
    assert "1 check-off not saved: it could not be read" in words


def test_whoever_left_by_the_log_is_said_so_and_whoever_came_can_be_added(place, begun):
    client, at = begun
    before = client.get(f"{at}state/").json()
    passes(place, "m-1", "OUT")
    passes(place, "m-3", "IN")
    assert client.get(f"{at}state/").json()["page"] != before["page"]
    words = said(client.get(at))
    assert "Door OUT" in words
    assert "Seen in the building since the start" in words
    for _ in range(2):
        client.post(f"{at}people/", {"key": "member:m-3"})
    client.post(f"{at}people/", {"name": "Courier", "place": "Ramp", "nonce": uuid.uuid4()})
    words = said(client.get(at))
    assert "0 of 5 safe" in words
    assert "Courier" in words
    assert "Seen in the building since the start" not in words


def test_it_ends_and_its_report_stays(place, begun):
    client, at = begun
    row = listed(place, "相沢")
    earlier = press(row, at=timezone.now())
    client.post(f"{at}end/")
    client.post(f"{at}end/")
    assert client.get(at)["Location"] == f"{at}report/"
    late = press(row, "missing")
    told = send(client, at, earlier, late)
    assert told == {
        "answered": 2, "refused": [1],
        "note": "1 check-off not saved: the roll call had ended. The report does not show it.",
    }  # fmt: skip
    words = said(client.get(f"{at}report/"))
    assert "1 of 3 safe" in words
    assert "Ended" in words
    with tenant_scope(place.tenant):
        assert AuditEntry.objects.filter(action="roll_call.ended").count() == 1
    assert "The person was not added" in said(
        client.post(f"{at}people/", {"name": "X", "nonce": uuid.uuid4()}, follow=True)
    )


def test_an_auditor_reads_the_reports_and_takes_no_roll_call(place, begun):
    client, at = begun
    send(client, at, press(listed(place, "相沢")))
    auditor, first = place.client(place.staff("auditor")), f"/t/{place.tenant.slug}/roll-call/"
    page = said(auditor.get(first))
    assert "Fire alarm" in page
    assert "Start roll call" not in page
    assert f"{at}report/" in auditor.get(first).content.decode()
    report = said(auditor.get(f"{at}report/"))
    assert "1 of 3 safe" in report
    assert "Check people off" not in report
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
        LastPassage.objects.bulk_create(
            LastPassage(member_id=f"n{n}", at=now, history_id=f"n{n}", device_id="IN") for n in range(300)
        )
    at = start(place, client, name="Drill")
    client.get(at)
    for rest in ("", "state/", "report/"):
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(f"{at}{rest}")
        assert answer.status_code == 200
        assert len(captured) <= 12, [each["sql"][:200] for each in captured]
    assert "0 of 303 safe" in said(client.get(at))


def test_old_roll_calls_go_with_the_log(place, begun):
    with tenant_scope(place.tenant):
        RollCall.objects.update(started_at=timezone.now() - RETENTION - timedelta(days=1))
    round_of("roll_calls_to_be_forgotten")
    with tenant_scope(place.tenant):
        assert not RollCall.objects.exists()
        assert not ListedPerson.objects.exists()


def test_the_worker_serves_this_page_alone(place, begun):
    client, at = begun
    answer = client.get(f"{at}worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert answer["Service-Worker-Allowed"] == at
    assert client.get("/t/x/roll-call/1/worker.js").status_code == 404


def test_signing_out_takes_what_rests_in_the_browser_along(place, begun):
    client, _ = begun
    assert client.post("/accounts/logout/")["Clear-Site-Data"] == '"storage"'
