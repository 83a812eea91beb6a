"""Long jobs against a real service. Tests do the workers' steps one by one, so that they can stop in between."""

import time

from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import tasks
from portal.domain.jobs.models import Job, JobState, Part

PAST = "2026-01-01T00:00:00Z"


def step(job: Job) -> None:
    """Do one round of the workers."""
    tasks.advance_job(job.pk)
    for part in Part.objects.filter(job=job, intent__due_at__isnull=False):
        intent = Intent.objects.get(pk=part.intent_id)
        if intent.state == State.QUEUED:
            send(intent)
            continue
        Intent.objects.filter(pk=intent.pk).update(due_at=PAST)
        if intent.state == State.ACCEPTED:
            tracking.poll(intent)
        elif intent.state == State.UNCERTAIN:
            tracking.reconcile(intent)


def run(job: Job, seconds: float = 60) -> Job:
    """Repeat `step` until the job has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        step(job)
        job.refresh_from_db()
        if job.state not in (JobState.RUNNING, JobState.MAPPED):
            return job
        time.sleep(0.05)
    raise AssertionError(f"still {job.state}: {[i.state for i in Intent.objects.all()]}")
