"""The rows that a swap reads, and its result for a list that names a member twice."""

from typing import Any

import pytest
from django.db import connection as database
from django.db import transaction

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.people.models import Member, MemberSearch
from portal.domain.sync import local_writes, long_lists, swapping
from portal.domain.sync.models import SyncRun
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer


def listed(number: int, **more: Any) -> dict[str, Any]:
    return {"member_id": f"m{number:05}", "member_name": f"佐藤 {number}", "card_data": f"CARD{number:06}", **more}


def swapped(tenant: Tenant, *pages: list[dict[str, Any]]) -> swapping.SwapResult:
    """Stage these pages as a reading does, and return the result of the swap."""
    with tenant_scope(tenant), transaction.atomic():
        run = SyncRun.objects.create(kind=MirrorKind.MEMBERS, started_at=database_now())
        for number, page in enumerate(pages):
            long_lists._save_page(run, len(page), swapping.stage_members(run, page), str(number + 1), "")
        done = swapping.swap_members(run)
        SyncRun.objects.all().delete()
        return done


class Plans:
    """Collects PostgreSQL's plan for each statement that joins, at the moment it runs."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if "mirror_incoming" in str(sql) and str(sql).lstrip().startswith(("INSERT", "UPDATE", "WITH")):
            with database.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {sql}", params)
                self.seen.append("\n".join(line for (line,) in cursor.fetchall()))
        return execute(sql, params, many, context)


@pytest.fixture
def tenant(customer: MakeCustomer) -> Tenant:
    return customer(members=0).tenant


def test_the_first_list_is_taken_over_without_looking_at_every_row_for_every_other(customer: MakeCustomer) -> None:
    page = [listed(number) for number in range(300)]
    swapped(customer(members=0).tenant, page)
    newcomer, plans = customer(members=0).tenant, Plans()
    with transaction.atomic(), database.cursor() as cursor:
        # The statistics cover only other tenants, so PostgreSQL expects almost no rows of a new one.
        cursor.execute("SELECT people_tidy_members(true)")
        with database.execute_wrapper(plans):
            assert swapped(newcomer, page).changed == len(page)
    assert len(plans.seen) == 3
    assert not [plan for plan in plans.seen if "Nested Loop" in plan]


def test_a_list_without_news_changes_nothing_and_keeps_everybody(tenant: Tenant) -> None:
    page = [listed(number) for number in range(20)]
    swapped(tenant, page)
    assert swapped(tenant, page) == swapping.SwapResult(total=20, changed=0, removed=0)


def test_of_a_member_listed_twice_the_last_counts_also_when_it_is_as_known(tenant: Tenant) -> None:
    known = listed(1)
    swapped(tenant, [known])
    assert swapped(tenant, [listed(1, member_name="佐藤 旧")], [known]).changed == 0
    swapped(tenant, [known], [listed(1, member_name="佐藤 新")])
    with tenant_scope(tenant):
        assert Member.objects.get().member_name == "佐藤 新"


def test_what_was_written_here_after_a_page_was_read_stands_against_what_the_page_said(tenant: Tenant) -> None:
    swapped(tenant, [listed(1)])
    with tenant_scope(tenant), transaction.atomic():
        run = SyncRun.objects.create(kind=MirrorKind.MEMBERS, started_at=database_now())
        page = [listed(1, member_name="佐藤 頁")]
        long_lists._save_page(run, 1, swapping.stage_members(run, page), "1", "")
        local_writes.apply_member_write(tenant, "m00001", {"member_name": "佐藤 手元"})
        assert swapping.swap_members(run).changed == 0
        assert Member.objects.get().member_name == "佐藤 手元"


def test_whoever_is_listed_no_more_goes_with_what_they_were_found_by(tenant: Tenant) -> None:
    swapped(tenant, [listed(1), listed(2)])
    assert swapped(tenant, [listed(2)]) == swapping.SwapResult(total=1, changed=0, removed=1)
    with tenant_scope(tenant):
        assert MemberSearch.objects.filter(tenant=tenant).count() == 1


def test_a_card_that_two_have_is_marked_in_whichever_list_the_second_comes(tenant: Tenant) -> None:
    swapped(tenant, [listed(1)])
    swapped(tenant, [listed(1), listed(2, card_data="CARD000001")])
    with tenant_scope(tenant):
        assert Member.objects.filter(shares_card=True).count() == 2
    swapped(tenant, [listed(1), listed(2)])
    with tenant_scope(tenant):
        assert not Member.objects.filter(shares_card=True).exists()
