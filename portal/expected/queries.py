"""Counts and rows of a list."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from portal.core.intents.models import Intent
from portal.core.intents.states import NOT_APPLIED, UNDER_WAY, Reason, State
from portal.expected.models import ExpectedList, ExpectedRow, ListState, RowState, Verdict

_ASKED = Q(state=RowState.ASKED)
_FAILED = _ASKED & Q(visit__intent__state__in=NOT_APPLIED)
_STATES = {
    "ready": Q(verdict=Verdict.READY),
    "doubles": Q(verdict=Verdict.DOUBLE),
    "refused": Q(verdict=Verdict.REFUSED),
    "issued": _ASKED & Q(visit__intent__state=State.SUCCEEDED),
    "failed": _FAILED,
    "uncertain": _ASKED & Q(visit__intent__state=State.UNCERTAIN),
    "waiting": Q(state=RowState.PENDING) | (_ASKED & Q(visit__intent__state__in=UNDER_WAY)),
    "left_out": Q(state=RowState.LEFT_OUT),
}


@dataclass(frozen=True)
class Counts:
    """How many rows are in which state."""

    rows: int
    ready: int
    doubles: int
    refused: int
    issued: int
    failed: int
    uncertain: int
    waiting: int
    left_out: int

    @property
    def settled(self) -> int:
        return self.issued + self.failed + self.uncertain

    @property
    def to_send(self) -> int:
        return self.settled + self.waiting


def get_list(list_id: int) -> ExpectedList:
    """The list of this number in the tenant in scope; else 404."""
    rows = ExpectedList.objects.select_related("by", "tenant")
    found = rows.filter(pk=list_id).first() if list_id < 2**63 else None
    if found is None:
        raise Http404
    return found


def counts(job: ExpectedList) -> Counts:
    told = {name: Count("pk", filter=which) for name, which in _STATES.items()}
    return Counts(**ExpectedRow.objects.filter(job=job).aggregate(rows=Count("pk"), **told))


def rows(job: ExpectedList, show: str = "") -> QuerySet[ExpectedRow]:
    """The rows of a tab; unknown names show all."""
    found = ExpectedRow.objects.filter(job=job).select_related("visit__intent")
    return found.filter(_STATES[show]) if show in _STATES else found


def not_issued(job: ExpectedList) -> QuerySet[ExpectedRow]:
    """Rows of which it is sure that no code was issued: what a person may correct and bring again."""
    ended = job.state in (ListState.DONE, ListState.STOPPED)
    surely = Q(verdict=Verdict.REFUSED) | _FAILED | (Q(state=RowState.LEFT_OUT) if ended else Q(pk=None))
    return ExpectedRow.objects.filter(surely, job=job, content__isnull=False).select_related("visit__intent")


def issued(job: ExpectedList) -> list[int]:
    """The visits of the list that have a code."""
    rows = ExpectedRow.objects.filter(_STATES["issued"], job=job)
    return list(rows.values_list("visit", flat=True))


def same_file(job: ExpectedList) -> ExpectedList | None:
    """An earlier list of the very same file that was started."""
    earlier = ExpectedList.objects.filter(fingerprint=job.fingerprint, pk__lt=job.pk, started_at__isnull=False)
    return earlier.select_related("by").order_by("-pk").first()


def held_up(job: ExpectedList) -> Intent | None:
    """The first of the list's intents that waits for the hour's calls."""
    waiting = Intent.objects.filter(state=State.QUEUED, reason=Reason.BUDGET)
    return waiting.filter(visit__in=ExpectedRow.objects.filter(job=job).values("visit")).order_by("due_at").first()
