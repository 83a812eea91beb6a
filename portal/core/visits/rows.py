"""One visit as a row: where it stands, its times, and the steps that the desk can take with it."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise

from portal.core.visits.days import Day
from portal.core.visits.models import By, Visit
from portal.core.visits.queries import MAY_CHECK_IN
from portal.core.visits.visit_status import LABELS, VisitStatus

_PRESENT = (VisitStatus.HERE, VisitStatus.OVERDUE)


@dataclass(frozen=True)
class VisitRow:
    """One visit on the board. `steps` are (step, key) that can be taken; `note` says what the histories told."""

    visit: Visit
    status: VisitStatus
    href: str
    start: str
    end: str
    since: str
    is_by_code: bool
    steps: tuple[str, ...]
    # How many of its party have not arrived yet, this one included.
    party_waiting: int = 0
    used_again_at: str = ""
    suggested_arrival_time: str = ""
    suggested_leave_time: str = ""

    @property
    def key(self) -> str:
        return f"v{self.visit.pk}"

    @property
    def label(self) -> Promise:
        return LABELS[self.status]


def row_of(slug: str, visit: Visit, day: Day, *, may_act: bool) -> VisitRow:
    """A row for a classified visit, with times as they read on `day`."""
    standing = VisitStatus(visit.standing)  # type: ignore[attr-defined]  # annotated
    since = {VisitStatus.LEFT: visit.left_at, VisitStatus.HERE: visit.arrived_at, VisitStatus.OVERDUE: visit.arrived_at}
    who = visit.left_by if standing == VisitStatus.LEFT else visit.arrived_by
    return VisitRow(
        visit,
        standing,
        visit_url(slug, visit),
        day.time_text(visit.use_date_start),
        day.time_text(visit.use_date_end),
        day.time_text(since.get(standing)),
        who == By.HISTORY,
        _steps(standing) if may_act and visit.erased_at is None else (),
        0,
        *_suggested_times(visit, standing, day),
    )


def _steps(standing: VisitStatus) -> tuple[str, ...]:
    if standing in MAY_CHECK_IN:
        return ("arrived",)
    if standing in _PRESENT:
        return ("left",)
    return ("back",) if standing == VisitStatus.LEFT else ()


def _suggested_times(visit: Visit, standing: VisitStatus, day: Day) -> tuple[str, str, str]:
    """What the histories tell that the desk has not said: used again, an arrival, a departure; times or nothing."""
    again = arrival = leave = ""
    if standing == VisitStatus.LEFT and visit.last_use_at and visit.left_at and visit.last_use_at > visit.left_at:
        again = day.time_text(visit.last_use_at) if visit.suggested_leave_at is None else ""
    came, went = visit.suggested_arrival_at, visit.suggested_leave_at
    if standing in MAY_CHECK_IN and came and (visit.left_at is None or came > visit.left_at):
        arrival = day.time_text(came)
    if standing in _PRESENT and went and visit.arrived_at and went >= visit.arrived_at:
        leave = day.time_text(went)
    return again, arrival, leave


def visit_url(slug: str, visit: Visit) -> str:
    """The visit's page, whether the service has named its guest or not."""
    if visit.guest_id is None:
        return reverse("guests:visit", args=[slug, visit.pk])
    return reverse("guests:guest", args=[slug, visit.guest_id])
