"""The lists of this part of the desk: uploaded lists, and the rows of one."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.ui.chips import Chip
from portal.core.ui.tables.columns import NOTHING, Column
from portal.core.ui.tables.extras import Empty
from portal.core.ui.tables.table import Table
from portal.core.ui.times import local
from portal.expected import words
from portal.expected.models import ExpectedList, ExpectedRow, ListState, Verdict

_LISTS = {
    ListState.CHECKED: "waiting",
    ListState.RUNNING: "running",
    ListState.DONE: "done",
    ListState.STOPPED: "stopped",
}
_VERDICTS = {Verdict.READY: "create", Verdict.DOUBLE: "uncertain", Verdict.REFUSED: "refused"}


def chip(job: ExpectedList) -> Chip:
    state = ListState(job.state)
    return Chip(_LISTS[state], text=state.label)


class Lists(Table):
    name = "expected-lists"
    caption = _("Lists of expected guests")
    default_sort = "-id"
    columns = (
        Column("file", _("File"), value=lambda job: job.name or _t("Erased"), phone="title", fixed=True),
        Column("state", _("State"), value=chip, fixed=True),
        Column("id", pgettext_lazy("moment", "Uploaded"), value="created_at", kind="time", sort="id"),
        Column("by", _("By"), value=lambda job: str(job.by)),
        Column("started", pgettext_lazy("moment", "Started"), value="started_at", kind="time"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
    )
    empty = Empty(_("No lists yet"), icon="table-import")

    def row_href(self, row: ExpectedList) -> str:
        return reverse("guests:expected_page", args=[self.request.tenant.slug, row.pk])  # type: ignore[attr-defined]


def _order(row: ExpectedRow) -> dict[str, Any]:
    return (row.content or {}).get("order") or {}


def _who(row: ExpectedRow) -> SafeString:
    order = _order(row)
    name = order.get("name") or next((cell for cell in (row.content or {}).get("cells", []) if cell.strip()), "")
    company = format_html(' <span class="muted">{}</span>', order["company"]) if order.get("company") else ""
    return format_html("{}{}", name, company) if name else NOTHING


def _when(row: ExpectedRow) -> SafeString:
    order = _order(row)
    if not order:
        return NOTHING
    start, end = (local(datetime.fromisoformat(order[name])) for name in ("start", "end"))
    until = end.strftime("%H:%M" if start.date() == end.date() else "%Y-%m-%d %H:%M")
    return format_html('<span class="nowrap">{}</span> – {}', start.strftime("%Y-%m-%d %H:%M"), until)


def _way(row: ExpectedRow) -> SafeString:
    order = _order(row)
    if not order:
        return NOTHING
    return format_html("{}", order["email"] if order["mail"] else _t("at the desk"))


def _said(row: ExpectedRow, *, checked: bool) -> SafeString:
    lines = words.problems(row.problems) if checked else words.reasons(row)
    tone = {Verdict.REFUSED: "is-bad", Verdict.DOUBLE: "is-doubt"}.get(Verdict(row.verdict), "muted")
    if not checked and row.verdict != Verdict.REFUSED:
        tone = "is-bad" if words.outcome(row).state in ("refused", "uncertain") else "muted"
    said = format_html_join("", '<span class="line {}">{}</span>', ((tone, line) for line in lines))
    host = (_order(row).get("host") or [""])[0]
    more = format_html('<span class="line muted">{}</span>', _t("Host: %(name)s") % {"name": host}) if host else ""
    return format_html('<div class="lines">{}{}</div>', said, more) if said or more else NOTHING


_LINE = Column("line", _("Line"), kind="number", sort="line", fixed=True)
_WHO = Column("who", _("Guest"), cell=_who, phone="title", fixed=True)
_HOURS = Column("hours", _("Hours"), cell=_when, fixed=True)
_CODE = Column("code", _("Code"), cell=_way, fixed=True)


class _Rows(Table):
    default_sort = "line"
    empty = Empty(_("No rows here"), icon="table")

    def row_class(self, row: ExpectedRow) -> str:
        return "loud" if row.verdict == Verdict.REFUSED or words.outcome(row).state in ("refused", "uncertain") else ""


class CheckedRows(_Rows):
    """What the dry run found."""

    name = "expected-check"
    caption = _("Rows of the dry run")
    columns = (
        _LINE,
        _WHO,
        _HOURS,
        _CODE,
        Column("verdict", pgettext_lazy("check", "Result"),
               value=lambda row: Chip(_VERDICTS[Verdict(row.verdict)], text=Verdict(row.verdict).label), fixed=True),
        Column("detail", _("What"), kind="detail", cell=lambda row: _said(row, checked=True), fixed=True),
    )  # fmt: skip


class SentRows(_Rows):
    """What came of the rows."""

    name = "expected-rows"
    caption = _("Rows and what came of them")
    columns = (
        _LINE,
        _WHO,
        _HOURS,
        _CODE,
        Column("state", _("Outcome"), value=words.outcome, fixed=True),
        Column("detail", _("What"), kind="detail", cell=lambda row: _said(row, checked=False), fixed=True),
    )

    def row_href(self, row: ExpectedRow) -> str:
        if row.visit is None or not row.visit.guest_id:
            return ""
        return reverse("guests:guest", args=[self.request.tenant.slug, row.visit.guest_id])  # type: ignore[attr-defined]
