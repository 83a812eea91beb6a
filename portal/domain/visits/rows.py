"""One visit as a row: its status, its times, and the steps that the desk can take."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise

from portal.domain.visits.days import Day
from portal.domain.visits.models import By, Visit
from portal.domain.visits.visit_status import LABELS, MAY_CHECK_IN, VisitStatus

_PRESENT = (VisitStatus.HERE, VisitStatus.OVERDUE)


@dataclass(frozen=True)
class VisitRow:
    """One visit on the board. `steps` are the possible steps; the last three fields are times from the activity log."""

    visit: Visit
    status: VisitStatus
    href: str
    start: str
    end: str
    since: str
    is_by_code: bool
    steps: tuple[str, ...]
    # The guests of its party who have not arrived yet, this one included.
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
    """Return the row of a classified visit, with times as they read on `day`."""
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
    """Return times from the activity log that the desk has not recorded: new use, arrival, departure; empty if none."""
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
    """Return the address of the visit's page, even if the service has not returned its guest yet."""
    if visit.guest_id is None:
        return reverse("guests:visit", args=[slug, visit.pk])
    return reverse("guests:guest", args=[slug, visit.guest_id])
