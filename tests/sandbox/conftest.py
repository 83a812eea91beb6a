"""A tenant for the tests of the sandbox, on the run's one server."""

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.sandbox_building import House


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and 25 members."""
    return sandbox.one_like(members=25)


@pytest.fixture
def house(sandbox: Sandbox) -> House:
    """Return a tenant with every contract and two members, whose commands and keys take no time."""
    tenant = sandbox.one_like(members=2)
    sandbox.settings(tenant.tenant_id, device_seconds=0, door_open_seconds=4, limited=False)
    return House(sandbox, tenant)
