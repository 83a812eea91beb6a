"""The tables of created reports and of schedules."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from portal.base.ui.chips import Chip
from portal.base.ui.tables import Column, EmptyState, Table
from portal.reports import content
from portal.reports.kinds import KINDS, ReportKind
from portal.reports.models import Report, Schedule
from tenants.access import TenantRequest
from tenants.models import User


def period_text(row: Report) -> str:
    """Return the days of a report; empty for reports about a moment."""
    if KINDS[row.kind].is_as_of_now:
        return ""
    return content.period_text(row.since, row.until)


def state_of(row: Report) -> Chip:
    """Return the state of a report as a chip."""
    if row.made_at is not None:
        partial = row.head is not None and row.head.get("is_partial")
        return Chip("done", _t("Ready"), problem=_t("Incomplete data") if partial else "")
    if row.due_at is None:
        return Chip("failed", pgettext("report", "Failed"))
    return Chip("running", pgettext("report", "Creating"))


class Reports(Table):
    name = "reports"
    caption = _("Reports")
    default_sort = "-id"
    columns = (
        Column("kind", _("Report"), value=lambda row: KINDS[row.kind].title, phone="title", fixed=True),
        Column("area", _("Area"), value=lambda row: row.choices.get("area_name", "")),
        Column("period", pgettext_lazy("report", "Period"), value=period_text),
        Column("state", pgettext_lazy("report", "State"), value=state_of),
        Column("requested_at", pgettext_lazy("report", "Requested"), kind="time", sort="id"),
        Column("by", pgettext_lazy("report", "By")),
        Column("sent", pgettext_lazy("report", "Scheduled"), value=lambda row: row.schedule_id is not None, kind="yes"),
    )

    def __init__(self, request: TenantRequest, kinds: Sequence[ReportKind]) -> None:
        rows = Report.objects.filter(kind__in=[kind.name for kind in kinds]).select_related("by")
        super().__init__(request, rows)

    @property
    def empty(self) -> EmptyState | None:
        why = _t("Choose a report above. Reports don’t change after they are created.")
        return EmptyState(_t("No reports yet"), why, "report")

    def row_href(self, row: Report) -> str:
        return reverse("reports:page", args=[self.request.tenant.slug, row.pk])


def schedules(kinds: Sequence[ReportKind]) -> list[tuple[Schedule, ReportKind, list[User]]]:
    """Return the running schedules of these kinds, each with its recipients."""
    rows = list(Schedule.objects.filter(ended_at=None, kind__in=[kind.name for kind in kinds]).order_by("pk"))
    people = User.objects.in_bulk({pk for row in rows for pk in row.recipients})
    return [(row, KINDS[row.kind], [people[pk] for pk in row.recipients if pk in people]) for row in rows]
