"""Spans of the log that are read again because a device reported records late.

Each span takes one or two calls, since its known records fit on one page. The spans that are still to be read are
stored in the state of the log.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.db import transaction

from accessapi.limits import HISTORY_RETENTION_DAYS, PAGE_MAX
from portal.base.timers.clock import database_now
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import History, MirrorState

# This many known records leave room on a page for the missing ones.
MAX_KNOWN_ON_PAGE = int(PAGE_MAX * 0.9)
_SECOND = timedelta(seconds=1)

LateSpan = tuple[datetime, datetime]


def request_late_spans(state: MirrorState, moments: Iterable[datetime]) -> None:
    """Request another reading of the log at these moments, as far as it was read already.

    Replaces earlier requests. The caller has locked the state's row.
    """
    if state.as_of is None:
        return
    oldest = database_now() - timedelta(days=HISTORY_RETENTION_DAYS)
    late = sorted({moment.replace(microsecond=0) for moment in moments if oldest < moment < state.as_of})
    wanted = [[each.isoformat() for each in span] for span in _late_spans(late)] if late else []
    if wanted != state.late:
        MirrorState.objects.filter(pk=state.pk).update(late=wanted)
        state.late = wanted


def waiting_late_spans() -> list[LateSpan]:
    """Return the spans that wait to be read, the oldest first."""
    found = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).values_list("late", flat=True).first() or []
    return [(datetime.fromisoformat(since), datetime.fromisoformat(until)) for since, until in found]


def remove_late_spans(spans: Sequence[LateSpan]) -> None:
    """Remove spans that were read from the waiting ones."""
    read = [[each.isoformat() for each in span] for span in spans]
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().get(kind=MirrorKind.HISTORIES)
        left = [span for span in state.late if span not in read]
        MirrorState.objects.filter(pk=state.pk).update(late=left)


def fits_on_page(since: datetime) -> bool:
    """Return whether the known records since then fit on one page and leave room for more."""
    return History.objects.filter(at__gte=since)[: MAX_KNOWN_ON_PAGE + 1].count() <= MAX_KNOWN_ON_PAGE


def _late_spans(moments: Sequence[datetime]) -> list[LateSpan]:
    """Return spans that cover these moments, each at most one page, split where the moments are farthest apart."""
    first, last = moments[0], moments[-1]
    if (
        first == last
        or History.objects.filter(at__gte=first, at__lt=last + _SECOND)[: MAX_KNOWN_ON_PAGE + 1].count()
        <= MAX_KNOWN_ON_PAGE
    ):
        return [(first, last)]
    gaps = [after - before for before, after in pairwise(moments)]
    cut = gaps.index(max(gaps)) + 1
    return [*_late_spans(moments[:cut]), *_late_spans(moments[cut:])]
