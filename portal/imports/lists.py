"""The tables of imports: all imports, and the rows of one import."""

from django.urls import reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui.tables.columns import Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.domain.jobs import kinds
from portal.domain.jobs.lists import (
    ACTION_COLUMN,
    DETAIL_COLUMN,
    LINE_COLUMN,
    MEMBER_COLUMN,
    OUTCOME_COLUMN,
    JobRows,
    job_chip,
)
from portal.domain.jobs.models import Job


class Imports(Table):
    name = "imports"
    caption = gettext_lazy("Imports")
    default_sort = "-id"
    columns = (
        Column("file", gettext_lazy("File"), value="title", phone="title", fixed=True),
        Column("state", gettext_lazy("State"), value=job_chip, fixed=True),
        Column("id", pgettext_lazy("moment", "Uploaded"), value="created_at", kind="time", sort="id"),
        Column("by", gettext_lazy("By"), value=lambda job: str(job.by)),
        Column("started", pgettext_lazy("moment", "Started"), value="started_at", kind="time"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
        Column(
            "retry",
            gettext_lazy("Rows:"),
            value=lambda job: f"#{job.retry_of_id}" if job.retry_of_id else "",
            shown=False,
        ),
    )
    empty = EmptyState(
        gettext_lazy("No imports yet"),
        gettext_lazy("Import members from a spreadsheet. You check every row before anything is sent."),
        icon="table-import",
        action=gettext_lazy("Upload a spreadsheet"),
        url=lambda request: reverse("imports:new", args=[request.tenant.slug]),
    )

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


class CheckedRows(JobRows):
    """The table of checked rows."""

    name = "import-check"
    caption = gettext_lazy("Rows checked")
    columns = (LINE_COLUMN, MEMBER_COLUMN, ACTION_COLUMN, DETAIL_COLUMN)


class SentRows(JobRows):
    """The table of rows and their results."""

    name = "import-rows"
    caption = gettext_lazy("Rows and results")
    columns = (LINE_COLUMN, MEMBER_COLUMN, OUTCOME_COLUMN, DETAIL_COLUMN)
