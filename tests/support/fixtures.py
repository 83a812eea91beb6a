"""Fixtures that many folders of tests share."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import client
from django.utils import translation

from tests.support import chromium, flushing
from tests.support.places import Place, make_place
from tests.support.sandbox import Sandbox


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashing well takes a fifth of a second; a run signs in a thousand times."""
    if settings.configured:
        settings.PASSWORD_HASHERS = ["tests.support.hashing.QuickHasher"]


@pytest.fixture(autouse=True)
def no_language_of_others() -> None:
    """A test begins in no language: the last one's person may have read Japanese."""
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def pages_alone() -> None:
    """Tests look at what a person sees: the client copies no contexts, of which a page has hundreds."""
    client.store_rendered_templates = lambda *_args, **_more: None


@pytest.fixture(scope="session", autouse=True)
def orderly_ends() -> Iterator[None]:
    """Tables are emptied when nobody is at work on them; the browser ends with the run."""
    flushing.install()
    yield
    chromium.end()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The browser's event loop has connections of its own: they end before the database goes."""
    yield
    chromium.end()


@pytest.fixture
def open_tab() -> Iterator[chromium.Tabs]:
    """`open_tab(live_server.url, client, width=390)`: a page signed in as `client`; its complaints fail the test."""
    tabs = chromium.Tabs()
    yield tabs
    tabs.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One service for the whole run; each test takes tenants of its own."""
    with Sandbox() as running:
        yield running


@pytest.fixture
def make(sandbox: Sandbox, db: None) -> Callable[..., Place]:
    """`make(members=3)`: a connected tenant, another one each time."""
    numbers = itertools.count(1)
    return lambda **wanted: make_place(sandbox, number=next(numbers), alone=False, **wanted)


@pytest.fixture
def place(make: Callable[..., Place]) -> Place:
    """A tenant with every contract and five members."""
    return make()
