"""Files: the largest number of rows takes little memory. (Hostile files: tests/imports/test_hostile_files.py.)"""

import random
from collections.abc import Callable

import pytest

from portal.base.files import file_limits
from portal.domain.jobs.models import Job, JobState
from tests.support.browser import Browser, gist, upload
from tests.support.house import House
from tests.support.memory import Memory
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

MOST = 100 * 1024  # kilobytes


@pytest.mark.soak
def test_a_hundred_thousand_rows(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer = stage.customer()
    letters = random.Random(8)
    lines = [f"会員{n},S{n:06d},無い,{letters.randbytes(8).hex()}" for n in range(file_limits.MAX_ROWS + 1)]
    head = "氏名,社員番号,グループ,カード番号"
    with customer.browser("facility manager") as browser:
        memory = Memory(house.web, house.steady)
        whole = "\n".join([head, *lines[:-1]]).encode()
        _check(browser, customer, whole)
        _looked_at(customer, 600)
        path = _check(browser, customer, "\n".join([head, *lines]).encode())
        until(lambda: "more than 100,000 rows" in gist(browser.get(path), 8000), 600, saying="the refusal")
        figure("files", "100,000 rows looked at: memory", f"{memory.growth // 1024} MB", "under 100 MB")
        assert memory.growth < MOST


def _check(browser: Browser, customer: Customer, content: bytes) -> str:
    """Upload a file and have its rows checked, with the columns as they were recognised. Return the job's path."""
    path = upload(browser, customer.url("imports/new/"), "file", "a.csv", content).url.path
    form = browser.form(path, "columns")
    assert browser.post(form.action, form.values).status_code == 302
    return path


def _looked_at(customer: Customer, seconds: float = 60) -> None:
    """Wait until a worker has read the whole file."""
    with customer.scope():
        waits = (JobState.DRAFT, JobState.MAPPED)
        until(lambda: Job.objects.exclude(state__in=waits).exists(), seconds, saying="the dry run")
        assert Job.objects.get().state == JobState.CHECKED, Job.objects.get().problem
