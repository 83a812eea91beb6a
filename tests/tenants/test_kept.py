"""Queries with cached SQL: their results are read each time, for the entered tenant only."""

from datetime import timedelta

import pytest
from django.db import DataError, NotSupportedError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.base.ui.models import ListChoice
from tenants.models import Staff, Tenant, User
from tenants.postgresql import compiled_queries
from tenants.postgresql.compiled_queries import CompiledQuery, rows_with_shared_plan
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import NoTenant, tenant_scope
from tests.support.statements import prepared

_staff = CompiledQuery[Staff](lambda user: Staff.objects.select_related("tenant").filter(user=user), user=0)
_tenant = CompiledQuery[Tenant](lambda slug: Tenant.objects.filter(slug=slug)[:1], slug="")


def test_it_finds_what_is_there_at_each_reading_in_the_entered_tenant(two):
    somebody = User.objects.create_user("somebody@example.test", "correct horse battery staple")
    for tenant, role in ((two.a, "guard"), (two.b, "owner")):
        with tenant_scope(tenant):
            assert _staff.rows(user=somebody.pk) == []
            Staff.objects.create(user=somebody, role=role)
            assert [(row.role, row.tenant.slug) for row in _staff.rows(user=somebody.pk)] == [(role, tenant.slug)]
            assert _staff.rows(user=somebody.pk + 1) == []
    with pytest.raises(NoTenant):
        _staff.rows(user=somebody.pk)


def test_texts_are_values_and_never_sql(two):
    assert [each.name for each in _tenant.rows(slug="a")] == ["Tenant a"]
    assert _tenant.rows(slug="a' OR '1'='1") == []
    assert _tenant.rows(slug="%s") == []


def test_a_session_plans_it_once_and_is_asked_by_name_and_values(two):
    kept = CompiledQuery[Tenant](
        lambda slug: Tenant.objects.filter(slug=slug).order_by("name", "pk", "slug")[:1], slug=""
    )
    before = prepared()
    with CaptureQueriesContext(connection) as asked:
        found = [kept.rows(slug=slug)[0].name for slug in ("a", "b", "a")]
    assert found == ["Tenant a", "Tenant b", "Tenant a"]
    assert len(asked) == 3
    assert all(each["sql"].startswith("EXECUTE planned_") for each in asked)
    assert len(prepared()) == len(before) + 1


def test_querysets_that_differ_in_values_alone_share_a_plan(two, monkeypatch):
    monkeypatch.setattr(compiled_queries, "_shapes", {})
    before, long_ago = prepared(), timezone.now() - timedelta(days=1)

    def named(name, since):
        return Tenant.objects.filter(name=name, created_at__gte=since).order_by("slug", "name")[:5]

    for name, slugs in (("Tenant a", ["a"]), ("Tenant b", ["b"]), ("' OR '1'='1", [])):
        assert [each.slug for each in rows_with_shared_plan(named(name, long_ago))] == slugs
    assert rows_with_shared_plan(named("Tenant a", timezone.now() + timedelta(days=1))) == []
    assert rows_with_shared_plan(named("Tenant a", long_ago).values_list("slug", "name")) == [("a", "Tenant a")]
    assert rows_with_shared_plan(Tenant.objects.filter(slug__in=[])) == []
    assert len(prepared()) == len(before) + 2


def test_numbers_that_the_driver_has_types_for_are_filled_in_too(two, monkeypatch):
    monkeypatch.setattr(compiled_queries, "_shapes", {})
    somebody = User.objects.create_user("somebody@example.test", "correct horse battery staple")
    ListChoice.objects.bulk_create(ListChoice(user=somebody, table=f"t{size}", size=size) for size in (25, 50))

    def longer(size):
        return ListChoice.objects.filter(user=somebody.pk, size__gte=size, size__lte=F("size") + size).order_by("size")

    for size, found in ((25, [25, 50]), (26, [50]), (51, [])):
        assert [each.size for each in rows_with_shared_plan(longer(size))] == found
    assert len(compiled_queries._shapes) == 1


def test_an_empty_text_stays_in_a_plan_so_that_an_index_of_what_is_not_empty_is_used(two, monkeypatch):
    monkeypatch.setattr(compiled_queries, "_shapes", {})
    for name in ("Tenant a", "Tenant b"):
        found = rows_with_shared_plan(Tenant.objects.filter(name=name).exclude(slug="").order_by("slug", "pk")[:5])
        assert [each.name for each in found] == [name]
    (planned,) = compiled_queries._shapes.values()
    assert """NOT ("tenants_tenant"."slug" = '')""" in planned.text
    assert "$2" not in planned.text


def test_a_session_keeps_so_many_plans_and_no_more(two, monkeypatch):
    monkeypatch.setattr(compiled_queries, "_shapes", {})
    monkeypatch.setattr(compiled_queries, "_MAX_SHAPES", 2)
    before = prepared()
    for most in range(1, 6):
        assert len(rows_with_shared_plan(Tenant.objects.order_by("slug", "pk", "name")[:most])) == min(most, 2)
    assert len(prepared()) == len(before) + 2


@pytest.mark.django_db
def test_a_failure_on_the_way_leaves_nobody_in_doubt_what_is_planned():
    """Check this because PREPARE survives a rollback of its transaction."""
    divided = PreparedStatement("SELECT 12 / %s, '100%%'", [99], [99])
    for divisor, result in ((0, None), (4, (3, "100%")), (0, None), (3, (4, "100%"))):
        with connection.cursor() as cursor:
            if result is None:
                with pytest.raises(DataError), transaction.atomic():
                    cursor.execute(divided.execute_text({99: divisor}))
            else:
                cursor.execute(divided.execute_text({99: divisor}))
                assert cursor.fetchone() == result
    assert divided.name in prepared()


@pytest.mark.django_db(transaction=True)
def test_a_plan_that_a_migration_has_outdated_is_made_anew():
    name = PreparedStatement("SELECT name FROM planned_once WHERE name = %s", ["any"], ["any"])
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE planned_once AS SELECT 'one'::varchar(5) AS name")
        for length in (9, 20):
            cursor.execute(name.execute_text({"any": "one"}))
            assert cursor.fetchall() == [("one",)]
            cursor.execute(f"ALTER TABLE planned_once ALTER name TYPE varchar({length})")
        with pytest.raises(NotSupportedError), transaction.atomic():
            cursor.execute(name.execute_text({"any": "one"}))
        cursor.execute(name.execute_text({"any": "one"}))
        assert cursor.fetchall() == [("one",)]
        cursor.execute("DROP TABLE planned_once")
