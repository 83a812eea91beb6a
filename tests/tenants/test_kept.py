"""Queries whose SQL is made once: what they find is read each time, and of the entered tenant alone."""

import pytest

from tenants.kept import Kept
from tenants.models import Staff, Tenant, User
from tenants.scope import NoTenant, tenant_scope

_staff = Kept[Staff](lambda user: Staff.objects.select_related("tenant").filter(user=user), user=0)
_tenant = Kept[Tenant](lambda slug: Tenant.objects.filter(slug=slug)[:1], slug="")


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
