"""An exported log has every record once, even if workers are killed while it is written."""

import csv
import io
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.utils import timezone

from portal.base.storage.models import StoredFile
from portal.domain.history import partitions
from portal.domain.history.models import History
from portal.domain.jobs.models import ExportPart, Job, JobState
from tests.support.browser import Browser
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

ID = 16  # the column of history_id
_RECORDS = """
INSERT INTO history_history (tenant_id, history_id, at, status, category, content, member_id, member_name, member_type,
    member_label, member_attribute, device_id, device_name, device_module, units, extra, text_key, notified)
SELECT %s, 'h-' || n, now() - n %% 100000 * interval '10 s', 'occur', 'normal', '入室 ' || n, 'm' || n %% 100,
    '山田 花子', 'member', '', '', 'd1', '正面玄関', 'pass', '[]', '{}', '', false
FROM generate_series(1, %s) n
"""
_FOUND = """
INSERT INTO history_historysearch (id, tenant_id, at, pieces) SELECT id, tenant_id, at, '{}' FROM history_history
WHERE tenant_id = %s
"""


def with_records(customer: Customer, count: int) -> None:
    """Create so many records within the last twelve days; from 100,000 on, several have the same time."""
    with customer.scope():
        partitions.ensure_partitions(timezone.now() - timedelta(days=days) for days in range(13))
    customer.house.sql(_RECORDS, customer.tenant.pk, count)
    customer.house.sql(_FOUND, customer.tenant.pk)


def asked(customer: Customer, browser: Browser, kind: str = "csv") -> Job:
    """Request an export on the page, and close the browser afterwards."""
    form = browser.form(customer.url("logs/exports/new/"), having="kind")
    assert browser.post(form.action, form.values | {"kind": kind}).status_code == 302
    with customer.scope():
        return Job.objects.get()


def is_at_end(customer: Customer, job: Job) -> bool:
    with customer.scope():
        return Job.objects.get(pk=job.pk).state == JobState.DONE


def ended(customer: Customer, job: Job, seconds: float = 120) -> None:
    until(lambda: is_at_end(customer, job), seconds, saying="the export ends", pause=0.25)


def parts(customer: Customer) -> int:
    with customer.scope():
        return ExportPart.objects.count()


def killed(customer: Customer, job: Job) -> None:
    """Kill the workers. Make the job due, so that new ones do not wait for the lease of the old."""
    kill(customer.house)
    replaced(customer, job)


def kill(house: House) -> None:
    for worker in (house.urgent, house.steady):
        worker.kill()


def replaced(customer: Customer, job: Job) -> None:
    customer.house.mend()
    customer.house.sql("UPDATE jobs_job SET due_at = now() WHERE id = %s AND state = 'running'", job.pk)


def wrong(customer: Customer, browser: Browser, job: Job) -> dict[str, int]:
    """Count rows that the file lacks, has twice, or has without a record."""
    answer = browser.get(customer.url(f"logs/exports/{job.pk}/file/"))
    assert answer.status_code == 200
    lines = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))[1:-1]
    there = Counter(line[ID] for line in lines)
    with customer.scope():
        known = set(History.objects.values_list("history_id", flat=True))
    return {
        "missing": len(known - there.keys()),
        "doubled": sum(times > 1 for times in there.values()),
        "of nothing": len(there.keys() - known),
    }


CLEAN = {"missing": 0, "doubled": 0, "of nothing": 0}


@contextmanager
def no_part_is_written(house: House) -> Iterator[None]:
    """Make workers that want to write a part wait, with the data that they have read, during the block."""
    with psycopg.connect(house.owner_url) as direct:
        direct.execute("LOCK TABLE jobs_exportpart IN SHARE MODE")
        yield


@pytest.mark.parametrize("step", ["a part is read", "a part is written"])
def test_a_killed_worker_loses_and_doubles_no_row(house: House, stage: Stage, step: str) -> None:
    customer = stage.customer()
    with_records(customer, 12_000)
    with customer.browser("facility manager") as browser:
        if step == "a part is read":
            with no_part_is_written(house):
                job = asked(customer, browser)
                until(house.waiting_for_locks, saying="a part waits to be written")
                kill(house)
            replaced(customer, job)
        else:
            job = asked(customer, browser)
            until(lambda: parts(customer), saying="a part is written")
            killed(customer, job)
        ended(customer, job)
        assert wrong(customer, browser, job) == CLEAN
    with customer.scope():
        assert StoredFile.objects.filter(delete_at=None).count() == ExportPart.objects.count()


@pytest.mark.quick
def test_a_lost_broker_and_a_bell_that_rings_five_times_change_nothing(house: House, stage: Stage) -> None:
    customer = stage.customer()
    with_records(customer, 12_000)
    with customer.browser("auditor") as browser:
        job = asked(customer, browser)
        house.kill_broker()
        house.restart_broker()
        house.deliver("portal.processes.jobs", customer.tenant.pk, job.pk, queue="bulk", times=5)
        ended(customer, job)
        assert wrong(customer, browser, job) == CLEAN


@pytest.mark.soak
def test_a_million_records_through_kills(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer, letters, began = stage.customer(), random.Random(10), time.monotonic()
    with_records(customer, 1_000_000)
    manager = customer.staff("facility manager")
    with customer.browser(manager) as browser:
        job, kills = asked(customer, browser), 0
    while not is_at_end(customer, job):
        time.sleep(letters.uniform(2, 20))
        if kills < 8:
            killed(customer, job)
            kills += 1
    # A file needs a new proof of identity after so long.
    with customer.browser(manager) as browser:
        found = wrong(customer, browser, job)
    took = f"{time.monotonic() - began:.0f} s"
    figure("log export", f"1,000,000 rows, {kills} kills ({took}): wrong rows", sum(found.values()), "0")
    assert found == CLEAN
