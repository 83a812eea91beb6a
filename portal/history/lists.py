"""The table of the log, and of the tenant's log exports."""

from datetime import datetime

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.keyset import ListPage
from portal.base.ui.times import local, today
from portal.base.ui.value_words import join_values
from portal.domain.history import filters
from portal.domain.history.lists import ActivityLogTable
from portal.domain.jobs import file_executor, kinds
from portal.domain.jobs.lists import job_chip
from portal.domain.jobs.models import Job, JobState


class LogTable(ActivityLogTable):
    """The table of records, with the period, the tenant's saved searches and how far the log is loaded in one line."""

    extra_template = "history/on_paper.html"
    first_filter = "history/period.html"
    more_tools = "history/tools.html"

    @property
    def person_day_url(self) -> str:
        """Return the address of the chosen person's day, that of the first record shown; empty without a person."""
        person = self.address.get("person")
        if not person or "\x00" in person:
            return ""
        day = local(self.page.rows[0].at).date() if self.page.rows else today()
        return reverse("history:person_day", args=[self.request.tenant.slug, person, day.isoformat()])


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
        Column("filters", _("Filters")),
        Column("records", pgettext_lazy("log", "Records"), value=lambda job: job.checked_rows, kind="number"),
        Column("by", _("By"), value=lambda job: str(job.by)),
        Column("id", pgettext_lazy("moment", "Started"), value="created_at", kind="time", sort="id"),
        Column("until", _("File deleted on"), value=kept_until, kind="time"),
    )
    empty = EmptyState(_("No exports yet"), _("Choose “Export…” in the activity log."), icon="download")

    def complete_page(self, page: ListPage) -> ListPage:
        """Describe the filters of the page's exports; the names of people are loaded once."""
        queries = {row.pk: QueryDict(row.options.get("match", "")) for row in page.rows}
        labels = filters.labels(self.request, queries.values())
        self.complete_columns(
            filters={"value": lambda row: join_values(filters.describe(self.request, queries[row.pk], labels))}
        )
        return page

    @property
    def shown_columns(self) -> list[Column]:
        self.page  # noqa: B018 - loading the page sets how columns are drawn
        return super().shown_columns

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)
