"""Managers are safe without a tenant: nothing is read then, and nothing is ever written to another one."""

import threading

import pytest
from django.db import IntegrityError, transaction

from tenants.models import Connection, Invitation, Staff, Tenant, User, current_tenant
from tenants.scope import (
    NoTenant,
    WrongTenant,
    across_tenants,
    current_tenant_id,
    tenant_scope,
)
from tests.support.databases import as_owner

READS = {
    "all": lambda rows: list(rows.all()),
    "exists": lambda rows: rows.exists(),
    "count": lambda rows: rows.count(),
    "first": lambda rows: rows.first(),
    "get": lambda rows: rows.get(pk=1),
    "filter": lambda rows: rows.filter(pk=1),
    "none": lambda rows: rows.none(),
    "aggregate": lambda rows: rows.aggregate(),
    "in_bulk": lambda rows: rows.in_bulk([1]),
    "iterator": lambda rows: list(rows.iterator()),
    "update": lambda rows: rows.update(role="owner"),
    "delete": lambda rows: rows.all().delete(),
    "get_or_create": lambda rows: rows.get_or_create(user_id=1),
    "update_or_create": lambda rows: rows.update_or_create(user_id=1),
    "bulk_create": lambda rows: rows.bulk_create([Staff(user_id=1, role="owner")]),
    "create": lambda rows: rows.create(user_id=1, role="owner"),
    "raw_sql_order": lambda rows: rows.order_by("pk").last(),
}


@pytest.mark.parametrize("name", READS)
def test_without_a_tenant_everything_raises(two, name):
    with pytest.raises(NoTenant):
        READS[name](Staff.objects)


def test_all_tenants_are_read_only_across_and_only_by_the_loud_name(two):
    with pytest.raises(NoTenant):
        Staff.objects_across_tenants.count()
    with tenant_scope(two.a), pytest.raises(NoTenant):
        Staff.objects_across_tenants.count()
    with across_tenants("a test"):
        assert Staff.objects_across_tenants.count() == 2
        with pytest.raises(NoTenant):
            Staff.objects.count()


def test_across_tenants_needs_a_reason():
    with pytest.raises(ValueError, match="reason"), across_tenants(" "):
        pass


def test_a_tenant_sees_its_own_rows_only(two):
    with tenant_scope(two.a):
        assert [row.user for row in Staff.objects.select_related("user")] == [two.owner_a]
        foreign = Staff.objects.filter(user=two.owner_b)
        assert not foreign.exists()
        assert foreign.update(role="guard") == 0
        assert foreign.delete()[0] == 0


@pytest.mark.parametrize("manager", ["objects", "reachable_objects"])
@pytest.mark.django_db(transaction=True)
def test_managers_name_the_tenant_also_where_the_database_would_not(make_two, manager):
    """Check without row security, which would hide a mistake."""
    two = make_two()
    rows = getattr(Staff, manager)
    with as_owner() as owner, tenant_scope(two.a):
        owner.execute("ALTER TABLE tenants_staff DISABLE ROW LEVEL SECURITY")
        try:
            assert [row.user_id for row in rows.all()] == [two.owner_a.pk]
            assert rows.filter(user=two.owner_b).delete()[0] == 0
            assert two.b.staff_set.count() == 0
        finally:
            owner.execute("ALTER TABLE tenants_staff ENABLE ROW LEVEL SECURITY")


def test_related_managers_are_scoped(two):
    with tenant_scope(two.a):
        assert two.owner_b.staff_set.count() == 0
        assert two.b.staff_set.count() == 0
        assert two.owner_a.staff_set.count() == 1
        with pytest.raises(Connection.DoesNotExist):
            _ = Tenant.objects.get(slug="b").connection
    with pytest.raises(NoTenant):
        two.owner_a.staff_set.exists()


def test_saving_another_tenants_row_is_refused(two):
    with tenant_scope(two.b):
        foreign = Staff.objects.get()
    with tenant_scope(two.a):
        foreign.role = "guard"
        for write in (foreign.save, foreign.delete, foreign.refresh_from_db):
            with pytest.raises(WrongTenant):
                write()
        with pytest.raises(WrongTenant):
            Staff(tenant=two.b, user=two.owner_a, role="owner").save()
        with pytest.raises(WrongTenant):
            Staff.objects.create(tenant=two.b, user=two.owner_a, role="owner")
    with pytest.raises(NoTenant):
        foreign.save()
    with tenant_scope(two.b):
        assert Staff.objects.get().role == "owner"


def test_bulk_writes_to_another_tenant_are_refused(two):
    with tenant_scope(two.b):
        foreign = Staff.objects.get()
    with tenant_scope(two.a):
        own = Staff.objects.get()
        with pytest.raises(WrongTenant):
            Staff.objects.bulk_create([Staff(user=two.owner_b, role="owner"), Staff(tenant=two.b, user=two.owner_a)])
        with pytest.raises(WrongTenant):
            Staff.objects.bulk_update([own, foreign], ["role"])
        with pytest.raises(WrongTenant):
            Staff.objects.bulk_update([own], ["tenant"])
        with pytest.raises(WrongTenant):
            Staff.objects.update(tenant=two.b)
        assert Staff.objects.count() == 1


def test_a_row_pretending_to_be_ours_does_not_take_over_a_foreign_key(two):
    with tenant_scope(two.b):
        foreign = Staff.objects.get()
    foreign.tenant_id = two.a.pk
    with tenant_scope(two.a), pytest.raises(IntegrityError), transaction.atomic():
        foreign.save()


def test_new_rows_take_the_entered_tenant(two):
    with tenant_scope(two.a):
        person = User.objects.create_user("new@example.test")
        (row,) = Staff.objects.bulk_create([Staff(user=person, role="guard")])
        assert row.tenant_id == two.a.pk


def test_entering_another_tenant_from_inside_is_refused(two):
    with tenant_scope(two.a):
        with tenant_scope(two.a.pk):
            assert current_tenant() == two.a
        with pytest.raises(WrongTenant), tenant_scope(two.b):
            pass
        assert current_tenant_id() == two.a.pk
        with across_tenants("a test"), tenant_scope(two.b):
            assert Staff.objects.get().user_id == two.owner_b.pk
        assert Staff.objects.get().user_id == two.owner_a.pk
    with pytest.raises(NoTenant):
        current_tenant_id()


def test_another_thread_starts_without_a_tenant(two):
    seen = []

    def look():
        try:
            current_tenant_id()
        except NoTenant:
            seen.append("none")

    with tenant_scope(two.a):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == ["none"]


def test_an_unsaved_tenant_cannot_be_entered(two):
    with pytest.raises(NoTenant), tenant_scope(type(two.a)(slug="x")):
        pass


def test_deleting_a_person_across_tenants_reaches_every_row(two):
    with across_tenants("a test"):
        two.owner_a.delete()
        assert not Staff.objects_across_tenants.filter(user=two.owner_a.pk).exists()
        assert Invitation.objects_across_tenants.count() == 0
