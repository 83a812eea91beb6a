"""Lists are kept no longer than the visits of their guests: then rows and the file's name are gone, and counts stay."""

from datetime import datetime, timedelta

from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from portal.core.timers.clock import ClockTime
from portal.expected.models import ExpectedList, ExpectedRow, ListState

# A list that nobody started is of no use a week later.
_UNSTARTED = timedelta(days=7)


def forget(before: datetime) -> None:
    """Erase the lists of the tenant in scope all of whose guests left, or were looked at, before that moment."""
    lists = ExpectedList.objects.annotate(ends=Coalesce(F("last_end"), F("created_at")))
    over = lists.filter(ends__lt=before, created_at__lt=before, erased_at=None).exclude(state=ListState.RUNNING)
    ids = list(over.values_list("pk", flat=True))
    ExpectedRow.objects.filter(job__in=ids).update(content=None, problems=[], marks=[])
    ExpectedList.objects.filter(pk__in=ids).update(erased_at=ClockTime(), name="")


def drop_unstarted() -> None:
    """Delete what was uploaded long ago in the tenant in scope and never started."""
    old = timezone.now() - _UNSTARTED
    ExpectedList.objects.filter(state=ListState.CHECKED, created_at__lt=old).delete()


def register() -> None:
    from portal.today import erasing

    erasing.also(forget)
