"""The list of bulk changes, and the rows of one."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.files.writing import KINDS
from portal.base.ui.tables.columns import Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.url_lookup import ServiceId
from portal.domain.jobs import kinds, words
from portal.domain.jobs.lists import DETAIL_COLUMN, MEMBER_COLUMN, OUTCOME_COLUMN, JobRows, job_chip
from portal.domain.jobs.models import Action, Job, Row
from tenants.roles import Permission

_ids = ServiceId()


class Changes(Table):
    name = "changes"
    caption = _("Bulk changes")
    default_sort = "-id"
    columns = (
        Column(
            "what",
            pgettext_lazy("noun", "Change"),
            value=lambda job: str(kinds.kind_of(job).title_of(job)),
            phone="title",
            fixed=True,
        ),
        Column("state", _("State"), value=job_chip, fixed=True),
        Column("size", _("Members"), value="size", kind="number"),
        Column("starts", _("Date and time"), value="starts_at", kind="time"),
        Column("by", _("By"), value=lambda job: str(job.by)),
        Column("id", pgettext_lazy("moment", "Prepared"), value="created_at", kind="time", sort="id"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
    )
    empty = EmptyState(
        _("No bulk changes yet"),
        _("Select members in the list, then choose an action below it: suspend, extend, move, delete and more."),
        "users",
        _("Open the members list"),
        lambda request: reverse("members:index", args=[request.tenant.slug]),
    )

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


def _old(row: Row) -> str:
    return "; ".join(f"{field}: {old}" for field, old, _new in words.changes_of(row))


def _new(row: Row) -> str:
    if row.action == Action.DELETE:
        return str(Action.DELETE.label)
    return "; ".join(f"{field}: {new}" for field, _old, new in words.changes_of(row))


_FILE_ONLY: dict[str, Any] = {"shown": False, "phone": "hide"}
_WHO = Column(
    "who", _("Member"), value=lambda row: row.content["name"], cell=MEMBER_COLUMN.cell, phone="title", fixed=True
)
_FILE = (
    Column("code", _("Member code"), value=lambda row: row.content["code"], kind="mono", **_FILE_ONLY),
    Column("member_id", _("Member ID"), kind="mono", **_FILE_ONLY),
    Column("old", _("Before"), value=_old, **_FILE_ONLY),
    Column("new", _("After"), value=_new, **_FILE_ONLY),
)
_WHAT = Column("detail", DETAIL_COLUMN.label, kind="detail", cell=DETAIL_COLUMN.cell, fixed=True, export=False)


class _ChangeRows(JobRows):
    exports = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def row_href(self, row: Row) -> str:
        index = reverse("members:index", args=[self.request.tenant.slug])
        return f"{index}{_ids.to_url(row.member_id)}/" if row.member_id else ""


class PlannedRows(_ChangeRows):
    """The planned changes of a job."""

    name = "change-preview"
    caption = _("Changes")
    columns = (_WHO, _WHAT, *_FILE)


class ResultRows(_ChangeRows):
    """The results of a job's rows."""

    name = "change-rows"
    caption = _("Members and results")
    columns = (
        _WHO,
        OUTCOME_COLUMN,
        _WHAT,
        *_FILE,
        Column("reason", _("Reason"), value=lambda row: "; ".join(words.describe_row(row, row.job)), **_FILE_ONLY),
    )
