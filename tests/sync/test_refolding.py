"""Names that an earlier release folded otherwise: they are found before, while and after they are folded again."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models.expressions import RawSQL
from django.utils import timezone

from portal.domain.history import search
from portal.domain.history.models import History
from portal.domain.history.records import insert_records
from portal.domain.people import queries, refolding
from portal.domain.people.models import Group, Guest, Member, MemberSearch, Refolding
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import search_words
from portal.domain.sync import local_writes
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import find_by_guest_name
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer
from tests.sync.test_months import record

# Names and the form in which the earlier release stored them.
FORMER = {"José Álvarez": "joséálvarez", "Zoë O’Neil": "zoëo’neil", "Łukasz Żak": "łukaszżak", "Yui 〜": "yui〜"}
PLAIN = {"山田 太郎": "山田太郎", "Alice": "alice", "が": "が"}
CARD = "04A1B2C3"


@pytest.fixture
def tenant(customer: MakeCustomer) -> Tenant:
    """Return a tenant whose tables are as the earlier release left them, with the migration's rows."""
    made, now = customer().tenant, timezone.now()
    with tenant_scope(made):
        _store_members(made)
        insert_records([record(f"r{n}", now, member_name=name) for n, name in enumerate(FORMER | PLAIN)])
        for number, (name, key) in enumerate(FORMER.items()):
            hours = {"use_date_start": now, "use_date_end": now + timedelta(hours=1)}
            guest = {"guest_id": f"g{number}", "guest_name": name, "name_key": key, **hours}
            Group.objects.create(membergroup_id=f"G{number}", membergroup_name=name, name_key=key)
            Guest.objects.create(**guest)
            Visit.objects.create(**guest, stage="issued", host_name=name, host_key=key)
            _store_former_record(History.objects.get(history_id=f"r{number}"), key)
    _migrate()
    return made


def _migrate() -> None:
    """Do what the migration does to a database with rows, with the models of its time."""
    state = MigrationLoader(connection).project_state([("people", "0003_refolding")])
    import_module("portal.domain.people.migrations.0003_refolding")._fold_all_tables(state.apps, None)


def _store_members(tenant: Tenant) -> None:
    reader = MemberRowBuilder(tenant.pk)
    for number, name in enumerate(FORMER | PLAIN):
        local_writes.apply_member_write(
            tenant, f"m{number}", {"member_name": name, "member_code": f"{name}-7", "card_data": CARD}, created=True
        )
    for name, key in FORMER.items():
        row = Member.objects.get(member_name=name)
        Member.objects.filter(pk=row.pk).update(name_key=key, code_key=f"{key}-7", card_fingerprint=b"other")
        MemberSearch.objects.filter(pk=row.pk).update(pieces=reader.pieces(key, f"{key}-7"))


def _store_former_record(row: History, key: str) -> None:
    number = search._hash_function(row.tenant_id)
    pieces = [number(each) for each in ("m", "=somebody", *("t" + key[at : at + 2] for at in range(len(key) - 1)))]
    with connection.cursor() as cursor:
        search.remove_search_rows(cursor, [(row.pk, row.at)])
        search.write_search_entries(cursor, [(row.pk, row.tenant_id, row.at, key, pieces)])


def members(text: str) -> list[str]:
    return sorted(row.member_name for row in queries.search_members(queries.members(), text))


def records(text: str) -> list[str]:
    rows = search.filter_records(search.search_rows(), search.RecordFilter(words=search_words(text)))
    return sorted(row.member_name for row in search.load_records(rows[:50]))


def visits(text: str) -> list[str]:
    return sorted(row.guest_name for row in find_by_guest_name(text))


def groups(text: str) -> list[str]:
    rows = Group.objects.filter(queries.contains_folded("name_key", text))
    return sorted(rows.values_list("membergroup_name", flat=True))


FINDERS = [members, records, visits, groups]
Find = Callable[[str], list[str]]


def versions(names: Iterable[str]) -> list[str]:
    """Return the versions of members' rows, which change with each write."""
    rows = Member.objects.filter(member_name__in=names).order_by("pk")
    return list(rows.values_list(RawSQL("people_member.xmin::text", []), flat=True))


def fold_everything() -> None:
    for row in Refolding.objects.all():
        refolding.continue_refolding(row.pk)


@pytest.mark.django_db
@pytest.mark.parametrize("find", FINDERS)
def test_what_was_found_by_its_accents_before_is_found_before_and_after(tenant: Tenant, find: Find) -> None:
    with tenant_scope(tenant):
        for name in FORMER:
            assert find(name) == [name]
            assert find(name.upper()) == [name]
        assert find("álv") == ["José Álvarez"]
        fold_everything()
        for name in FORMER:
            assert find(name) == [name]


@pytest.mark.django_db
@pytest.mark.parametrize("find", FINDERS)
def test_every_list_is_searched_without_accents_after_the_work(tenant: Tenant, find: Find) -> None:
    with tenant_scope(tenant):
        fold_everything()
        assert find("jose alvarez") == ["José Álvarez"]
        assert find("zoe o'neil") == ["Zoë O’Neil"]
        assert find("LUKASZ") == ["Łukasz Żak"]
        assert find("yui～") == ["Yui 〜"]
        assert not Refolding.objects.exists(), "the work is done"


@pytest.mark.django_db
def test_codes_cards_hosts_and_guests_are_folded_too_and_plain_rows_stay(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        before = versions(PLAIN)
        fold_everything()
        assert members("lukasz zak-7") == ["Łukasz Żak"]
        assert len(queries.search_members(queries.members(), CARD.lower(), may_see_cards=True)) == len(FORMER | PLAIN)
        assert set(Guest.objects.values_list("name_key", flat=True)) >= {"josealvarez", "zoeo'neil"}
        assert set(Visit.objects.values_list("host_key", flat=True)) >= {"josealvarez", "zoeo'neil"}
        assert versions(PLAIN) == before, "they are not written"


@pytest.mark.django_db
def test_work_that_is_killed_halfway_goes_on_where_it_was(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refolding, "BATCH_SIZE", 2)
    with tenant_scope(tenant):
        work = Refolding.objects.get(table="members")
        assert refolding.fold_next_batch(work.pk)
        with transaction.atomic():
            refolding.fold_next_batch(work.pk)
            transaction.set_rollback(True)
        folded = Member.objects.filter(name_key__in=["josealvarez", "zoeo'neil", "lukaszzak"])
        assert folded.count() == 2, "the killed batch is undone"
        for name in FORMER:
            assert members(name) == [name], "found by its accents in any state"
        refolding.continue_refolding(work.pk)
        assert folded.count() == 3
        assert members("lukasz") == ["Łukasz Żak"]
        assert not Refolding.objects.filter(table="members").exists()


@pytest.mark.django_db
def test_a_step_that_takes_long_leaves_the_rest_to_the_next_one(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refolding, "BATCH_SIZE", 2)
    monkeypatch.setattr(refolding, "_STEP_SECONDS", 0)
    with tenant_scope(tenant):
        work = Refolding.objects.get(table="members")
        refolding.continue_refolding(work.pk)
        assert Refolding.objects.filter(pk=work.pk, due_at__lte=timezone.now()).exists()
        assert Member.objects.filter(name_key__in=FORMER.values()).count() == 2


@pytest.mark.django_db
def test_a_person_who_was_renamed_in_the_meantime_keeps_the_new_name(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        local_writes.apply_member_write(tenant, "m0", {"member_name": "Renée", "member_code": ""})
        fold_everything()
        assert members("renee") == ["Renée"]
        assert members("alvarez") == []
