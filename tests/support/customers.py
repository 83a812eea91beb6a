"""Tenants of the portal that are connected to the sandbox, or to a service that answers as a test requires."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from portal.domain.events import MirrorKind
from portal.domain.sync import schedule, tasks
from portal.domain.sync.models import MirrorState
from tenants.models import Connection, ServiceEnvironment, Tenant
from tenants.scope import tenant_scope
from tests.support.sandbox import Sandbox, SandboxTenant


@dataclass
class Customer:
    """A tenant of the portal, connected to a tenant of the sandbox."""

    tenant: Tenant
    connection: Connection
    there: SandboxTenant
    sandbox: Sandbox

    def sync(self) -> None:
        """Make everything but single reads of rights due, and do what a worker does."""
        schedule.schedule_all(self.tenant)
        with tenant_scope(self.tenant):
            MirrorState.objects.filter(kind=MirrorKind.RIGHTS).update(due_at=None)
        self.work()

    def work(self) -> None:
        with tenant_scope(self.tenant):
            tasks.read_due()

    def due_now(self, kind: MirrorKind) -> None:
        with tenant_scope(self.tenant):
            MirrorState.objects.filter(kind=kind).update(due_at="2026-01-01T00:00:00Z", lease_until=None)

    def state(self, kind: MirrorKind) -> MirrorState:
        with tenant_scope(self.tenant):
            return MirrorState.objects.get(kind=kind)

    def calls(self, operation: int) -> int:
        return len(self.sandbox.calls(self.there.tenant_id, operation))

    def api(self, method: str, path: str, **more: Any) -> Any:
        answer = self.sandbox.api(method, path, token=self.there.token, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


MakeCustomer = Callable[..., Customer]


@pytest.fixture
def customer(db: None, sandbox: Sandbox) -> MakeCustomer:
    """Return a function that creates connected tenants. It takes the sandbox's arguments (members, contracts, …)."""
    environment = ServiceEnvironment.objects.create(
        name="sandbox", base_url=sandbox.url, client_id="id", client_secret="secret", overrides=sandbox.overrides
    )
    made: list[Tenant] = []

    def make(*, base_url: str = "", **wanted: Any) -> Customer:
        there = sandbox.tenant(**{"members": 0, **wanted})
        number = len(made) + 1
        within = environment
        if base_url:
            within = ServiceEnvironment.objects.create(
                name=f"other-{number}", base_url=base_url, client_id="id", client_secret="secret"
            )
        tenant = Tenant.objects.create(slug=f"tenant-{number}", name=f"Tenant {number}", environment=within)
        made.append(tenant)
        with tenant_scope(tenant):
            connection = Connection.objects.create(
                tenant=tenant, environment=within, state="connected", service_tenant_id=there.tenant_id
            )
            connection.access_token = there.token
            connection.save()
        return Customer(tenant, connection, there, sandbox)

    return make
