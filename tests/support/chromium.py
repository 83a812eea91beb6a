"""A real browser for tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections
from playwright.sync_api import Browser, sync_playwright


@contextmanager
def chromium(*options: str) -> Iterator[Browser]:
    """Chromium without a window, driven from this thread; `options` are its own.

    The driver keeps an event loop in this thread for as long; nothing of the site runs inside it. Django keeps
    connections apart for code under a loop: those are closed at the end, or the next browser would find them, and with
    them a database that may be gone.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = driver.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox", *options])
        try:
            yield browser
        finally:
            browser.close()
            connections.close_all()
