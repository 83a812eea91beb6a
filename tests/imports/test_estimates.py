"""The estimate of an import: a facility manager reads API calls and a time that come true."""

import time
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from portal.base.ui.times import duration_estimate
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import costs, tasks
from portal.domain.jobs.models import Job, JobState, Part
from tenants.models import Connection
from tests.imports.test_running import many


def connection(desk):
    return Connection.objects.select_related("tenant__environment").get(tenant=desk.place.tenant)


def estimate(desk, members):
    return costs.cost_of_rows(connection(desk), creates=members)


def run_at_the_workers_pace(job, seconds=40):
    """Run the job's steps only when they are due."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tasks.advance_job(job.pk)
        for intent in Intent.objects.filter(target=f"import:{job.pk}", due_at__lte=timezone.now()):
            {State.QUEUED: send, State.ACCEPTED: tracking.poll}[State(intent.state)](intent)
        job.refresh_from_db()
        if job.state == JobState.DONE:
            return
        time.sleep(0.1)
    raise AssertionError(job.state)


def took(job, seconds):
    """Set how long each request of a finished job took."""
    for part in Part.objects.filter(job=job):
        Intent.objects.filter(pk=part.intent_id).update(finished_at=F("sent_at") + timedelta(seconds=seconds))


def imported_one_by_one(desk, count, seconds):
    for number in range(count):
        took(desk.imported(many(desk, 1, start=number)), seconds)


def test_the_first_import_of_300_takes_the_calls_and_the_time_that_were_estimated(desk):
    before = estimate(desk, 300)
    job = desk.started(many(desk, 300))
    run_at_the_workers_pace(job)
    made, sent = costs.count_calls_made(job), Part.objects.select_related("intent").get(job=job).intent
    assert made / 2 <= before.calls <= 2 * made
    assert duration_estimate(before.seconds) == "less than a minute"
    real = (sent.finished_at - sent.sent_at).total_seconds()
    took(job, 8)
    assert 4 <= estimate(desk, 300).seconds <= 16, f"measured 8 s instead of {real:.1f} s"


def test_the_time_of_small_requests_is_not_taken_for_the_time_of_each_member(desk):
    imported_one_by_one(desk, 6, seconds=3)
    assert estimate(desk, 1).seconds == 3
    assert duration_estimate(estimate(desk, 300).seconds) == "less than a minute"


def test_a_slow_service_is_measured_on_large_requests(desk):
    imported_one_by_one(desk, 3, seconds=4)
    job = desk.imported(many(desk, 200, start=100))
    took(job, 64)
    assert 55 <= estimate(desk, 200).seconds <= 75
    assert duration_estimate(estimate(desk, 5000).seconds) == "about 25 minutes"
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, finished_at=None)
    assert costs.remaining_cost(job, connection(desk)).seconds == 0


def test_what_people_read_is_rounded_and_short():
    words = [duration_estimate(seconds) for seconds in (0, 29, 31, 100, 3600, 7300, 36_000)]
    assert words[:2] == ["less than a minute"] * 2
    assert words[2:] == ["about 1 minute", "about 2 minutes", "about 60 minutes", "about 2 hours", "about 10 hours"]
