"""Tenants without a service, for tests that need none."""

from dataclasses import dataclass

import pytest

from tenants.models import Connection, ServiceEnvironment, Tenant, User
from tenants.scope import tenant_scope
from tests.support.places import PASSWORD, signed_in, staff_of


@dataclass
class Two:
    """Tenants a and b of one environment, each with a connection and an owner."""

    environment: ServiceEnvironment
    a: Tenant
    b: Tenant
    owner_a: User
    owner_b: User

    def staff(self, role, tenant=None):
        tenant = tenant or self.a
        with tenant_scope(tenant):
            return staff_of(tenant, role)

    def platform(self, role="support"):
        number = User.objects.count()
        return User.objects.create_user(f"{role}.{number}@example.test", PASSWORD, name=role, platform_role=role)


@pytest.fixture
def make_two():
    def make() -> Two:
        environment = ServiceEnvironment.objects.create(
            name="dev", base_url="http://127.0.0.1:9", client_id="c", client_secret="secret of the client"
        )
        tenants, owners = [], []
        for slug in ("a", "b"):
            tenant = Tenant.objects.create(slug=slug, name=f"Tenant {slug}", environment=environment)
            with tenant_scope(tenant):
                Connection.objects.create(tenant=tenant, access_token=f"token of {slug}")
                owners.append(staff_of(tenant, "owner"))
            tenants.append(tenant)
        return Two(environment, *tenants, *owners)

    return make


@pytest.fixture
def two(db, make_two):
    return make_two()


@pytest.fixture
def browse():
    return signed_in


@pytest.fixture(autouse=True)
def quick_sign_in(settings):
    """Require no second factor unless a test does, and use a fast password hash."""
    settings.REQUIRE_MFA = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
