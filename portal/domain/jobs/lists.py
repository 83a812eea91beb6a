"""Tables of jobs and of their rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.functional import Promise, cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.ui.chips import Chip
from portal.base.ui.tables import BulkAction, Filter
from portal.base.ui.tables.columns import EMPTY_CELL, Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.url_lookup import is_row_number, url_in_tenant
from portal.domain.jobs import kinds, queries, words
from portal.domain.jobs.models import SENDING, Action, Job, JobState, Row, RowState
from tenants.access import TenantRequest
from tenants.roles import Permission

JOB_CHIPS = {
    JobState.DRAFT: "recorded",
    JobState.MAPPED: "running",
    JobState.CHECKED: "waiting",
    JobState.WAITING: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.STOPPED: "stopped",
    JobState.REFUSED: "refused",
}
_ACTION_CHIPS = {
    Action.CREATE: "create",
    Action.UPDATE: "change",
    Action.DELETE: "delete",
    Action.DOUBLE: "uncertain",
    Action.SAME: "same",
    Action.REFUSED: "refused",
}
_ROW_CHIPS = {
    RowState.PENDING: "waiting",
    RowState.SENT: "sent",
    RowState.SUCCEEDED: "done",
    RowState.KEPT: "same",
    RowState.FAILED: "refused",
    RowState.UNCERTAIN: "uncertain",
    RowState.STOPPED: "cancelled",
}


_TONES = {
    RowState.UNCERTAIN: "is-doubt",
    RowState.SUCCEEDED: "muted",
    RowState.KEPT: "muted",
    RowState.STOPPED: "muted",
}


def job_chip(job: Job) -> Chip:
    """Return a job's state; for jobs of `queries.with_problem_flags` with the problems of its rows."""
    state, values = JobState(job.state), vars(job)
    if values.get("uncertain"):
        return Chip("uncertain", text=state.label, problem=_t("Rows uncertain"))
    return Chip(JOB_CHIPS[state], text=state.label, problem=_t("Failed rows") if values.get("failed") else "")


def _member_cell(row: Row) -> SafeString:
    content = row.content
    code = format_html(' <span class="muted mono">{}</span>', content["code"]) if content["code"] else ""
    return format_html("{}{}", content["name"] or EMPTY_CELL, code)


def _action_chip(row: Row) -> Chip:
    action = Action(row.action)
    return Chip(_ACTION_CHIPS[action], text=action.label if action == Action.REFUSED else "")


def outcome_chip(row: Row) -> Chip:
    """Return the outcome of a row in a word."""
    if row.action in (Action.REFUSED, Action.SAME):
        return _action_chip(row)
    state = RowState(row.state)
    return Chip(_ROW_CHIPS.get(state, "waiting"), text=str(state.label))


class JobRows(Table):
    """A table of a job's rows; each area chooses the columns."""

    default_sort = "line"
    empty = EmptyState(_("No rows here"), icon="table")

    def __init__(self, *args: Any, job: Job, groups: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.job, self.groups = job, groups

    def row_class(self, row: Row) -> str:
        bad = row.action == Action.REFUSED or row.state in (RowState.FAILED, RowState.UNCERTAIN)
        return "loud" if bad else "quiet" if row.action == Action.SAME else ""

    @cached_property
    def page(self) -> Any:
        """Return the page of rows, each with its job and the groups' names, which cells need."""
        page = super().page
        for row in page.rows:
            self.attach_context(row)
        return page

    @cached_property
    def ordered_rows(self) -> Any:
        """Return the rows for files, with the same context."""
        return _RowsWithContext(super().ordered_rows, self.attach_context)

    def attach_context(self, row: Row) -> None:
        row.group_names, row.job = self.groups, self.job


class _RowsWithContext:
    """An iterable of rows for a file that adds the context to each row."""

    def __init__(self, rows: QuerySet[Row], explain: Callable[[Row], None]) -> None:
        self.rows, self.explain = rows, explain

    def iterator(self, chunk_size: int) -> Iterator[Row]:
        for row in self.rows.iterator(chunk_size=chunk_size):
            self.explain(row)
            yield row


def _detail_cell(row: Row) -> SafeString:
    """Return a change's old and new values, a new member's values, or a problem; each on its own line."""
    tone = _TONES.get(RowState(row.state), "is-bad")
    lines = [format_html('<span class="line {}">{}</span>', tone, text) for text in words.describe_row(row, row.job)]
    notes = [note for note in row.notes if row.state == RowState.CHECKED or note[2].get("at_start")]
    lines += [
        format_html('<span class="line is-doubt">{}</span>', text) for text in words.problem_texts(notes, row.job)
    ]
    if row.state == RowState.CHECKED:
        lines += [format_html('<span class="line muted">{}</span>', text) for text in words.cleaned_texts(row)]
    if row.action == Action.UPDATE:
        lines += [
            format_html(
                '<span class="line"><span class="muted">{}:</span> <del>{}</del> → <ins>{}</ins></span>',
                field, old or "–", new or "–",
            )
            for field, old, new in words.changes_of(row)
        ]  # fmt: skip
    elif row.action == Action.CREATE:
        facts = _facts((f, new) for f, _old, new in words.field_changes(row, row.group_names) if new)
        lines.append(format_html('<span class="line">{}</span>', facts))
    elif row.action == Action.DELETE:
        lines.append(format_html('<span class="line">{}</span>', _facts(words.known_values(row, row.group_names))))
    if not lines:
        return EMPTY_CELL
    return format_html('<div class="lines">{}</div>', format_html_join("", "{}", ((line,) for line in lines)))


def _facts(pairs: Iterable[tuple[str, str]]) -> SafeString:
    return format_html_join(" · ", '<span class="muted">{}</span> {}', pairs)


LINE_COLUMN = Column("line", _("Line"), kind="number", sort="line", fixed=True)
MEMBER_COLUMN = Column("who", _("Member"), cell=_member_cell, phone="title", fixed=True)
DETAIL_COLUMN = Column("detail", _("What"), kind="detail", cell=_detail_cell, fixed=True)


OUTCOME_COLUMN = Column("state", _("Result"), value=outcome_chip, fixed=True)
ACTION_COLUMN = Column("action", pgettext_lazy("check", "Result"), value=_action_chip, fixed=True)


#: The tab of rows that a person should check: refused rows, rows not applied, and rows with a note before the start.
ATTENTION = "attention"
_FAILED_STATES = (RowState.FAILED, RowState.UNCERTAIN, RowState.STOPPED)


def filter_rows(rows: QuerySet[Row], show: str) -> QuerySet[Row]:
    """Return the rows of a tab; unknown names return all."""
    if show in Action.values:
        return rows.filter(action=show)
    if show == ATTENTION:
        noted = Q(state=RowState.CHECKED, action__in=SENDING) & ~Q(notes=[])
        return rows.filter(Q(action=Action.REFUSED) | Q(state__in=_FAILED_STATES) | noted)
    if show == "noted":
        return rows.filter(action__in=SENDING).exclude(notes=[])
    if show == RowState.PENDING:
        return rows.filter(state__in=[RowState.PENDING, RowState.SENT])
    if show in RowState.values:
        return rows.filter(state=show)
    return rows


def _named_imports(request: TenantRequest, values: list[str]) -> list[tuple[str, str]]:
    """Return these imports with their names, for people who may see imports."""
    if not request.access.can(Permission.IMPORTS_RUN):
        return []
    family = kinds.kinds_in_family(kinds.SEQUENTIAL_FAMILY)
    found = Job.objects.filter(kind__in=family, pk__in=filter(is_row_number, values)).values_list("pk", "title")
    return [(str(pk), f"{pk} · {title}") for pk, title in found]


#: The filter of a list of members by the import that created or changed them.
FROM_IMPORT = Filter(
    "import", _("From import"), (), queries.members_of_jobs, is_single=True, describe_chosen=_named_imports
)


_SELECTION_ACTIONS: tuple[tuple[str, Permission, str, Promise], ...] = (
    ("suspend", Permission.MEMBERS_EDIT, "player-pause", _("Suspend…")),
    ("resume", Permission.MEMBERS_EDIT, "player-play", _("Resume…")),
    ("extend", Permission.MEMBERS_EDIT, "calendar-plus", _("Extend…")),
    ("move", Permission.MEMBERS_EDIT, "users-group", _("Move…")),
    ("rights", Permission.RIGHTS_EDIT, "key", _("Rights…")),
    ("delete", Permission.MEMBERS_DELETE, "trash", _("Delete…")),
)


def selection_actions(query: Callable[[TenantRequest], str] = lambda _request: "") -> tuple[BulkAction, ...]:
    """Return the bulk actions for `Table.actions`.

    `query(request)` is added to each URL, such as "group=G1" for a group's list.
    """
    return tuple(
        BulkAction(name, label, _address(name, query), icon, permission, danger=name == "delete")
        for name, permission, icon, label in _SELECTION_ACTIONS
    )


def _address(name: str, query: Callable[[TenantRequest], str]) -> Callable[[TenantRequest], str]:
    def address(request: TenantRequest) -> str:
        more = query(request)
        return url_in_tenant("changes:ask", request.tenant.slug, name) + (f"?{more}" if more else "")

    return address
