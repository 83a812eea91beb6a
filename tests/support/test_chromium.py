"""Pages of tests are closed only after their requests have ended."""

import threading

import pytest

from tests.support.odd_service import serving
from tests.support.waiting import until


def test_a_page_is_closed_when_its_requests_are_answered(open_tab):
    answer = threading.Event()

    def answering(path, _query):
        if path == "/slow":
            threading.Timer(0.5, answer.set).start()
            answer.wait()
        return 200, {}

    with serving(answering) as service:
        page = open_tab(service.url)
        page.goto("/")
        page.evaluate("void fetch('/slow')")
        until(lambda: ("/slow", {}) in service.asked)
        open_tab.close()
        assert answer.is_set()


def test_what_a_page_complains_of_fails_its_test(open_tab):
    with serving(lambda _path, _query: (200, {})) as service:
        page = open_tab(service.url)
        page.goto("/")
        page.evaluate("console.error('a complaint')")
        with page.expect_event("pageerror"):
            page.evaluate("void Promise.reject(new Error('another'))")
        with pytest.raises(AssertionError, match=r"a complaint(.|\n)*another"):
            open_tab.close()
