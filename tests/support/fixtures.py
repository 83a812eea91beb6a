"""Fixtures that many folders of tests share."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings

from tests.support.places import Place, make_place
from tests.support.sandbox import Sandbox


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashing well takes a fifth of a second; a run signs in a thousand times."""
    if settings.configured:
        settings.PASSWORD_HASHERS = ["tests.support.hashing.QuickHasher"]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One service for the whole run; each test takes tenants of its own."""
    with Sandbox() as running:
        yield running


@pytest.fixture
def make(sandbox: Sandbox, db: None) -> Callable[..., Place]:
    """`make(members=3)`: a connected tenant."""
    return lambda **wanted: make_place(sandbox, **wanted)


@pytest.fixture
def place(make: Callable[..., Place]) -> Place:
    """A tenant with every contract and five members."""
    return make()
