"""The status of visits: rows with possible steps, and the update from the mirror's guests."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypedDict

from django.db import connection
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.times import local
from portal.base.ui.value_words import add_label
from portal.domain.people.models import Guest
from portal.domain.visits.days import Day
from portal.domain.visits.models import By, Stage, Visit
from tenants.models import Tenant

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class _Standing(TypedDict):
        status: str

    # Visits, each with its `status_of`.
    Classified = QuerySet[WithAnnotations[Visit, _Standing]]


class VisitStatus(StrEnum):
    """The status of a visit, for the desk."""

    REQUESTED = "requested"  # no guest yet: under way or uncertain
    NOT_ISSUED = "not_issued"
    EXPECTED = "expected"
    HERE = "here"
    OVERDUE = "overdue"  # present, though the time is over
    LEFT = "left"
    NOT_COME = "not_come"
    CUT = "cut"  # deactivated, and the guest is not present


MAY_CHECK_IN = (VisitStatus.EXPECTED, VisitStatus.NOT_COME, VisitStatus.REQUESTED)
# In the desk's order: visits that need attention first.
LABELS: dict[VisitStatus, Promise] = {
    VisitStatus.OVERDUE: _("Overdue"),
    VisitStatus.EXPECTED: _("Expected"),
    VisitStatus.HERE: pgettext_lazy("guests", "On site"),
    VisitStatus.REQUESTED: _("Being issued"),
    VisitStatus.LEFT: pgettext_lazy("guests", "Left"),
    VisitStatus.NOT_COME: _("No-show"),
    VisitStatus.CUT: _("Deactivated"),
    VisitStatus.NOT_ISSUED: _("Not issued"),
}
HINTS: dict[VisitStatus, Promise] = {
    VisitStatus.OVERDUE: _("Still on site after the end time"),
    VisitStatus.REQUESTED: _("Code not confirmed yet"),
    VisitStatus.NOT_ISSUED: _("No code: refused or stopped"),
}
ICONS: dict[VisitStatus, str] = {
    VisitStatus.OVERDUE: "alert-triangle",
    VisitStatus.EXPECTED: "clock",
    VisitStatus.HERE: "user-check",
    VisitStatus.REQUESTED: "loader",
    VisitStatus.LEFT: "logout",
    VisitStatus.NOT_COME: "user-off",
    VisitStatus.CUT: "cut",
    VisitStatus.NOT_ISSUED: "ban",
}


def status_of(visit: Visit, now: datetime | None = None) -> VisitStatus:
    """Return the status of a visit at `now`. Presence comes first: the state of the code does not change it.

    A guest who left on an earlier day and has a code for today is expected again.
    """
    now = now or timezone.now()
    if visit.left_at is not None and not (visit.left_at < day_start(now) and _is_still_expected(visit, now)):
        return VisitStatus.LEFT
    if visit.arrived_at is not None and visit.left_at is None:
        return VisitStatus.OVERDUE if visit.use_date_end < now else VisitStatus.HERE
    if visit.is_cut:
        return VisitStatus.CUT
    if visit.stage != Stage.ISSUED:
        return VisitStatus(visit.stage)
    if visit.use_date_end < now or visit.gone_at is not None:
        return VisitStatus.NOT_COME
    return VisitStatus.EXPECTED


def _is_still_expected(visit: Visit, now: datetime) -> bool:
    """Return True if the code works now or later."""
    return visit.stage == Stage.ISSUED and not visit.is_cut and visit.use_date_end >= now and visit.gone_at is None


def day_start(now: datetime) -> datetime:
    """Return midnight of the day of `now`, on the service's clock."""
    return local(now).replace(hour=0, minute=0, second=0, microsecond=0)


# No part may be NULL in SQL, because a negated condition must be true or false.
_CUT = Q(must_end_at__isnull=False) & (Q(ended_confirmed_at__isnull=True) | Q(use_date_end__lte=F("must_end_at")))
_LIVE = Q(must_end_at__isnull=True) | Q(ended_confirmed_at__isnull=False, use_date_end__gt=F("must_end_at"))


def with_status(visits: QuerySet[Visit], now: datetime) -> "Classified":
    """Return the visits, each with its `status_of` at `now`, in SQL. A property test compares both."""
    over = Q(use_date_end__lt=now)
    again = Q(stage=Stage.ISSUED, use_date_end__gte=now, gone_at__isnull=True) & _LIVE
    words = Case(
        When(again, left_at__lt=day_start(now), then=Value(VisitStatus.EXPECTED.value)),
        When(left_at__isnull=False, then=Value(VisitStatus.LEFT.value)),
        When(over, arrived_at__isnull=False, then=Value(VisitStatus.OVERDUE.value)),
        When(arrived_at__isnull=False, then=Value(VisitStatus.HERE.value)),
        When(_CUT, then=Value(VisitStatus.CUT.value)),
        When(~Q(stage=Stage.ISSUED), then=F("stage")),
        When(over | Q(gone_at__isnull=False), then=Value(VisitStatus.NOT_COME.value)),
        default=Value(VisitStatus.EXPECTED.value),
        output_field=CharField(),
    )
    return visits.annotate(status=words)


# One statement each: a building has thousands of guests, and this runs in the transaction of every load. Open requests
# are left to their intents, and erased visits stay erased.
_UPDATE = """
UPDATE {visit} AS v
   SET guest_name = CASE WHEN v.erased_at IS NULL THEN g.guest_name ELSE v.guest_name END,
       name_key = CASE WHEN v.erased_at IS NULL THEN g.name_key ELSE v.name_key END,
       use_date_start = coalesce(g.use_date_start, v.use_date_start),
       use_date_end = coalesce(g.use_date_end, v.use_date_end),
       gone_at = g.gone_at
  FROM {guest} AS g
 WHERE v.tenant_id = %(tenant)s AND g.tenant_id = %(tenant)s AND v.guest_id = g.guest_id
   AND (v.gone_at IS DISTINCT FROM g.gone_at
        OR v.use_date_start <> coalesce(g.use_date_start, v.use_date_start)
        OR v.use_date_end <> coalesce(g.use_date_end, v.use_date_end)
        OR (v.erased_at IS NULL AND (v.guest_name <> g.guest_name OR v.name_key <> g.name_key)))
"""
_CREATE = """
INSERT INTO {visit} (tenant_id, stage, guest_id, guest_name, name_key, use_date_start, use_date_end, email_used,
                     company, host_member_id, host_name, host_key, arrived_by, left_by, cut_attempts)
SELECT g.tenant_id, 'issued', g.guest_id, g.guest_name, g.name_key, g.use_date_start, g.use_date_end, false,
       '', '', '', '', '', '', 0
  FROM {guest} AS g
 WHERE g.tenant_id = %(tenant)s AND g.gone_at IS NULL
   AND g.use_date_start IS NOT NULL AND g.use_date_end IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM {visit} AS v WHERE v.tenant_id = g.tenant_id AND v.guest_id = g.guest_id)
    ON CONFLICT DO NOTHING
"""
# No longer in the list: the service deleted the guest a week after its end, or staff did on the member site.
_GONE = """
UPDATE {visit} AS v
   SET gone_at = clock_timestamp()
 WHERE v.tenant_id = %(tenant)s AND v.guest_id IS NOT NULL AND v.gone_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM {guest} AS g WHERE g.tenant_id = v.tenant_id AND g.guest_id = v.guest_id)
"""


def update_from_mirror(tenant: Tenant) -> None:
    """Update the visits of the current tenant from the guests in the mirror, all at once.

    Guests without a visit (issued elsewhere) get one. A guest without readable hours waits until they are known.
    """
    names = {"visit": Visit._meta.db_table, "guest": Guest._meta.db_table}
    with connection.cursor() as cursor:
        for statement in (_UPDATE, _CREATE, _GONE):
            cursor.execute(statement.format(**names), {"tenant": tenant.pk})


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
    def code_use(self) -> str:
        """Return how the activity log shows the guest: by QR code, and at which door they came in."""
        place = self.visit.first_use_place if self.status != VisitStatus.LEFT else ""
        return add_label(place, _("QR code")) if place else str(_("QR code"))

    @property
    def label(self) -> Promise:
        return LABELS[self.status]


def row_of(slug: str, visit: Visit, day: Day, *, may_act: bool) -> VisitRow:
    """Return the row of a classified visit, with times as they read on `day`."""
    status = VisitStatus(visit.status)  # type: ignore[attr-defined]  # annotated
    since = {VisitStatus.LEFT: visit.left_at, VisitStatus.HERE: visit.arrived_at, VisitStatus.OVERDUE: visit.arrived_at}
    who = visit.left_by if status == VisitStatus.LEFT else visit.arrived_by
    return VisitRow(
        visit,
        status,
        visit_url(slug, visit),
        day.time_text(visit.use_date_start),
        day.time_text(visit.use_date_end),
        day.time_text(since.get(status)),
        who == By.HISTORY,
        _steps(status) if may_act and visit.erased_at is None else (),
        0,
        *_suggested_times(visit, status, day),
    )


def _steps(status: VisitStatus) -> tuple[str, ...]:
    if status in MAY_CHECK_IN:
        return ("arrived",)
    if status in _PRESENT:
        return ("left",)
    return ("back",) if status == VisitStatus.LEFT else ()


def _suggested_times(visit: Visit, status: VisitStatus, day: Day) -> tuple[str, str, str]:
    """Return times from the activity log that the desk has not recorded: new use, arrival, departure; empty if none."""
    again = arrival = leave = ""
    if status == VisitStatus.LEFT and visit.last_use_at and visit.left_at and visit.last_use_at > visit.left_at:
        again = day.time_text(visit.last_use_at) if visit.suggested_leave_at is None else ""
    came, left = visit.suggested_arrival_at, visit.suggested_leave_at
    if status in MAY_CHECK_IN and came and (visit.left_at is None or came > visit.left_at):
        arrival = day.time_text(came)
    if status in _PRESENT and left and visit.arrived_at and left >= visit.arrived_at:
        leave = day.time_text(left)
    return again, arrival, leave


def visit_url(slug: str, visit: Visit) -> str:
    """Return the address of the visit's page, even if the service has not returned its guest yet."""
    if visit.guest_id is None:
        return reverse("guests:visit", args=[slug, visit.pk])
    return reverse("guests:guest", args=[slug, visit.guest_id])
