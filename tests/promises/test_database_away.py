"""A page without a database reports this within a few seconds, with an ID that finds its lines in the log."""

import re
import time
from collections.abc import Callable

from tests.support.house import House
from tests.support.stage import Stage
from tests.support.waiting import until

SECONDS = 8


def test_pages_say_that_the_database_is_away_and_work_again(
    house: House, stage: Stage, figure: Callable[..., None]
) -> None:
    customer = stage.customer()
    with customer.browser() as browser:
        assert browser.get(customer.url("devices/")).status_code == 200
        taken, answers = [], []
        with house.database_down():
            for _ in range(4):
                began = time.monotonic()
                answers.append(browser.get(customer.url("devices/")))
                taken.append(time.monotonic() - began)
        figure("database away", "4 pages, the slowest", f"{max(taken):.1f} s", f"under {SECONDS} s")
        assert [answer.status_code for answer in answers] == [503] * 4
        assert max(taken) < SECONDS
        for answer in answers:
            assert "database cannot be reached" in answer.text
            name = re.search(r"ID: <code>([0-9a-f-]{36})</code>", answer.text)
            assert name is not None
            assert name[1] in (house.folder / "web.log").read_text()
        # Any of the web processes may answer.
        again = {"seconds": SECONDS, "saying": "the page works again"}
        until(lambda: all(browser.get(customer.url("devices/")).status_code == 200 for _ in range(8)), **again)
