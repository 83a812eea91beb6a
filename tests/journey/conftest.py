"""A house of its own with static files, and a real browser that tells on every page it opens."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from stack.supervisor import tail
from tests.support.chromium import Tabs
from tests.support.house import House
from tests.support.stage import Stage


@pytest.fixture(scope="session")
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Everything running, static files included."""
    # Who is there is asked again sooner than the journey takes: at the door.
    settings = {"PORTAL_STATIC": "finders", "PORTAL_REAUTHENTICATION_SECONDS": "12"}
    with House(tmp_path_factory.mktemp("house"), **settings) as house:
        yield house


@pytest.fixture
def house(_house: House, django_db_blocker) -> Iterator[House]:
    """The house; this process looks at its database."""
    with django_db_blocker.unblock(), _house.database():
        yield _house


@pytest.fixture
def stage(house: House) -> Iterator[Stage]:
    with house.stage() as made:
        made.environment.base_url = house.sandbox.url  # the browser goes there, too: no proxy between
        made.environment.save()
        yield made


@pytest.fixture
def page(house: House, open_tab: Tabs) -> Page:
    return open_tab(house.url)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """A journey that broke off shows where it stood and what the house said."""
    report = yield
    given = getattr(item, "funcargs", {})
    if report.failed and report.when == "call" and "page" in given:
        report.sections.append(("the page", f"{given['page'].url}\n{given['page'].inner_text('body')[:3000]}"))
        for path in sorted(given["house"].folder.glob("*.log")):
            report.sections.append((path.name, tail(path, 15)[-4000:]))
    return report
