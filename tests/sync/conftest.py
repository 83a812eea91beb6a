"""A service with a test log, read by a tenant."""

from collections.abc import Iterator
from typing import Any

import pytest

from portal.domain.events import MirrorKind
from portal.domain.sync.models import MirrorState
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import Service, serving


@pytest.fixture
def told(customer: MakeCustomer) -> Iterator[tuple[Any, Service, Customer]]:
    """Return a tenant whose service has a test log, read once."""
    from tests.sync.paged_log import Log

    log = Log()
    with serving(log) as service:
        here = customer(base_url=service.url)
        here.sync()
        with tenant_scope(here.tenant):
            MirrorState.objects.exclude(kind=MirrorKind.HISTORIES).update(due_at=None)
        service.asked.clear()
        yield log, service, here
