"""Fixtures that many folders of tests share."""

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.template import Template
from django.test import Client
from django.test import utils as test_utils
from django.utils import translation
from kombu import pools
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from portal.base.timers.celery_app import app
from portal.domain.history import partitions
from stack.paths import ROOT
from tenants.postgresql import cache
from tests.support import chromium, flushing
from tests.support.house import House
from tests.support.mailbox import Mailbox
from tests.support.places import Place, make_place
from tests.support.sandbox import Sandbox
from tests.support.stage import Stage

# Deadlines and leases are those of production. Only pauses without a promised length are shorter.
PAUSES = "0.1"
#: The measurements of long tests.
FIGURES = ROOT / "test-results" / "soak.txt"


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Use a quick password hasher: a good hash takes a fifth of a second, and a run signs in a thousand times."""
    if settings.configured:
        settings.PASSWORD_HASHERS = ["tests.support.hashing.QuickHasher"]


@pytest.fixture(scope="session", autouse=True)
def no_sweeps_by_chance() -> None:
    """Never clean up the cache at random: that statement would change the number of statements that a test counts."""
    cache._DELETE_ONE_IN = sys.maxsize


@pytest.fixture(autouse=True)
def no_language_of_others() -> None:
    """Begin each test without a language: the previous test may have used Japanese."""
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def pages_alone(django_test_environment: None) -> None:
    """Do not record the templates of each page. No test uses them, and a page has hundreds."""
    Template._render = test_utils._TestState.saved_data.template_render


@pytest.fixture(scope="session", autouse=True)
def orderly_ends() -> Iterator[None]:
    """Empty tables only when no thread uses them. Close the browser at the end of the run."""
    flushing.install()
    yield
    chromium.end()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Create the log's partitions, as workers do, and sign in to the database as the site does.

    The browser's event loop has separate connections. They are closed before the database is dropped.
    """
    here = connections["default"]
    owners, here.settings_dict = here.settings_dict, settings.DATABASES["default"]
    with django_db_blocker.unblock():
        here.close()
        partitions.maintain_partitions()
    yield
    chromium.end()
    flushing.end()
    here.close()
    here.settings_dict = owners


@pytest.fixture
def open_tab() -> Iterator[chromium.Tabs]:
    """Yield a function that opens a signed-in page: `open_tab(live_server.url, client, width=390)`.

    Complaints of the page fail the test.
    """
    tabs = chromium.Tabs()
    yield tabs
    tabs.close()


@pytest.fixture
def open_page(open_tab: chromium.Tabs, live_server: LiveServer) -> Callable[..., Page]:
    """Return a function that opens a page of the site: `open_page(client, "/t/…", width=390)`.

    Complaints of the page fail the test.
    """

    def make(client: Client | None = None, path: str = "", **options: Any) -> Page:
        page = open_tab(live_server.url, client, **options)
        if path:
            page.goto(path)
        return page

    return make


@pytest.fixture
def page(open_page: Callable[..., Page], desk: Any) -> Page:
    """Return the page in the browser of the person at the test's `desk`. Any complaint of the page fails the test."""
    return open_page(desk.client)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Yield one service for the whole run; each test uses separate tenants."""
    with Sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def contrary() -> Iterator[Sandbox]:
    """Yield a service that makes the opposite choice wherever the specification leaves one."""
    with Sandbox(contrary=True) as running:
        yield running


@pytest.fixture
def make(sandbox: Sandbox, db: None) -> Callable[..., Place]:
    """Return a function that makes another connected tenant each time: `make(members=3)`."""
    numbers = itertools.count(1)
    return lambda **wanted: make_place(sandbox, number=next(numbers), alone=False, **wanted)


@pytest.fixture
def place(make: Callable[..., Place]) -> Place:
    """Return a tenant with every contract and five members."""
    return make()


@pytest.fixture
def one(place: Place) -> Place:
    """Return the test's tenant. Some files furnish it."""
    return place


@pytest.fixture
def manager(one: Place) -> Client:
    """Return the browser of a facility manager."""
    return one.client(one.staff("facility manager"))


@pytest.fixture
def colleague(one: Place) -> Client:
    """Return the browser of another facility manager."""
    return one.client(one.staff("facility manager"))


@pytest.fixture(scope="session")
def _house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Yield one set of real processes for the whole run, with static files when a browser opens its pages."""
    with_browser = any({"house", "open_tab"} <= {*getattr(each, "fixturenames", ())} for each in request.session.items)
    static = "finders" if with_browser else "none"
    with House(tmp_path_factory.mktemp("house"), PORTAL_STATIC=static, PORTAL_PAUSES=PAUSES) as house:
        yield house


@pytest.fixture
def house(_house: House, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Yield the running site, repaired after the last test. This process uses its database and its broker."""
    monkeypatch.setenv("CELERY_BROKER_URL", _house.redis_url)
    _forget_broker()
    with django_db_blocker.unblock(), _house.database():
        _house.mend()
        yield _house
    _forget_broker()


def _forget_broker() -> None:
    pools.reset()
    app._pool = app.amqp._producer_pool = None


@pytest.fixture
def stage(house: House) -> Iterator[Stage]:
    """Yield a separate environment of the service behind its own proxy."""
    with house.stage() as made:
        yield made


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """Yield the mail server of this test's site."""
    with Mailbox() as made:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", made.server_address[1]
        yield made


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return a function that adds a line to the table of results.

    For example `figure("unlock at most once", "arrivals per click, most", 1, "1")`.
    """

    def add(promise: str, what: str, reached: object, must: str) -> None:
        line = f"{promise:28} {what:52} {reached!s:>14}   must be {must}"
        print(line)
        FIGURES.parent.mkdir(exist_ok=True)
        with FIGURES.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n")

    return add
