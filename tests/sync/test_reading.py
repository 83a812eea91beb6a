"""Single reads: shared, stored, and correct about deleted things; and loading rights in the background with them."""

import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.db import connections
from django.utils import timezone

from accessapi.errors import NotFound, ServerFault
from portal.base.timers.clock import database_now
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.people.models import Group, Member
from portal.domain.places.models import KeyBox, PassController
from portal.domain.sync import freshness, local_writes, single_reads
from portal.domain.sync.models import MirrorState, SharedReading
from tenants.scope import tenant_scope
from tests.support.call_budgets import an_hour_of
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import serving
from tests.support.waiting import until


def read(here: Customer, member_id: str) -> Any:
    with tenant_scope(here.tenant):
        return single_reads.read_member(here.connection, member_id, Priority.PEOPLE)


def row(here: Customer, member_id: str) -> Member:
    with tenant_scope(here.tenant):
        return Member.objects.get(member_id=member_id)


@pytest.fixture
def here(customer: MakeCustomer) -> Customer:
    made = customer(members=3)
    made.sync()
    return made


@pytest.fixture
def member_id(here: Customer) -> str:
    with tenant_scope(here.tenant):
        return str(Member.objects.order_by("pk").values_list("member_id", flat=True)[0])


def test_a_single_read_tells_permissions_and_keeps_the_list_unchanged(here: Customer, member_id: str) -> None:
    before = row(here, member_id)
    assert (before.rights, before.rights_read_at) == (None, None)
    resource = read(here, member_id)
    after = row(here, member_id)
    assert after.rights is not None
    assert after.rights["devices_pass"] == resource.devices_pass
    assert after.rights_read_at is not None
    assert bytes(after.digest) == bytes(before.digest), "the next list has nothing to tell"
    here.sync()
    assert row(here, member_id).rights == after.rights


def test_a_member_that_the_service_does_not_know_is_marked_gone(here: Customer, member_id: str) -> None:
    here.api("DELETE", f"/v1/members/{member_id}")
    with pytest.raises(NotFound):
        read(here, member_id)
    assert row(here, member_id).gone_at is not None
    assert here.state(MirrorKind.MEMBERS).total == 2
    here.sync()
    with tenant_scope(here.tenant):
        assert not Member.objects.filter(member_id=member_id).exists()


def test_what_was_written_is_shown_before_any_reading(here: Customer, member_id: str) -> None:
    with tenant_scope(here.tenant):
        local_writes.apply_group_write(here.tenant, "g-new", "新しい部署")
        local_writes.apply_member_write(
            here.tenant,
            member_id,
            {"membergroup_id": "g-new", "card_data": "NEWCARD", "qrcode": None, "use_date_end": None},
        )
        local_writes.apply_group_write(here.tenant, "g-new", "旧部署")
    changed = row(here, member_id)
    assert (changed.membergroup_name, changed.card_data, changed.has_card) == ("旧部署", "NEWCARD", True)
    assert (changed.qrcode, changed.has_qr, changed.use_date_end) == (None, False, None)
    assert changed.rights is None, "an update does not tell the permissions it left alone"


def test_a_created_member_has_the_permissions_that_the_service_gives(here: Customer) -> None:
    given = {"default_mode": "allow_all"}
    with tenant_scope(here.tenant):
        local_writes.apply_member_write(here.tenant, "new", {"member_name": "New", "devices_pass": given}, created=True)
    rights = row(here, "new").rights
    assert rights is not None
    assert (rights["devices_pass"], rights["keys_pass"]) == (given, {"default_mode": "deny_all"})
    assert here.state(MirrorKind.MEMBERS).total == 4


def test_a_thousand_written_members_cost_a_handful_of_queries(
    here: Customer, django_assert_max_num_queries: Any
) -> None:
    bodies = [(f"b{n}", {"member_name": f"B {n}", "membergroup_id": "g"}) for n in range(1000)]
    with tenant_scope(here.tenant), django_assert_max_num_queries(24):
        local_writes.apply_member_writes(here.tenant, bodies, created=True)
    assert here.state(MirrorKind.MEMBERS).total == 1003


def test_a_read_that_was_asked_before_our_write_does_not_undo_it(here: Customer, member_id: str) -> None:
    with tenant_scope(here.tenant):
        asked = database_now()
        local_writes.apply_member_write(here.tenant, member_id, {"member_name": "Ours"})
        local_writes.apply_member_read(here.tenant, {"member_id": member_id, "member_name": "Before"}, asked)
    assert row(here, member_id).member_name == "Ours"


def test_the_status_of_a_door_and_a_key_box_is_kept_verbatim(here: Customer) -> None:
    with tenant_scope(here.tenant):
        door, box = PassController.objects.first(), KeyBox.objects.first()
        assert door is not None
        assert box is not None
        assert (door.status, door.status_as_of, door.lock, door.errors) == ({}, None, "", [])
        answer = single_reads.read_door_status(here.connection, door.device_id, Priority.PEOPLE)
        single_reads.read_key_box_status(here.connection, box.key_device_id, Priority.PEOPLE)
        door.refresh_from_db()
        box.refresh_from_db()
    assert answer.door_status is not None
    assert (door.lock, door.power_status) == (answer.door_status.lock, answer.power_status)
    assert door.status_as_of is not None
    assert box.status_as_of is not None
    here.sync()
    with tenant_scope(here.tenant):
        assert PassController.objects.get(pk=door.pk).status == door.status


def test_a_status_with_unknown_values_is_shown_as_it_came(customer: MakeCustomer) -> None:
    odd = {"door_status": {"door": "ajar", "lock": 7, "errors": "smoke"}, "power_status": None, "mood": "good"}
    with serving(lambda path, query: (200, odd)) as service:
        here = customer(base_url=service.url)
        with tenant_scope(here.tenant):
            PassController.objects.create(device_id="d")
            single_reads.read_door_status(here.connection, "d", Priority.PEOPLE)
            door = PassController.objects.get()
    assert door.status == odd
    assert (door.door, door.lock, door.errors, door.power_status) == ("ajar", "7", ["smoke"], "")


def test_the_trickle_fills_permissions_in_and_leaves_calls_to_the_lists(customer: MakeCustomer) -> None:
    here = customer(members=12)
    here.sync()
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    known = freshness.freshness_of(here.tenant)
    assert (known.rights_known, known.rights_total) == (10, 12)
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    assert freshness.freshness_of(here.tenant).rights_known == 12
    assert here.calls(5) == 12
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    assert here.calls(5) == 12, "what was read a moment ago is not read again"


def test_the_trickle_stops_before_the_lists_share(customer: MakeCustomer) -> None:
    here = customer(members=30)
    an_hour_of(60, here.sandbox, here.connection)
    here.sync()
    for _ in range(4):
        here.due_now(MirrorKind.RIGHTS)
        here.work()
    assert here.calls(5) == 5, (
        "a quarter of 60 is for sync, three quarters of that before the trickle stops, 7 went to lists"
    )


def test_those_whom_somebody_looks_at_come_first(customer: MakeCustomer) -> None:
    here = customer(members=15)
    here.sync()
    with tenant_scope(here.tenant):
        ids = list(Member.objects.order_by("-pk").values_list("member_id", flat=True)[:2])
        looked_at = Member.objects.filter(member_id__in=[*ids, "nobody"]).order_by("-pk")
        single_reads.prioritise_members(looked_at, 10)
        single_reads.prioritise_members(looked_at, 1)
    assert here.state(MirrorKind.RIGHTS).due_at <= timezone.now()
    here.work()
    assert all(row(here, member_id).rights for member_id in ids)
    assert here.calls(5) == 10
    with tenant_scope(here.tenant):
        single_reads.prioritise_members(looked_at, 10)
    assert here.state(MirrorKind.RIGHTS).due_at > timezone.now(), "what is known needs no call"


def test_the_trickle_stops_while_others_need_the_hour_and_people_go_on(customer: MakeCustomer) -> None:
    here = customer(members=30)
    here.sync()
    with tenant_scope(here.tenant):
        ids = list(Member.objects.values_list("member_id", flat=True))
        an_hour_of(40, here.sandbox, here.connection)
        for member_id in ids[:15]:
            single_reads.read_member(here.connection, member_id, Priority.PEOPLE)
    here.due_now(MirrorKind.RIGHTS)
    here.work()
    assert here.calls(5) == 15, "more than half of the hour is used: nothing is left over"
    for member_id in ids[15:20]:
        assert read(here, member_id).member_id == member_id


@pytest.mark.django_db(transaction=True)
def test_a_person_never_waits_for_the_trickle(transactional_db: None, customer: MakeCustomer) -> None:
    trickling, answered = threading.Event(), threading.Event()

    def service_of_one_slow_member(path: str, query: dict[str, str]) -> tuple[int, Any]:
        member_id = path.rpartition("/")[2]
        if member_id == "slow":
            trickling.set()
            answered.wait(60)
        return 200, {"member_id": member_id, "member_name": member_id, "devices_pass": {"default_mode": "allow_all"}}

    with serving(service_of_one_slow_member) as service:
        here = customer(base_url=service.url)
        with tenant_scope(here.tenant):
            Member.objects.create(member_id="slow", member_name="slow", name_key="slow")
            MirrorState.objects.create(kind=MirrorKind.MEMBERS, as_of=timezone.now())
            MirrorState.objects.create(kind=MirrorKind.RIGHTS, due_at=timezone.now())
        trickle = threading.Thread(target=_and_close, args=(here.work,))
        trickle.start()
        assert trickling.wait(60)
        try:
            assert read(here, "asked for").devices_pass is not None
            assert not answered.is_set()
            assert row(here, "slow").rights is None, "the trickle's own call is still on its way"
        finally:
            answered.set()
            trickle.join()
    assert row(here, "slow").rights is not None


def _and_close(work: Any) -> None:
    try:
        work()
    finally:
        connections.close_all()


def test_without_calls_a_read_says_when_to_come_back(here: Customer, member_id: str) -> None:
    an_hour_of(5, here.sandbox, here.connection)
    with pytest.raises(BudgetExhausted) as refused:
        read(here, member_id)
    assert refused.value.retry_at is not None


@pytest.mark.django_db(transaction=True)
def test_people_who_ask_the_same_thing_share_one_call(transactional_db: None, customer: MakeCustomer) -> None:
    def slow(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if len(service.asked) == 1:
            until(lambda: _awaiting() == 5)
        return 200, {"member_id": "m1", "member_name": "Shared", "qrcode": {"data": "SHAREDQR"}}

    with serving(slow) as service:
        here = customer(base_url=service.url)
        answers = _together(6, lambda: read(here, "m1"))
        assert len(service.asked) == 1
        assert [answer.qrcode.data for answer in answers] == ["SHAREDQR"] * 6
        read(here, "m1")
        assert len(service.asked) == 2
    with tenant_scope(here.tenant), database.cursor() as cursor:
        assert SharedReading.objects.count() == 1
        cursor.execute("SELECT string_agg(t::text, '') FROM sync_sharedreading t")
        assert b"SHAREDQR".hex() not in cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_whoever_needs_proof_takes_no_answer_whose_reading_began_before(
    transactional_db: None, customer: MakeCustomer
) -> None:
    under_way, proven = threading.Event(), threading.Event()

    def first_is_slow(path: str, query: dict[str, str]) -> tuple[int, Any]:
        number = len(service.asked)
        if number == 1:
            under_way.set()
            proven.wait(60)
        return 200, {"member_id": "m1", "member_name": f"Answer {number}"}

    with serving(first_is_slow) as service:
        here = customer(base_url=service.url)
        page = threading.Thread(target=_and_close, args=(lambda: read(here, "m1"),))
        page.start()
        assert under_way.wait(60)
        asking = threading.Timer(3, proven.set)  # the thread that joins the call waits for it, and fails below
        asking.start()
        with tenant_scope(here.tenant):
            found = single_reads.read_member(here.connection, "m1", Priority.PEOPLE, is_unshared=True)
        asking.cancel()
        proven.set()
        page.join()
    assert found.member_name == "Answer 2"


@pytest.mark.django_db(transaction=True)
def test_a_failed_call_is_nobody_elses_answer(transactional_db: None, customer: MakeCustomer) -> None:
    def failing_first(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if len(service.asked) == 1:
            until(lambda: _awaiting() == 1)
        return (500, {}) if len(service.asked) == 1 else (200, {"member_id": "m1", "member_name": "Second"})

    with serving(failing_first) as service:
        here = customer(base_url=service.url)
        answers = _together(2, lambda: read(here, "m1"))
    assert sorted(type(answer).__name__ for answer in answers) == ["Member", ServerFault.__name__]


def _awaiting() -> int:
    """Return the number of processes that last looked for another one's answer."""
    try:
        with database.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND query LIKE 'SELECT %%sync_sharedreading%%'"
            )
            return int(cursor.fetchone()[0])
    finally:
        database.close()


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_reader_whose_process_died(transactional_db: None, customer: MakeCustomer) -> None:
    with serving(lambda path, query: (200, {"member_id": "m1", "member_name": "Read anew"})) as service:
        here = customer(base_url=service.url)
        read(here, "m1")
        with tenant_scope(here.tenant):
            # The state after a process has claimed the reading and was killed: no process holds its lock any more.
            claimed_until = database_now() + timedelta(seconds=40)
            SharedReading.objects.update(token=uuid.uuid4(), answer=None, answered_at=None, until=claimed_until)
            assert read(here, "m1").member_name == "Read anew"
            assert database_now() < claimed_until


def _together(many: int, call: Any) -> list[Any]:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_group_created_here_is_listed_at_once(here: Customer) -> None:
    with tenant_scope(here.tenant):
        many = Group.objects.count()
        local_writes.apply_group_write(here.tenant, "g-new", "New")
        assert Group.objects.count() == many + 1
    assert here.state(MirrorKind.GROUPS).total == many + 1
