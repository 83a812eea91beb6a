"""A tenant for the tests of intents, on the run's one server."""

from collections.abc import Iterator

import pytest

from tenants.scope import tenant_scope
from tests.support.places import Place


@pytest.fixture
def here(place: Place) -> Iterator[Place]:
    """Yield a tenant inside its scope."""
    with tenant_scope(place.tenant):
        yield place
