"""Pages of the log are the same with each query plan: walking along an index, or gathering all matches."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.base.ui.tables import keyset
from portal.domain.history import search, search_queryset
from portal.domain.history.records import insert_records
from portal.domain.history.search import RecordFilter
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer
from tests.sync.test_months import record

pytestmark = pytest.mark.django_db(transaction=True)

COUNT, SIZE = 300, 7
ORDERS = (keyset.SortOrder("at", is_descending=True, key="id"), keyset.SortOrder("at", key="id"))
WANTED = {
    "all": RecordFilter(),
    "frequent": RecordFilter(categories=["normal"]),
    "now and then": RecordFilter(device_ids=["d3", "d4"]),
    "rare": RecordFilter(member_id="p5"),
    "only long ago": RecordFilter(words=["水没"]),
    "lately and long ago": RecordFilter(statuses=["restore"]),
    "nothing": RecordFilter(words=["停電"]),
    "long word": RecordFilter(words=["カードで"]),
    "one door": RecordFilter(device_ids=["d3"]),
    "one door, two characters": RecordFilter(device_ids=["d3"], words=["入室"]),
    "one door, rare characters": RecordFilter(device_ids=["d3"], words=["水没"]),
    "one person at one door": RecordFilter(device_ids=["d5"], member_id="p5", statuses=["occur"]),
    "somebody at one door": RecordFilter(device_ids=["d3"], categories=["warning", "normal"], has_person=True),
    "both": RecordFilter(categories=["normal"], device_ids=["d3"]),
}


@pytest.fixture
def tenant(customer: MakeCustomer, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """Return a tenant with a log over three months, in which some records have the same moment."""
    monkeypatch.setattr(search_queryset, "_SAMPLE_SIZE", 40)
    made, now = customer(members=1, guests=0).tenant, timezone.now()
    with tenant_scope(made):
        insert_records([record(f"h{number}", at(now, number), **said(number)) for number in range(COUNT)])
    return made


def at(now: datetime, number: int) -> datetime:
    return now - timedelta(hours=7 * (number // 3))


def said(number: int) -> dict[str, str]:
    word = "水没を検知しました" if number > COUNT - 10 else "カードで入室しました"
    category = "warning" if number % 4 == 0 else "normal"
    status = "occur" if 10 < number < COUNT - 40 else "restore"
    return {
        "content": word,
        "category": category,
        "status": status,
        "device_id": f"d{number % 20}",
        "member_id": f"p{number % 150}",
    }


def plainly(wanted: RecordFilter, order: keyset.SortOrder) -> list[int]:
    """Return the keys of all matches, read with one query."""
    found = search.filter_records(search.search_rows(), wanted).values_list("id", flat=True)
    return list(found.order_by(order.text, "-id" if order.is_descending else "id").iterator())


def found(wanted: RecordFilter) -> Any:
    return search.filter_records(search.search_rows(), wanted)


def test_every_page_forwards_and_backwards_holds_what_is_wanted_in_its_order(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        for (name, wanted), order in itertools.product(WANTED.items(), ORDERS):
            pages = [keyset.load_page(found(wanted), order, SIZE)]
            while pages[-1].next:
                pages.append(keyset.load_page(found(wanted), order, SIZE, after=pages[-1].next))
            assert [row.id for page in pages for row in page.rows] == plainly(wanted, order), name
            for earlier, page in itertools.pairwise(pages):
                back = keyset.load_page(found(wanted), order, SIZE, before=str(page.previous))
                assert [row.id for row in back.rows] == [row.id for row in earlier.rows], name


def test_filters_that_are_chosen_one_after_the_other_find_what_both_want(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        chosen = search.filter_records(
            found(RecordFilter(device_ids=["d3", "d4"])), RecordFilter(categories=["warning"], has_person=True)
        )
        chosen = search.filter_records(chosen, RecordFilter(words=["入室"]))
        wanted = [n for n in range(COUNT) if n % 20 in (3, 4) and n % 4 == 0 and n <= COUNT - 10]
        assert [row.history_id for row in search.load_records(chosen[:COUNT])] == [f"h{n}" for n in wanted]


def test_a_count_up_to_a_bound_is_true(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        for (name, wanted), bound in itertools.product(WANTED.items(), (1, 10, COUNT + 1)):
            counted = found(wanted).order_by().values("id")[:bound].count()
            assert counted == min(len(plainly(wanted, ORDERS[0])), bound), name


def test_a_record_of_another_age_keeps_nothing_from_being_found(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        insert_records([record("lost", datetime(1970, 1, 1, tzinfo=UTC), member_id="p999"),
                        record("new", timezone.now(), member_id="p999")])  # fmt: skip
        assert [row.history_id for row in search.load_records(found(RecordFilter(member_id="p999"))[:SIZE])] == [
            "new",
            "lost",
        ]


def test_another_tenants_records_are_not_met(tenant: Tenant, customer: MakeCustomer) -> None:
    with tenant_scope(customer(members=1, guests=0).tenant):
        for wanted in WANTED.values():
            assert list(found(wanted)[:SIZE]) == []


def test_what_is_frequent_costs_one_statement_and_what_is_rare_one_more(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        for name, most in (
            ("frequent", 1),
            ("one door", 1),
            ("one door, two characters", 1),
            ("rare", 1),
            ("nothing", 2),
        ):
            with CaptureQueriesContext(connection) as asked:
                list(found(WANTED[name])[:SIZE])
            assert len(asked) <= most, name
