"""The log's calls: it is read before lists and rights, once for a burst, and pages show a wait for calls."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.base.ui.times import local
from portal.domain.budget import ledger
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history import coverage, gaps, reading
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from tenants.scope import tenant_scope
from tests.support.customers import Customer
from tests.support.odd_service import Service
from tests.sync.paged_log import Log, again, an_hour_of, known


def test_a_backlog_that_nobody_waits_for_leaves_half_of_the_hour_and_says_that_it_waits(
    told: tuple[Log, Service, Customer],
) -> None:
    log, service, here = told
    for number in range(200):
        log.add(f"h{number:03}")
    an_hour_of(here, 100)
    again(here)
    again(here)
    assert len(service.asked) == 42, "half of 100, of which the first reading of everything used 8"
    state = here.state(MirrorKind.HISTORIES)
    assert state.due_at is not None
    assert state.due_at > timezone.now() + timedelta(seconds=60)
    with tenant_scope(here.tenant):
        known = coverage.load_coverage()
        (said,) = gaps.gap_notices(known, None, timezone.now())[:1]
        assert said.text.startswith("Not updated since ")
        assert f"Next try at {local(known.next_at):%H:%M}." in said.text  # type: ignore[arg-type]
    again(here)
    assert len(service.asked) == 43, "what is new is looked at all the same, one page each time"


def test_a_backlog_that_somebody_waits_for_is_read_with_all_calls_but_those_kept_for_doors_and_people(
    told: tuple[Log, Service, Customer],
) -> None:
    log, service, here = told
    for number in range(200):
        log.add(f"h{number:03}")
    an_hour_of(here, 100)
    with tenant_scope(here.tenant):
        MirrorState.objects.update(as_of=timezone.now() - timedelta(hours=1))
    assert schedule.request_reading(here.tenant, MirrorKind.HISTORIES, by=here.tenant)
    for _ in range(4):
        here.work()
    state = here.state(MirrorKind.HISTORIES)
    assert len(service.asked) == 75 - 8
    assert (state.error, state.awaited) == ("calls_used", True)


def test_the_log_goes_on_where_lists_and_rights_have_used_their_part(told: tuple[Log, Service, Customer]) -> None:
    log, _service, here = told
    an_hour_of(here, 100)
    operation = here.tenant.environment.catalogue.find("list_members")
    with tenant_scope(here.tenant):
        while ledger.read_gauge(here.connection, operation.call_class).has_room_for(Priority.SYNC):
            ledger.count_call(here.connection, operation, Priority.SYNC)
    log.add("h1")
    again(here)
    assert known(here) == ["h1"]


def test_a_burst_is_read_once_and_a_part_of_a_page_of_it_again(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, service, here = told
    log.size = 10
    monkeypatch.setattr(reading, "OVERLAP_RECORDS", 5)
    for number in range(100):
        log.add(f"h{number:03}", timedelta(seconds=40 - number // 4))
    again(here)
    assert (len(known(here)), len(service.asked)) == (100, 10)
    log.add("new")
    for readings in (11, 12, 13):
        again(here)
        assert (len(known(here)), len(service.asked)) == (101, readings)


def test_the_last_second_of_a_burst_is_read_again_until_it_is_over(
    told: tuple[Log, Service, Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _, here = told
    log.size = 10
    monkeypatch.setattr(reading, "OVERLAP_RECORDS", 5)
    for number in range(30):
        log.add(f"h{number:02}")
    again(here)
    log.records.append({**log.records[0], "history_id": "later in this second"})
    again(here)
    assert "later in this second" in known(here)


def test_the_log_is_read_before_the_lists_once_it_was_read(told: tuple[Log, Service, Customer]) -> None:
    _log, service, here = told
    here.sync()
    assert service.asked[0][0] == "/v1/histories"
    with tenant_scope(here.tenant):
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=None, memory={})
    service.asked.clear()
    here.sync()
    assert service.asked[-1][0] == "/v1/histories"
