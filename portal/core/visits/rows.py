"""One visit as a row: where it stands, its times, and the steps that the desk can take with it."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise

from portal.core.visits.days import Day
from portal.core.visits.models import By, Visit
from portal.core.visits.queries import MAY_ARRIVE
from portal.core.visits.standing import LABELS, Standing

_PRESENT = (Standing.HERE, Standing.OVERDUE)


@dataclass(frozen=True)
class Row:
    """One visit on the board. `steps` are (step, key) that can be taken; `note` says what the histories told."""

    visit: Visit
    standing: Standing
    href: str
    start: str
    end: str
    since: str
    by_code: bool
    steps: tuple[str, ...]
    # How many of its party have not arrived yet, this one included.
    together: int = 0
    used_again: str = ""
    suggested_arrival: str = ""
    suggested_leave: str = ""

    @property
    def key(self) -> str:
        return f"v{self.visit.pk}"

    @property
    def label(self) -> Promise:
        return LABELS[self.standing]


def row_of(slug: str, visit: Visit, day: Day, *, may_act: bool) -> Row:
    """A row for a classified visit, with times as they read on `day`."""
    standing = Standing(visit.standing)  # type: ignore[attr-defined]  # annotated
    since = {Standing.LEFT: visit.left_at, Standing.HERE: visit.arrived_at, Standing.OVERDUE: visit.arrived_at}
    who = visit.left_by if standing == Standing.LEFT else visit.arrived_by
    return Row(
        visit,
        standing,
        address(slug, visit),
        day.clock(visit.use_date_start),
        day.clock(visit.use_date_end),
        day.clock(since.get(standing)),
        who == By.HISTORY,
        _steps(standing) if may_act and visit.erased_at is None else (),
        0,
        *_told(visit, standing, day),
    )


def _steps(standing: Standing) -> tuple[str, ...]:
    if standing in MAY_ARRIVE:
        return ("arrived",)
    if standing in _PRESENT:
        return ("left",)
    return ("back",) if standing == Standing.LEFT else ()


def _told(visit: Visit, standing: Standing, day: Day) -> tuple[str, str, str]:
    """What the histories tell that the desk has not said: used again, an arrival, a departure; times or nothing."""
    again = arrival = leave = ""
    if standing == Standing.LEFT and visit.last_use_at and visit.left_at and visit.last_use_at > visit.left_at:
        again = day.clock(visit.last_use_at) if visit.suggested_leave_at is None else ""
    came, went = visit.suggested_arrival_at, visit.suggested_leave_at
    if standing in MAY_ARRIVE and came and (visit.left_at is None or came > visit.left_at):
        arrival = day.clock(came)
    if standing in _PRESENT and went and visit.arrived_at and went >= visit.arrived_at:
        leave = day.clock(went)
    return again, arrival, leave


def address(slug: str, visit: Visit) -> str:
    """The visit's page, whether the service has named its guest or not."""
    if visit.guest_id is None:
        return reverse("guests:visit", args=[slug, visit.pk])
    return reverse("guests:guest", args=[slug, visit.guest_id])
