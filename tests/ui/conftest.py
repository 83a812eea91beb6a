"""People who view pages: platform staff at the style page, staff of two tenants."""

import pytest
from django.test import Client

from tenants.models import Connection, ServiceEnvironment, Tenant, User
from tenants.scope import tenant_scope
from tests.support.places import PASSWORD, signed_in, staff_of


@pytest.fixture
def support(db) -> Client:
    user = User.objects.create_user("mori@example.test", PASSWORD, name="Mori Ken", platform_role="support")
    return signed_in(user)


@pytest.fixture
def tenants(db) -> list[Tenant]:
    environment = ServiceEnvironment.objects.create(
        name="ui", base_url="http://127.0.0.1:9", client_id="c", client_secret="secret of the client"
    )
    made = []
    for slug, name in (("aozora", "Aozora Building"), ("minato", "港湾倉庫 株式会社")):
        tenant = Tenant.objects.create(slug=slug, name=name, environment=environment)
        with tenant_scope(tenant):
            Connection.objects.create(tenant=tenant)
        made.append(tenant)
    return made


@pytest.fixture
def person(tenants):
    """Return `person("auditor")`: a signed-in browser of a person with this role in the first tenant."""

    def make(role: str) -> Client:
        with tenant_scope(tenants[0]):
            return signed_in(staff_of(tenants[0], role))

    return make
