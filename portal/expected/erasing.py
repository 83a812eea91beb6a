"""Lists are kept no longer than the visits of their guests: then rows and the file's name are gone, and counts stay."""

from datetime import datetime, timedelta

from django.db.models.functions import Coalesce
from django.utils import timezone

from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import JobState
from portal.core.timers.clock import ClockTime
from portal.expected.queries import KIND

# A list that nobody started is of no use a week later.
_UNSTARTED = timedelta(days=7)


def forget(before: datetime) -> None:
    """Erase the lists of the tenant in scope all of whose guests left, or were looked at, before that moment."""
    kept = Job.objects.filter(kind=KIND, erased_at=None).exclude(state=JobState.RUNNING)
    over = kept.annotate(ends=Coalesce("last_end", "created_at")).filter(ends__lt=before, created_at__lt=before)
    ids = list(over.values_list("pk", flat=True))
    Row.objects.filter(job__in=ids).update(content=None, problems=[], notes=[])
    Job.objects.filter(pk__in=ids).update(erased_at=ClockTime(), title="", headings=None)


def drop_unstarted() -> None:
    """Delete what was uploaded long ago in the tenant in scope and never started."""
    old = timezone.now() - _UNSTARTED
    Job.objects.filter(kind=KIND, state=JobState.CHECKED, created_at__lt=old).delete()
