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

from portal.core.mirror import log_partitions
from portal.site.celery import app
from stack.paths import ROOT
from tenants import postgres_cache
from tests.support import chromium, flushing
from tests.support.house import House
from tests.support.mailbox import Mailbox
from tests.support.places import Place, make_place
from tests.support.sandbox import Sandbox
from tests.support.stage import Stage

# Deadlines and leases are what they are in production; only pauses that nobody is promised are shorter.
PAUSES = "0.1"
#: What long tests measured.
FIGURES = ROOT / "test-results" / "soak.txt"


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashing well takes a fifth of a second; a run signs in a thousand times."""
    if settings.configured:
        settings.PASSWORD_HASHERS = ["tests.support.hashing.QuickHasher"]


@pytest.fixture(scope="session", autouse=True)
def no_sweeps_by_chance() -> None:
    """A request in 200 sweeps what is over: the statements that a test counts would be one more."""
    postgres_cache._DELETE_ONE_IN = sys.maxsize


@pytest.fixture(autouse=True)
def no_language_of_others() -> None:
    """A test begins in no language: the last one's person may have read Japanese."""
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def pages_alone(django_test_environment: None) -> None:
    """Tests look at what a person sees: nobody asks which templates a page is made of, which are hundreds."""
    Template._render = test_utils._TestState.saved_data.template_render


@pytest.fixture(scope="session", autouse=True)
def orderly_ends() -> Iterator[None]:
    """Tables are emptied when nobody is at work on them; the browser ends with the run."""
    flushing.install()
    yield
    chromium.end()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The log's months are there, as workers have them. Tests sign in as the site does. The browser's event loop has
    connections of its own: they end before the database goes.
    """
    here = connections["default"]
    owners, here.settings_dict = here.settings_dict, settings.DATABASES["default"]
    with django_db_blocker.unblock():
        here.close()
        log_partitions.maintain_partitions()
    yield
    chromium.end()
    flushing.end()
    here.close()
    here.settings_dict = owners


@pytest.fixture
def open_tab() -> Iterator[chromium.Tabs]:
    """`open_tab(live_server.url, client, width=390)`: a page signed in as `client`; its complaints fail the test."""
    tabs = chromium.Tabs()
    yield tabs
    tabs.close()


@pytest.fixture
def open_page(open_tab: chromium.Tabs, live_server: LiveServer) -> Callable[..., Page]:
    """`open_page(client, "/t/…", width=390)`: a page of the site as `client` sees it; its complaints fail the test."""

    def make(client: Client | None = None, path: str = "", **options: Any) -> Page:
        page = open_tab(live_server.url, client, **options)
        if path:
            page.goto(path)
        return page

    return make


@pytest.fixture
def page(open_page: Callable[..., Page], desk: Any) -> Page:
    """The browser of whoever is at the test's `desk`; any complaint of it fails."""
    return open_page(desk.client)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One service for the whole run; each test takes tenants of its own."""
    with Sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def contrary() -> Iterator[Sandbox]:
    """A service that decides the other way wherever the specification is silent."""
    with Sandbox(contrary=True) as running:
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


@pytest.fixture(scope="session")
def _house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One set of real processes for the whole run, with static files where a browser looks at its pages."""
    with_browser = any({"house", "open_tab"} <= {*getattr(each, "fixturenames", ())} for each in request.session.items)
    static = "finders" if with_browser else "none"
    with House(tmp_path_factory.mktemp("house"), PORTAL_STATIC=static, PORTAL_PAUSES=PAUSES) as house:
        yield house


@pytest.fixture
def house(_house: House, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """The house, whole again; this process looks at its database and rings its bells."""
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
    """An environment of the service of its own, behind a proxy of its own."""
    with house.stage() as made:
        yield made


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """The mail server of this test's site."""
    with Mailbox() as made:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", made.server_address[1]
        yield made


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`figure("unlock at most once", "arrivals per click, most", 1, "1")` adds a line to the table."""

    def add(promise: str, what: str, reached: object, must: str) -> None:
        line = f"{promise:28} {what:52} {reached!s:>14}   must be {must}"
        print(line)
        FIGURES.parent.mkdir(exist_ok=True)
        with FIGURES.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n")

    return add
