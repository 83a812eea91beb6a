"""A real browser for tests: one for all tests of a process, with pages that are closed in an orderly way.

The driver keeps an event loop in this thread; no code of the site runs inside it. For code under a loop, Django keeps
separate connections. `end` closes those: otherwise the tests' database could not be dropped.
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

PATIENCE = 60_000  # milliseconds, because the machine may be busy
_SETTLES = 10  # seconds
# Provide a fake camera, and allow its use without a prompt.
_OPTIONS = ("--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
# Chromium reports violations of the policy to the page; this passes them to the test.
_TELL = "addEventListener('securitypolicyviolation', e => told(`${e.violatedDirective}: ${e.blockedURI}`))"
_running: list[tuple[Browser, ExitStack]] = []


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield Chromium without a window, driven from this thread. It is started once and reused."""
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
    """Close the browser, if one was started."""
    while _running:
        _running.pop()[1].close()


class Tab:
    """A page in a separate browser context. It records complaints of pages of `site`, and requests under way."""

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
        # A response whose body no script reads never fires "finished": its headers count as its end.
        self.context.on("response", lambda answer: self._under_way.discard(answer.request))
        for end in ("requestfinished", "requestfailed"):
            self.context.on(end, lambda request: self._under_way.discard(request))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complain(message.page, message.text)

    def _complain(self, page: Page | None, words: object) -> None:
        where = page.url if page else ""
        if where.startswith(self.site) and not self.is_closing:  # complaints of other sites' pages are ignored
            self.complaints.append(f"{where}: {words}")

    def sign_in(self, url: str, client: Client) -> None:
        """Use the session of the test's own client."""
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])

    def close(self) -> None:
        """Wait until requests under way have ended, then close. Complaints after that are ignored."""
        end = time.monotonic() + _SETTLES
        while self._under_way and self.context.pages and time.monotonic() < end:
            self.context.pages[0].wait_for_timeout(10)
        self.is_closing = True
        self.context.close()


class Tabs:
    """The pages of one test, which are closed together. Complaints that contain words of `excused` are ignored.

    422 is the status of a refused form: the browser complains about it, people see what to correct.
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
        """Close every page. Raises AssertionError with the pages' complaints."""
        while self._open:
            self._open.pop().close()
        found = [each for each in self._complaints if not any(words in each for words in self.excused)]
        self._complaints.clear()
        assert not found, "\n".join(found)
