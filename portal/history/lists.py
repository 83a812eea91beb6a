"""The table of the log, and of the tenant's log exports."""

from datetime import datetime

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.tables import Column, EmptyState, Table
from portal.domain.history.lists import ActivityLogTable
from portal.domain.jobs import file_executor, kinds
from portal.domain.jobs.lists import job_chip
from portal.domain.jobs.models import Job, JobState


class LogTable(ActivityLogTable):
    """The table of records, with the tenant's saved searches above it."""

    extra_template = "history/above.html"


def kept_until(job: Job) -> datetime | None:
    """Return when an export's file is deleted, or was deleted; None if there is no file."""
    return file_executor.deletion_due_at(job) if job.state == JobState.DONE else None


class Exports(Table):
    name = "log-exports"
    caption = _("Exports")
    default_sort = "-id"
    columns = (
        Column("title", _("Export"), value=lambda job: str(job.title), phone="title", fixed=True),
        Column("state", _("State"), value=job_chip, fixed=True),
        Column("filters", _("Filters"), value=lambda job: job.options.get("match", "")),
        Column("records", pgettext_lazy("log", "Records"), value=lambda job: job.checked_rows, kind="number"),
        Column("by", _("By"), value=lambda job: str(job.by)),
        Column("id", pgettext_lazy("moment", "Started"), value="created_at", kind="time", sort="id"),
        Column("until", _("File deleted on"), value=kept_until, kind="time"),
    )
    empty = EmptyState(_("No exports yet"), _("Choose “Export…” in the activity log."), icon="download")

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)
