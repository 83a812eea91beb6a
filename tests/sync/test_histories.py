"""The loaded log: complete without gaps, each record once, without secrets, and its position is never lost."""

import json
from datetime import date, datetime, timedelta

import pytest
from django.utils import timezone

from accessapi.limits import JST
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.history import coverage, reading
from portal.domain.history.models import History
from portal.domain.people import queries
from portal.domain.people.models import Member
from portal.domain.sync import local_writes
from portal.domain.sync.models import MirrorState
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import Service
from tests.sync.paged_log import Log, again, known, text


def test_what_happens_at_a_door_is_read_once_with_who_and_where_and_not_what_was_shown(customer: MakeCustomer) -> None:
    here = customer(members=1, guests=0)
    here.sync()
    door = here.api("GET", "/v1/devices/passes")["devices"][0]["device_id"]
    group = here.api("GET", "/v1/membergroups")["membergroups"][0]["membergroup_id"]
    rights = {"devices_pass": {"default_mode": "allow_all"}}
    wanted = {"member_name": "Canary", "membergroup_id": group, "card_data": "CANARYCARD123456", **rights}
    member = here.api("POST", "/v1/members", json=wanted)
    shown = {"tenant_id": here.there.tenant_id, "device_id": door, "kind": "card", "value": "CANARYCARD123456"}
    here.sandbox.console("present", **shown)
    again(here)
    before = here.state(MirrorKind.HISTORIES).total
    here.sandbox.console("present", **shown)
    again(here)
    again(here)
    with tenant_scope(here.tenant):
        rows = list(History.objects.filter(member_id=member["member_id"]).order_by("-at", "-pk"))
        assert [row.device_id for row in rows] == [door, door]
        assert rows[0].at >= rows[1].at
        assert (rows[0].member_name, rows[0].category) == ("Canary", "normal")
        dump = json.dumps(list(History.objects.values()), default=str)
        assert "CANARYCARD" not in dump
        assert History.objects.count() == here.state(MirrorKind.HISTORIES).total == before + 1
        span = coverage.load_coverage()
    assert span.through == here.state(MirrorKind.HISTORIES).as_of
    assert span.known_from is not None
    assert span.through is not None
    assert span.through - span.known_from >= reading.FIRST_SPAN


def test_what_a_device_tells_late_is_found(customer: MakeCustomer) -> None:
    here = customer(members=1, guests=0)
    here.sync()
    device = here.api("GET", "/v1/devices/passes")["devices"][0]["device_id"]
    where = {"tenant_id": here.there.tenant_id, "device_id": device}
    here.sandbox.console("devices", **where, is_connected=False)
    an_hour_ago = (timezone.now() - timedelta(hours=1)).astimezone(JST).isoformat()
    here.sandbox.console("present", **where, kind="card", value="UNKNOWN", at=an_hour_ago)
    again(here)
    before = here.state(MirrorKind.HISTORIES).total
    here.sandbox.console("devices", **where, is_connected=True)
    with tenant_scope(here.tenant):
        state = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
        long_ago = (timezone.now() - timedelta(hours=2)).isoformat()
        MirrorState.objects.filter(pk=state.pk).update(
            memory={**state.memory, "late_at": {**state.memory["late_at"], "hours": long_ago}}
        )
    calls = here.calls(23)
    again(here)
    with tenant_scope(here.tenant):
        late = History.objects.filter(device_id=device, at__lt=timezone.now() - timedelta(minutes=50))
        assert late.exists()
    assert here.state(MirrorKind.HISTORIES).total > before
    assert here.calls(23) == calls + 1, "one call for what is new and what was told late"
    again(here)
    assert here.calls(23) == calls + 2
    with tenant_scope(here.tenant):
        marks = MirrorState.objects.get(kind=MirrorKind.HISTORIES).memory["late_at"]
    assert marks["hours"] > long_ago, "late records are looked for now and then, not each time"


def test_a_backlog_goes_on_where_it_stopped_and_says_how_far_it_is(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, service, here = told
    with tenant_scope(here.tenant):
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=None, memory={})
    for number in range(7):
        log.add(f"h{number}", timedelta(hours=10 - number))
    monkeypatch.setattr(reading, "SLICE_PAGES", 2)
    again(here)
    state = here.state(MirrorKind.HISTORIES)
    assert known(here) == ["h0", "h1", "h2", "h3"]
    assert state.as_of is not None
    assert timedelta(hours=7) <= timezone.now() - state.as_of < timedelta(hours=7, minutes=1)
    assert state.due_at is not None
    assert state.due_at <= timezone.now(), "there is more, and there are calls"
    log.add("h7")
    again(here)
    assert known(here) == [f"h{number}" for number in range(8)]
    cursors = [query.get("last_evaluated_key", "") for _, query in service.asked]
    assert cursors == ["", "2", "4", "6"]
    assert len({(query["since"], query["sort"], query["limit"]) for _, query in service.asked}) == 1
    assert timezone.now() - here.state(MirrorKind.HISTORIES).as_of < timedelta(minutes=1)


def test_the_first_reading_goes_back_a_week_and_the_next_to_the_last_seen(told: tuple[Log, Service, Customer]) -> None:
    log, service, here = told
    log.add("h1", timedelta(minutes=1))
    again(here)
    log.add("h2")
    service.asked.clear()
    again(here)
    since = datetime.fromisoformat(service.asked[0][1]["since"])
    assert timedelta(minutes=3) <= timezone.now() - since < timedelta(minutes=5)
    assert known(here) == ["h1", "h2"]


def test_a_list_in_another_order_is_read_to_its_end_before_it_counts(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _, here = told
    through = here.state(MirrorKind.HISTORIES).as_of
    log.unsorted = True
    for number in range(5):
        log.add(f"h{number}", timedelta(seconds=number))
    monkeypatch.setattr(reading, "SLICE_PAGES", 2)
    again(here)
    assert here.state(MirrorKind.HISTORIES).as_of == through
    again(here)
    assert here.state(MirrorKind.HISTORIES).as_of > through
    assert len(known(here)) == 5


@pytest.mark.parametrize(("fault", "reason"), [("circle", "unreadable"), ("refuse_cursors", "refused 40002")])
def test_a_place_that_leads_nowhere_is_given_up(told: tuple[Log, Service, Customer], fault: str, reason: str) -> None:
    log, service, here = told
    for number in range(4):
        log.add(f"h{number}")
    setattr(log, fault, True)
    again(here)
    assert here.state(MirrorKind.HISTORIES).error == reason
    assert known(here)[:2] == ["h0", "h1"]
    setattr(log, fault, False)
    service.asked.clear()
    again(here)
    assert (len(known(here)), here.state(MirrorKind.HISTORIES).error) == (4, "")
    assert "last_evaluated_key" not in service.asked[0][1]


def test_a_service_that_refuses_to_look_back_still_tells_what_is_new(told: tuple[Log, Service, Customer]) -> None:
    log, service, here = told
    log.refuse_until = True
    with tenant_scope(here.tenant):
        state = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
        marks = dict.fromkeys(reading.LATE_SCHEDULE, (timezone.now() - timedelta(days=2)).isoformat())
        MirrorState.objects.filter(pk=state.pk).update(memory={**state.memory, "late_at": marks})
    log.add("h1")
    again(here)
    log.add("h2")
    again(here)
    assert (known(here), here.state(MirrorKind.HISTORIES).error) == (["h1", "h2"], "")
    assert len([query for _, query in service.asked if "until" in query]) == 1, "and is not asked each time"


def test_odd_records_are_kept_and_unreadable_ones_stop_nothing(told: tuple[Log, Service, Customer]) -> None:
    log, _, here = told
    log.size = 10
    member = {"id": "m1", "name": None, "_type": 7, "data": "CANARY", "badge": "gold", "pin": "CANARY"}
    log.add("h1", status="exploded", member=member, device={"id": "d1", "units": [{"unit_no": "01"}, 5]}, colour="red")
    log.add("h2", member=["CANARY", {"data": "CANARY"}], device="somewhere", api_token="CANARY")
    log.add("h3", member={"id": "界" * 900, "data": {"seed": "CANARY"}})
    log.records += [{"datetime": text(timezone.now())}, {"history_id": "h4", "datetime": None}, 7]  # type: ignore[list-item]
    log.records = [row for row in log.records if isinstance(row, dict)]
    again(here)
    with tenant_scope(here.tenant):
        first = History.objects.get(history_id="h1")
        assert (first.status, first.member_id, first.member_name, first.member_type) == ("exploded", "m1", "", "7")
        assert (first.device_id, first.units) == ("d1", [{"unit_no": "01", "unit_name": ""}])
        assert first.extra == {"colour": "red", "member": {"badge": "gold"}}
        assert History.objects.get(history_id="h3").member_id == ""
        assert set(known(here)) == {"h1", "h2", "h3", "h4"}
        assert History.objects.get(history_id="h2").extra == {"device": "somewhere"}
        assert "CANARY" not in json.dumps(list(History.objects.values()), default=str)
    assert here.state(MirrorKind.HISTORIES).error == ""


def test_listeners_hear_of_each_new_record_once(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _, here = told
    heard: list[str] = []
    monkeypatch.setitem(events._listeners, MirrorKind.HISTORIES, [])
    events.subscribe(MirrorKind.HISTORIES, lambda tenant, histories: heard.extend(row.history_id for row in histories))
    for name in ("h1", "h2", "h3"):
        log.add(name)
    again(here)
    log.add("h4")
    again(here)
    assert heard == ["h1", "h2", "h3", "h4"]


def test_members_remember_when_the_log_told_of_them_last(
    told: tuple[Log, Service, Customer],
) -> None:
    log, _, here = told
    now = timezone.now()

    def last(name: str) -> datetime | None:
        with tenant_scope(here.tenant):
            return Member.objects.values_list("last_seen_at", flat=True).get(member_id=name)

    log.add("h1", timedelta(minutes=1), member={"id": "before"})
    with tenant_scope(here.tenant):
        History.objects.create(history_id="h0", at=now - timedelta(days=9), member_id="after")
        for name in ("before", "never"):
            local_writes.apply_member_write(here.tenant, name, {"member_name": name})
    again(here)
    with tenant_scope(here.tenant):
        local_writes.apply_member_write(here.tenant, "after", {"member_name": "after"})
        assert {row.member_id for row in queries.members_never_seen()} == {"never"}
    first = last("before")
    assert first is not None
    assert abs(now - timedelta(minutes=1) - first) < timedelta(seconds=30)
    assert last("after") == now - timedelta(days=9)
    log.add("h2", member={"id": "before"})
    log.add("h3", member={"id": "after"})
    again(here)
    assert last("before") == first, "to within a day"
    assert last("after") > now - timedelta(minutes=1)  # type: ignore[operator]


def waiting_days(here: Customer, *days: date) -> list[date]:
    with tenant_scope(here.tenant):
        return coverage.request_days(days)


def test_an_older_day_is_read_when_somebody_asks_and_joins_what_is_known(told: tuple[Log, Service, Customer]) -> None:
    log, _, here = told
    for days in (8, 9, 20):
        log.add(f"d{days}", timedelta(days=days))
    again(here)
    assert known(here) == []
    today = timezone.now().astimezone(JST).date()
    with tenant_scope(here.tenant):
        before = coverage.load_coverage()
        (gap,) = before.gaps(timezone.now() - timedelta(days=30), before.through or timezone.now())
        assert gap.kind == coverage.GapKind.UNREAD
        assert before.calls_for(2) == 2
    wanted = [today - timedelta(days=days) for days in (7, 8, 9, 20)]
    assert waiting_days(here, *wanted, today, today - timedelta(days=500)) == wanted
    assert waiting_days(here, wanted[0]) == [], "it waits already"
    again(here)
    assert set(known(here)) == {"d8", "d9", "d20"}
    with tenant_scope(here.tenant):
        after = coverage.load_coverage()
        assert after.known_from == coverage.start_of_day(wanted[2])
        assert set(after.read_days) == set(wanted)
        unread = after.gaps(timezone.now() - timedelta(days=30), after.through or timezone.now())
        assert [(gap.days[0], gap.days[-1]) for gap in unread] == [
            (today - timedelta(days=10), today - timedelta(days=19)),
            (today - timedelta(days=21), today - timedelta(days=30)),
        ]


def test_a_day_that_the_service_refuses_says_why_and_may_be_asked_for_again(
    told: tuple[Log, Service, Customer],
) -> None:
    log, _, here = told
    log.add("h1")
    again(here)
    day = timezone.now().astimezone(JST).date() - timedelta(days=30)
    log.refuse_until = True
    assert waiting_days(here, day) == [day]
    again(here)
    with tenant_scope(here.tenant):
        known_now = coverage.load_coverage()
    assert set(known_now.refused_days) == {day}
    assert known_now.waiting_days == ()
    assert known_now.error == "", "what is new is read all the same"
    log.refuse_until = False
    assert waiting_days(here, day) == [day]
    again(here)
    with tenant_scope(here.tenant):
        assert set(coverage.load_coverage().read_days) == {day}


def test_a_time_without_an_answer_is_remembered_once_it_is_over(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, service, here = told
    monkeypatch.setattr(reading, "MIN_OUTAGE", timedelta(0))
    log.add("h1")
    again(here)
    service.answer = lambda path, query: (500, {})  # type: ignore[assignment]
    again(here)
    with tenant_scope(here.tenant):
        failing = coverage.load_coverage()
    assert failing.failing_since is not None
    assert failing.outages == ()
    service.answer = log  # type: ignore[assignment]
    log.add("h2")
    again(here)
    with tenant_scope(here.tenant):
        over = coverage.load_coverage()
        ((since, until),) = over.outages
        (gap,) = over.gaps(since - timedelta(hours=1), over.through or until)
    assert (over.failing_since, since) == (None, failing.failing_since)
    assert (gap.kind, gap.read_at) == (coverage.GapKind.OUTAGE, until)
    assert known(here) == ["h1", "h2"]
