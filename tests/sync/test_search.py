"""Finding members: what people type, which rows are found, and how PostgreSQL searches for them."""

from collections.abc import Iterable

import pytest
from django.db import connection as database
from django.db.models import Q, QuerySet
from django.utils import timezone

from portal.domain.people import queries
from portal.domain.people.models import Member, MemberSearch
from portal.domain.sync import local_writes
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer

PEOPLE = {
    "m1": {"member_name": "山田 太郎", "member_code": "E000123"},
    "m2": {"member_name": "ヤマダ　ハナコ", "member_code": "E000200"},
    "m3": {"member_name": "髙橋 一郎", "member_code": "Ｘ－９９"},
    "m4": {"member_name": "Alice Johnson", "member_code": "A1", "card_data": "04A1B2C3"},
    "m5": {"member_name": "田山 次郎"},
}


@pytest.fixture
def here(customer: MakeCustomer) -> Customer:
    made = customer()
    with tenant_scope(made.tenant):
        local_writes.apply_member_writes(made.tenant, PEOPLE.items(), created=True)
    return made


def ids(rows: QuerySet[Member]) -> str:
    return " ".join(sorted(row.member_id for row in rows))


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("山田", "m1"),
        ("山", "m1 m5"),
        ("やまだ", "m2"),
        ("ﾔﾏﾀﾞ", "m2"),
        ("ハナ", "m2"),
        ("山田太郎", "m1"),
        ("太郎 山田", "m1"),
        ("高橋", "m3"),
        ("ALICE", "m4"),
        ("ａｌｉｃｅ j", "m4"),
        ("E0001", "m1"),
        ("e", "m1 m2 m4"),
        ("e0", "m1 m2"),
        ("x-99", "m3"),
        ("00", ""),
        ("123", "m1"),
        ("田太", "m1"),
        ("太田", ""),
        ("%", ""),
        ("04A1B2C3", ""),
        ("   ", "m1 m2 m3 m4 m5"),
        ("山" * 300, ""),
    ],
)
def test_what_people_type_finds_whom_they_mean(here: Customer, typed: str, found: str) -> None:
    with tenant_scope(here.tenant):
        assert ids(queries.search_members(queries.members(), typed)) == found


def test_a_whole_card_number_finds_its_holder_for_those_who_may_see_it(here: Customer) -> None:
    with tenant_scope(here.tenant):
        assert ids(queries.search_members(queries.members(), "04a1b2c3", may_see_cards=True)) == "m4"
        assert ids(queries.search_members(queries.members(), "04a1b2c", may_see_cards=True)) == ""


def test_a_renamed_member_is_found_by_the_new_name_only(here: Customer) -> None:
    with tenant_scope(here.tenant):
        local_writes.apply_member_write(here.tenant, "m1", {"member_name": "鈴木 太郎"})
        assert ids(queries.search_members(queries.members(), "山田")) == ""
        assert ids(queries.search_members(queries.members(), "鈴木")) == "m1"


def test_another_tenants_members_are_not_found(here: Customer, customer: MakeCustomer) -> None:
    other = customer(name="Other")
    with tenant_scope(other.tenant):
        local_writes.apply_member_write(other.tenant, "x1", {"member_name": "山田 太郎"}, created=True)
        assert ids(queries.search_members(queries.members(), "山田")) == "x1"
    with tenant_scope(here.tenant):
        mine = set(MemberSearch.objects.get(member__member_id="m1").pieces)
    with tenant_scope(other.tenant):
        theirs = set(MemberSearch.objects.get(member__member_id="x1").pieces)
    assert not mine & theirs


def test_without_a_tenant_the_database_itself_shows_no_member(here: Customer) -> None:
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM people_member")
        assert cursor.fetchone()[0] == 0


def test_the_search_table_holds_numbers_only(here: Customer) -> None:
    columns = {field.name: field.get_internal_type() for field in MemberSearch._meta.concrete_fields}
    assert columns == {"member": "OneToOneField", "tenant": "ForeignKey", "pieces": "ArrayField"}


def valid(state: str) -> Q:
    return queries.validity_condition(queries.Validity(state), timezone.now())


def test_filters_mean_what_they_say(here: Customer) -> None:
    with tenant_scope(here.tenant):
        local_writes.apply_member_writes(
            here.tenant,
            [
                ("m1", {"use_date_end": "2020-01-01T00:00:00+09:00", "membergroup_id": "g1"}),
                ("m2", {"use_date_start": "2990-01-01T00:00:00+09:00", "qrcode": {"data": "q"}}),
                ("m3", {"use_date_end": "2990-01-01T00:00:00+09:00", "face_data": True}),
            ],
        )
        rows = queries.members()
        assert ids(rows.filter(valid("expired"))) == "m1"
        assert ids(rows.filter(valid("future"))) == "m2"
        assert ids(rows.filter(valid("valid"))) == "m3 m4 m5"
        assert ids(rows.filter(valid("never") | valid("expired"))) == "m1 m2 m4 m5"
        assert ids(queries.filter_by_credentials(rows, ["card"])) == "m4"
        assert ids(queries.filter_by_credentials(rows, ["qr", "face"])) == "m2 m3"
        assert ids(queries.filter_by_credentials(rows, ["none"])) == "m1 m5"
        assert ids(queries.filter_by_groups(rows, ["g1"])) == "m1"
        local_writes.apply_member_deletion(here.tenant, "m1")
        assert ids(Member.objects.filter(gone_at__isnull=False)) == "m1"
        assert ids(queries.members()) == "m2 m3 m4 m5"


def plan(rows: QuerySet[Member]) -> str:
    return rows.explain()


@pytest.fixture
def crowd(here: Customer, customer: MakeCustomer) -> Customer:
    """Create 30,000 members of one tenant, and 6,000 of another, in the database itself."""
    _fill(here.tenant.pk, 30_000)
    _fill(customer(name="Other").tenant.pk, 6_000)
    with database.cursor() as cursor:
        cursor.execute("SELECT people_tidy_members(true)")
    return here


def _fill(tenant_id: int, many: int) -> None:
    with tenant_scope(tenant_id), database.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO people_member (tenant_id, member_id, member_name, member_code, membergroup_id, membergroup_name,
                name_key, code_key, group_key, has_card, has_qr, has_face, use_end_key, account_type, extra)
            SELECT %s, 'n' || n, 'N' || n, 'C' || n, 'g' || n %% 50, 'G', md5(n::text), 'c' || n, 'g', true,
                n %% 9 = 0, n %% 99 = 0, 1700000000 + n * 1000, '', '{}'
            FROM generate_series(1, %s) n
            """,
            [tenant_id, many],
        )
        cursor.execute(
            """
            INSERT INTO people_membersearch (member_id, tenant_id, pieces)
            SELECT id, tenant_id, ARRAY(SELECT (hashtext(member_id || k) %% 4000)::int FROM generate_series(1, 12) k)
            FROM people_member WHERE tenant_id = %s AND member_id LIKE 'n%%'
            """,
            [tenant_id],
        )


def test_the_database_uses_its_indexes_under_row_security(crowd: Customer) -> None:
    with database.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone()[0] is False, "a superuser's plans prove nothing"
    with tenant_scope(crowd.tenant):
        for typed in ("山田", "ヤマダ", "E000123", "e0"):
            found = plan(queries.search_members(queries.members(), typed).order_by("name_key", "pk")[:51])
            assert "people_membersearch_pieces" in found, found
            assert "Seq Scan on people_membersearch" not in found, found
        for column in ("name_key", "code_key", "group_key", "use_end_key"):
            for sign in ("", "-"):
                page = queries.members().order_by(f"{sign}{column}", f"{sign}pk")[:51]
                assert "Sort" not in plan(page), (column, plan(page))
        for narrowed in narrow():
            page = plan(narrowed.order_by("name_key", "pk")[:51])
            assert "Seq Scan" not in page, page


def narrow() -> Iterable[QuerySet[Member]]:
    rows = queries.members()
    yield queries.filter_by_groups(rows, ["g7"])
    for value in queries.Credential:
        yield queries.filter_by_credentials(rows, [value])
    for value in queries.Validity:
        yield rows.filter(valid(value))
