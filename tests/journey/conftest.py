"""A real browser on the running site, whose pages' complaints fail the test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from stack.programs import tail
from tests.support.chromium import Tabs
from tests.support.house import House
from tests.support.stage import Stage


@pytest.fixture
def stage(house: House) -> Iterator[Stage]:
    with house.stage() as made:
        made.environment.base_url = house.sandbox.url  # the browser uses it too: no proxy in between
        made.environment.save()
        yield made


@pytest.fixture
def page(house: House, open_tab: Tabs) -> Page:
    return open_tab(house.url)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Add the current page and the site's output to the report of a failed journey."""
    report = yield
    given = getattr(item, "funcargs", {})
    if report.failed and report.when == "call" and "page" in given:
        report.sections.append(("the page", f"{given['page'].url}\n{given['page'].inner_text('body')[:3000]}"))
        for path in sorted(given["house"].folder.glob("*.log")):
            report.sections.append((path.name, tail(path, 15)[-4000:]))
    return report
