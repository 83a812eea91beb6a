"""Tenants of the portal, connected to a tenant of a sandbox: what most tests of the house begin with."""

import itertools
import uuid
from dataclasses import dataclass

from django.test import Client
from django.utils import timezone

from portal.intents.nonces import Nonce
from portal.intents.record import Asker
from tenants.models import Connection, ServiceEnvironment, Staff, Tenant, User
from tenants.scope import tenant_scope
from tests.support.effort import SOAK
from tests.support.sandbox import Sandbox, SandboxTenant

PASSWORD = "correct horse battery staple"
_numbers = itertools.count(1)


@dataclass
class Place:
    """One tenant, its connection, and its other side."""

    tenant: Tenant
    connection: Connection
    service: SandboxTenant
    sandbox: Sandbox
    owner: User

    @property
    def asker(self) -> Asker:
        return Asker(self.tenant, self.owner)

    def staff(self, role: str) -> User:
        """A new person with this role here."""
        with tenant_scope(self.tenant):
            return staff_of(self.tenant, role)

    def calls(self, operation: int | None = None) -> list[dict[str, object]]:
        return self.sandbox.calls(self.service.tenant_id, operation)

    def client(self, user: User | None = None) -> Client:
        """A browser in which this person (the owner by default) has just signed in with a password."""
        return signed_in(user or self.owner)


def staff_of(tenant: Tenant, role: str) -> User:
    user = User.objects.create_user(f"{role.replace(' ', '.')}.{next(_numbers)}@example.test", PASSWORD, name=role)
    Staff.objects.create(tenant=tenant, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    answer = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert answer.status_code == 302, answer.content
    return client


def make_place(
    sandbox: Sandbox,
    *,
    members: int = 5,
    contracts: tuple[str, ...] = ("door", "key_box", "qr", "face", "licence"),
    overrides: str = "",
    base_url: str = "",
    number: int = 1,
) -> Place:
    """A tenant of the portal whose token works at `sandbox` (or at `base_url`, for a proxy before it).

    Its people, rooms and cards follow from its `number`, the same in every run; `make soak` draws them.
    """
    name = f"place-{uuid.uuid4().hex[:10]}"
    service = sandbox.tenant(members=members, contracts=list(contracts), name=name if SOAK else f"Place {number}")
    return connected(sandbox, service, name, overrides=overrides or sandbox.overrides, base_url=base_url or sandbox.url)


def connected(sandbox: Sandbox, service: SandboxTenant, name: str, *, overrides: str, base_url: str) -> Place:
    """A tenant of the portal, connected to this tenant of a service at `base_url`."""
    environment = ServiceEnvironment.objects.create(
        name=name, base_url=base_url, client_id="c", client_secret="s", overrides=overrides
    )
    tenant = Tenant.objects.create(slug=name, name=name.title(), environment=environment)
    with tenant_scope(tenant):
        connection = Connection.objects.create(
            tenant=tenant,
            environment=environment,
            state=Connection.State.CONNECTED,
            service_tenant_id=service.tenant_id,
            access_token=service.token,
            licence_key=service.licence_key or None,
            token_generation=1,
            token_at=timezone.now(),
        )
        owner = staff_of(tenant, "owner")
    return Place(tenant, connection, service, sandbox, owner)


def fresh_nonce() -> Nonce:
    return Nonce(uuid.uuid4().hex)


__all__ = ["PASSWORD", "Place", "fresh_nonce", "make_place", "signed_in", "staff_of"]
