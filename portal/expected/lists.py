"""Tables of expected guests: uploaded lists, and the rows of one."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui.chips import Chip
from portal.base.ui.tables.columns import EMPTY_CELL, Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.times import local
from portal.domain.jobs import kinds
from portal.domain.jobs.lists import LINE_COLUMN, JobRows, job_chip
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import Action, RowState
from portal.domain.visits.models import Visit
from portal.expected import words

_ACTION_CHIPS = {
    Action.CREATE: Chip("create", text=gettext_lazy("New code")),
    Action.DOUBLE: Chip("uncertain", text=Action.DOUBLE.label),
    Action.REFUSED: Chip("refused", text=Action.REFUSED.label),
}


class GuestLists(Table):
    name = "expected-lists"
    caption = gettext_lazy("Lists of expected guests")
    default_sort = "-id"
    columns = (
        Column("file", gettext_lazy("File"), value=lambda job: job.title or _("Deleted"), phone="title", fixed=True),
        Column("state", gettext_lazy("State"), value=job_chip, fixed=True),
        Column("id", pgettext_lazy("moment", "Uploaded"), value="created_at", kind="time", sort="id"),
        Column("by", gettext_lazy("By"), value=lambda job: str(job.by)),
        Column("started", pgettext_lazy("moment", "Started"), value="started_at", kind="time"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
    )
    empty = EmptyState(gettext_lazy("No lists yet"), icon="table-import")

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


def _order(row: Row) -> dict[str, Any]:
    return (row.content or {}).get("order") or {}


def _guest_cell(row: Row) -> SafeString:
    order = _order(row)
    name = order.get("name") or next((cell for cell in (row.content or {}).get("cells", []) if cell.strip()), "")
    company = format_html(' <span class="muted">{}</span>', order["company"]) if order.get("company") else ""
    return format_html("{}{}", name, company) if name else EMPTY_CELL


def _hours_cell(row: Row) -> SafeString:
    order = _order(row)
    if not order:
        return EMPTY_CELL
    start, end = (local(datetime.fromisoformat(order[name])) for name in ("start", "end"))
    until = end.strftime("%H:%M" if start.date() == end.date() else "%Y-%m-%d %H:%M")
    return format_html('<span class="nowrap">{}</span> – {}', start.strftime("%Y-%m-%d %H:%M"), until)


def _delivery_cell(row: Row) -> SafeString:
    order = _order(row)
    if not order:
        return EMPTY_CELL
    return format_html("{}", order["email"] if order["mail"] else _("at the desk"))


def _detail_cell(row: Row) -> SafeString:
    lines = words.row_reasons(row)
    bad = row.action == Action.REFUSED or row.state in (RowState.FAILED, RowState.UNCERTAIN)
    tone = "is-bad" if bad else "is-doubt" if row.action == Action.DOUBLE and row.state == RowState.CHECKED else "muted"
    said = format_html_join("", '<span class="line {}">{}</span>', ((tone, line) for line in lines))
    host = (_order(row).get("host") or [""])[0]
    more = format_html('<span class="line muted">{}</span>', _("Host: %(name)s") % {"name": host}) if host else ""
    return format_html('<div class="lines">{}{}</div>', said, more) if said or more else EMPTY_CELL


_WHO = Column("who", gettext_lazy("Guest"), cell=_guest_cell, phone="title", fixed=True)
_HOURS = Column("hours", gettext_lazy("Hours"), cell=_hours_cell, fixed=True)
_CODE = Column("code", gettext_lazy("Code"), cell=_delivery_cell, fixed=True)
_DETAIL = Column("detail", gettext_lazy("What"), kind="detail", cell=_detail_cell, fixed=True)


class CheckedRows(JobRows):
    """The results of the dry run."""

    name = "expected-check"
    caption = gettext_lazy("Rows checked")
    columns = (
        LINE_COLUMN,
        _WHO,
        _HOURS,
        _CODE,
        Column("verdict", pgettext_lazy("check", "Result"), value=lambda row: _ACTION_CHIPS[row.action], fixed=True),
        _DETAIL,
    )


class SentRows(JobRows):
    """The results of the rows."""

    name = "expected-rows"
    caption = gettext_lazy("Rows and results")
    columns = (
        LINE_COLUMN,
        _WHO,
        _HOURS,
        _CODE,
        Column("state", gettext_lazy("Result"), value=words.outcome_chip, fixed=True),
        _DETAIL,
    )

    @cached_property
    def guests(self) -> dict[int, str]:
        """Return the guest IDs of this page's rows by the ID of their intent."""
        asked = [row.intent_id for row in self.page.rows if row.intent_id]
        visits = Visit.objects.filter(intent__in=asked).values_list("intent_id", "guest_id")
        return {intent_id: guest_id or "" for intent_id, guest_id in visits}

    def row_href(self, row: Row) -> str:
        guest = self.guests.get(row.intent_id) if row.intent_id else ""
        return reverse("guests:guest", args=[row.job.tenant.slug, guest]) if guest else ""
