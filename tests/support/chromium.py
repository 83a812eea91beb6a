"""A real browser for tests: one for all tests of a process, pages that end in good order.

The driver keeps an event loop in this thread for as long; nothing of the site runs inside it. Django keeps connections
apart for code under a loop: `end` closes those, or they would hold the tests' database at its end.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

PATIENCE = 60_000  # milliseconds, for a machine that others use too
_SETTLES = 10  # seconds
# A camera that shows something. Nobody is asked for it.
_OPTIONS = ("--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
# Chromium reports violations of the policy to the page; this hands them on.
_TELL = "addEventListener('securitypolicyviolation', e => told(`${e.violatedDirective}: ${e.blockedURI}`))"
_running: list[tuple[Browser, ExitStack]] = []


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium without a window, driven from this thread: started when first asked for, the same from then on."""
    if not _running:
        _running.append(_start())
    yield _running[0][0]


def _start() -> tuple[Browser, ExitStack]:
    cleanup = ExitStack()
    driver = cleanup.enter_context(sync_playwright())
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    cleanup.callback(os.environ.pop, "DJANGO_ALLOW_ASYNC_UNSAFE")
    browser = driver.chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*_OPTIONS])
    expect.set_options(timeout=PATIENCE)
    cleanup.callback(connections.close_all)
    cleanup.callback(browser.close)
    return browser, cleanup


def end() -> None:
    """Ends the browser, if one was started."""
    while _running:
        _running.pop()[1].close()


class Tab:
    """A page in a context of its own, watched: what pages of `site` complain of, and which requests are under way."""

    def __init__(self, complaints: list[str], site: str, **options: Any) -> None:
        with chromium() as browser:
            self.context: BrowserContext = browser.new_context(**{"locale": "en-GB", "base_url": site} | options)
        self.complaints, self.site = complaints, site
        self.is_closing = False
        self._under_way: set[Request] = set()
        self._watch()
        self.page = self.context.new_page()

    def _watch(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.expose_binding("told", lambda source, words: self._complain(source["page"], words))
        self.context.add_init_script(_TELL)
        self.context.on("console", self._heard)
        self.context.on("weberror", lambda fault: self._complain(fault.page, fault.error))
        self.context.on("request", lambda request: self._under_way.add(request))
        # An answer whose body no script reads never "finishes": its head is its end.
        self.context.on("response", lambda answer: self._under_way.discard(answer.request))
        for end in ("requestfinished", "requestfailed"):
            self.context.on(end, lambda request: self._under_way.discard(request))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complain(message.page, message.text)

    def _complain(self, page: Page | None, words: object) -> None:
        where = page.url if page else ""
        if where.startswith(self.site) and not self.is_closing:  # other sites' pages are somebody else's
            self.complaints.append(f"{where}: {words}")

    def sign_in(self, url: str, client: Client) -> None:
        """Goes on with the session of the test's own client."""
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])

    def close(self) -> None:
        """Lets what is under way come to its end, then closes: what is cut off from here on is our own doing."""
        end = time.monotonic() + _SETTLES
        while self._under_way and self.context.pages and time.monotonic() < end:
            self.context.pages[0].wait_for_timeout(10)
        self.is_closing = True
        self.context.close()


class Tabs:
    """Opens pages for one test and closes them all. `excused` are words of complaints that the test brings about.

    422 is how a form is refused: the browser complains of it, people see what to correct.
    """

    def __init__(self) -> None:
        self.excused: list[str] = ["status of 422"]
        self._complaints: list[str] = []
        self._open: list[Tab] = []

    def __call__(
        self, url: str, client: Client | None = None, *, width: int = 1440, height: int = 900, **options: Any
    ) -> Page:
        seen = {"viewport": {"width": width, "height": height}, "has_touch": width < 500}
        tab = Tab(self._complaints, url, **seen | options)
        self._open.append(tab)
        if client is not None:
            tab.sign_in(url, client)
        return tab.page

    def close(self) -> None:
        """Ends every page. AssertionError with what they complained of."""
        while self._open:
            self._open.pop().close()
        found = [each for each in self._complaints if not any(words in each for words in self.excused)]
        self._complaints.clear()
        assert not found, "\n".join(found)
