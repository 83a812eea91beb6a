"""Fixtures that many folders of tests share."""

import time
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.core.management import CommandError
from django.db import OperationalError
from django.test import TransactionTestCase

from tests.support.places import Place, make_place
from tests.support.sandbox import Sandbox


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashing well takes a fifth of a second; a run signs in a thousand times."""
    if settings.configured:
        settings.PASSWORD_HASHERS = ["tests.support.hashing.QuickHasher"]


@pytest.fixture(scope="session", autouse=True)
def patient_flush() -> None:
    """A page that was closed may have left a request under way in the test's own server. Emptying the tables then meets
    its locks, and one of the two has to give way: if it is the emptying, it comes again.
    """
    flush = TransactionTestCase._fixture_teardown

    def patiently(self: TransactionTestCase) -> None:
        for pause in (0.2, 0.5, 1.0, 2.0):
            try:
                return flush(self)
            except CommandError as error:
                if not isinstance(error.__cause__, OperationalError):
                    raise
                time.sleep(pause)
        return flush(self)

    TransactionTestCase._fixture_teardown = patiently


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
