"""The lists of the imports area: all imports, and the rows of one."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from portal.imports import words
from portal.imports.models import Import, ImportRow
from portal.imports.states import Action, JobState, RowState
from portal.ui.chips import Chip
from portal.ui.tables.columns import NOTHING, Column
from portal.ui.tables.extras import Empty
from portal.ui.tables.table import Table

JOB_CHIPS = {
    JobState.DRAFT: "recorded",
    JobState.MAPPED: "running",
    JobState.CHECKED: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.STOPPED: "stopped",
    JobState.REFUSED: "refused",
}
_ACTION_CHIPS = {
    Action.CREATE: "create",
    Action.UPDATE: "change",
    Action.SAME: "same",
    Action.REFUSED: "refused",
}
_ROW_CHIPS = {
    RowState.PENDING: "waiting",
    RowState.SENT: "sent",
    RowState.SUCCEEDED: "done",
    RowState.FAILED: "refused",
    RowState.UNCERTAIN: "uncertain",
    RowState.STOPPED: "cancelled",
}


_TONES = {RowState.UNCERTAIN: "is-doubt", RowState.SUCCEEDED: "muted", RowState.STOPPED: "muted"}


def job_chip(job: Import) -> Chip:
    state = JobState(job.state)
    return Chip(JOB_CHIPS[state], text=state.label)


class Imports(Table):
    name = "imports"
    caption = _("Imports")
    default_sort = "-id"
    columns = (
        Column("file", _("File"), value="file.name", phone="title", fixed=True),
        Column("state", _("State"), value=job_chip, fixed=True),
        Column("id", _("Uploaded"), value="created_at", kind="time", sort="id"),
        Column("by", _("By"), value=lambda job: str(job.by)),
        Column("started", _("Started"), value="started_at", kind="time"),
        Column("finished", _("Finished"), value="finished_at", kind="time"),
        Column("retry", _("Rows of"), value=lambda job: f"#{job.retry_of_id}" if job.retry_of_id else "", shown=False),
    )
    empty = Empty(
        _("No imports yet"),
        _("Bring members in from a spreadsheet. Nothing is sent before you have seen, row by row, what would happen."),
        icon="table-import",
        action=_("Upload a spreadsheet"),
        url=lambda request: reverse("imports:new", args=[request.tenant.slug]),
    )

    def row_href(self, row: Import) -> str:
        return reverse("imports:page", args=[self.request.tenant.slug, row.pk])  # type: ignore[attr-defined]


def _who(row: ImportRow) -> SafeString:
    content = row.content
    code = format_html(' <span class="muted mono">{}</span>', content["code"]) if content["code"] else ""
    return format_html("{}{}", content["name"] or NOTHING, code)


def _what(row: ImportRow) -> Chip:
    return Chip(_ACTION_CHIPS[Action(row.action)])


def _outcome(row: ImportRow) -> Any:
    if row.action == Action.REFUSED:
        return Chip("refused", text=str(_("Refused in the dry run")))
    if row.action == Action.SAME:
        return Chip("same")
    state = RowState(row.state)
    return Chip(_ROW_CHIPS.get(state, "waiting"), text=str(state.label))


class _Rows(Table):
    default_sort = "line"
    empty = Empty(_("No rows here"), icon="table")

    def __init__(self, *args: Any, groups: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups = groups

    def row_class(self, row: ImportRow) -> str:
        bad = row.action == Action.REFUSED or row.state in (RowState.FAILED, RowState.UNCERTAIN)
        return "loud" if bad else "quiet" if row.action == Action.SAME else ""

    @cached_property
    def page(self) -> Any:
        """The rows know their groups' names, so that cells can draw them."""
        page = super().page
        for row in page.rows:
            row.group_names = self.groups
        return page


def _detail(row: ImportRow) -> SafeString:
    """Old and new of a change, what a new member gets, or why not; each on a line of its own."""
    groups = getattr(row, "group_names", {})
    tone = _TONES.get(RowState(row.state), "is-bad")
    lines = [format_html('<span class="line {}">{}</span>', tone, said) for said in words.reasons(row)]
    if row.state == RowState.CHECKED:
        lines += [format_html('<span class="line is-doubt">{}</span>', said) for said in words.problems(row.notes)]
    if row.action == Action.UPDATE:
        lines += [
            format_html(
                '<span class="line"><span class="muted">{}:</span> <del>{}</del> → <ins>{}</ins></span>',
                field, old or "–", new or "–",
            )
            for field, old, new in words.changes(row, groups)
        ]  # fmt: skip
    elif row.action == Action.CREATE:
        facts = format_html_join(
            " · ", '<span class="muted">{}</span> {}', ((f, new) for f, _old, new in words.changes(row, groups) if new)
        )
        lines.append(format_html('<span class="line">{}</span>', facts))
    if not lines:
        return NOTHING
    return format_html('<div class="lines">{}</div>', format_html_join("", "{}", ((line,) for line in lines)))


_LINE = Column("line", _("Line"), kind="number", sort="line", fixed=True)
_WHO = Column("who", _("Member"), cell=_who, phone="title", fixed=True)
_DETAIL = Column("detail", _("What"), kind="detail", cell=_detail, fixed=True)


class CheckedRows(_Rows):
    """What a dry run found."""

    name = "import-check"
    caption = _("Rows of the dry run")
    columns = (_LINE, _WHO, Column("action", _("Would be"), value=_what, fixed=True), _DETAIL)


class SentRows(_Rows):
    """What came of the rows."""

    name = "import-rows"
    caption = _("Rows and what came of them")
    columns = (_LINE, _WHO, Column("state", _("Outcome"), value=_outcome, fixed=True), _DETAIL)


def narrowed(rows: QuerySet[ImportRow], show: str) -> QuerySet[ImportRow]:
    """The rows of a tab; unknown names show all."""
    if show in Action.values:
        return rows.filter(action=show)
    if show == "noted":
        return rows.filter(action__in=[Action.CREATE, Action.UPDATE]).exclude(notes=[])
    if show == RowState.PENDING:
        return rows.filter(state__in=[RowState.PENDING, RowState.SENT])
    if show in RowState.values:
        return rows.filter(state=show)
    return rows
