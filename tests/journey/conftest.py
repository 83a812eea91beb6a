"""A house of its own with static files, and a real browser that tells on every page it opens."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from stack.supervisor import tail
from tests.support.chromium import PATIENCE, chromium
from tests.support.house import House
from tests.support.stage import Stage

# Chromium reports violations of the policy to the page; this hands them on.
_TELL = "addEventListener('securitypolicyviolation', e => told(`${e.violatedDirective}: ${e.blockedURI}`))"


@dataclass
class Complaints:
    """What the browser found wrong on our pages: on the console, in scripts, against the Content-Security-Policy."""

    site: str
    console: list[str] = field(default_factory=list)
    policy: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        context.expose_binding("told", lambda source, words: self._add(self.policy, source["page"].url, words))
        context.add_init_script(_TELL)
        context.on("console", self._heard)
        context.on("weberror", lambda fault: self._add(self.console, fault.page.url if fault.page else "", fault.error))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._add(self.console, message.page.url if message.page else "", message.text)

    def _add(self, kind: list[str], where: str, words: object) -> None:
        if where.startswith(self.site):  # the member site's pages are somebody else's
            kind.append(f"{where}: {words}")


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
def complaints(house: House) -> Complaints:
    return Complaints(house.url)


@pytest.fixture
def page(house: House, complaints: Complaints, tmp_path: Path) -> Iterator[Page]:
    with chromium() as browser:
        context = browser.new_context(
            base_url=house.url, locale="en-GB", viewport={"width": 1440, "height": 900}, accept_downloads=True
        )
        context.set_default_timeout(PATIENCE)
        complaints.watch(context)
        yield context.new_page()
        context.close()


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
