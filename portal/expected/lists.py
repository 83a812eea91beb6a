"""Tables and queries of lists of expected guests and of their rows, and the texts for problems and results."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.meanings import RefusalCause
from portal.base.files.date_parsing import explain_unread
from portal.base.ui.chips import Chip
from portal.base.ui.tables.columns import EMPTY_CELL, Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.times import local, moment_text
from portal.base.ui.value_words import add_brackets, join_sentences
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State
from portal.domain.jobs import kinds, lists
from portal.domain.jobs.lists import LINE_COLUMN, JobRows, job_chip
from portal.domain.jobs.models import Action, Job, Row, RowState
from portal.domain.jobs.queries import with_problem_flags
from portal.domain.jobs.words import problem_texts
from portal.domain.visits.models import Visit
from portal.imports.lists import cells_of_lines, with_common_texts
from portal.imports.models import Sheet
from tenants.models import current_tenant

KIND = "expected"


def guest_lists() -> QuerySet[Job]:
    return with_problem_flags(Job.objects.filter(kind=KIND)).select_related("by", "tenant")


def list_number(job: Job) -> int:
    """Return the list's number for addresses, the audit log and its intents.

    Lists that were uploaded before lists were jobs keep their old number.
    """
    return int(job.options.get("list") or job.pk)


def list_or_404(_request: HttpRequest, job_id: int) -> Job:
    """Return the list of this number. Raises Http404 if there is none."""
    known = (
        guest_lists()
        .select_related("tenant__environment", "sheet__file")
        .filter(Q(pk=job_id) | Q(options__list=job_id))
    )
    job = known.order_by("-pk").first() if job_id < 2**63 else None
    if job is None:
        raise Http404
    return job


def earlier_upload(job: Job) -> Job | None:
    """Return an earlier list of the same file that was started."""
    prints = Sheet.objects.filter(job=job).values("file__fingerprint")
    same = guest_lists().filter(sheet__file__fingerprint__in=prints, pk__lt=job.pk, started_at__isnull=False)
    return same.order_by("-pk").first()


def cells_of(job: Job, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings (line 0) and these lines as they were uploaded."""
    if Sheet.objects.filter(job=job).exists():
        yield from cells_of_lines(job, lines)
        return
    # Lists that were uploaded before their files were kept have the cells in their rows.
    yield 0, job.headings or []
    for row in Row.objects.filter(job=job, line__in=lines, content__isnull=False).order_by("line"):
        yield row.line, row.content["cells"]


def issued_visits(job: Job) -> list[int]:
    """Return the keys of the visits of the list that have a code, in the order of its rows."""
    done = Row.objects.filter(job=job, state=RowState.SUCCEEDED, intent__visit__isnull=False)
    return list(done.order_by("line").values_list("intent__visit", flat=True))


Facts = Mapping[str, Any]

PROBLEM_TEXTS = with_common_texts({
    "missing": lambda f: _("required"),
    "time_alone": lambda f: _("date missing: use 2026-12-01 13:00, or add a date column"),
    "date": lambda f: explain_unread(f.get("value", ""), "day"),
    "next_day": lambda f: _("ends on the next day"),
    "over": lambda f: _("this time has passed"),
    "no_such_preset": lambda f: _("no preset with this name"),
    "unsent_remarks": lambda f: _("not used: remarks are only sent by e-mail"),
    "double_guest": lambda f: (
        _("a guest with this name already has a code for this time, until %(until)s")
        % {"until": moment_text(datetime.fromisoformat(f["until"]))}
    ),
    "double_line": lambda f: _("same name and overlapping time as line %(line)d") % f,
    "appeared": lambda f: _("not requested: a code with this name and time was issued in the meantime"),
    "waits": lambda f: _("waiting to see whether an earlier code with this name was issued"),
})  # fmt: skip

_REFUSAL_TEXTS: dict[RefusalCause, Callable[[], str]] = {
    RefusalCause.SCOPE: lambda: _("No code was issued: the connection has no permission for this. Contact an owner."),
    RefusalCause.CONTRACT: lambda: _("No code was issued: the contract does not include this. Contact an owner."),
    RefusalCause.SETTING: lambda: _(
        "No code was issued: the key box does not allow keys for guests. Issue the code without keys."
    ),
    RefusalCause.DUPLICATE: lambda: _("No code was issued: the code was already in use. Try again."),
}


def outcome_chip(row: Row) -> Chip:
    """Return the result of a row in one word."""
    return Chip(_OF_INTENT[State(row.intent.state)]) if row.intent is not None else lists.outcome_chip(row)


_OF_INTENT = {
    State.QUEUED: "waiting",
    State.SENDING: "sent",
    State.ACCEPTED: "sent",
    State.SUCCEEDED: "done",
    State.FAILED: "refused",
    State.UNCERTAIN: "uncertain",
    State.EXPIRED: "expired",
    State.CANCELLED: "cancelled",
}


def row_reasons(row: Row) -> list[str]:
    """Return the details of a row's result, including the service's code and words."""
    intent = row.intent
    if intent is None or intent.state in (*UNDER_WAY, State.SUCCEEDED):
        return problem_texts([*row.problems, *row.notes], row.job, (row.content or {}).get("quoted"))
    if intent.state == State.UNCERTAIN:
        return [_("The response was lost. It will not be sent again until it is known whether the code was issued.")]
    if intent.reason == Reason.REFUSED:
        reason = _refusal(intent)
        return [join_sentences([reason, intent.error_code and add_brackets(intent.error_code), intent.error_detail])]
    return [join_sentences([Reason(intent.reason).label, _("No code was issued.")])]


def _refusal(intent: Intent) -> str:
    """Return the meaning of a refusal from the environment's table of error codes."""
    meaning = current_tenant().environment.catalogue.errors.meaning(intent.error_code)
    if meaning is not None and meaning.cause in _REFUSAL_TEXTS:
        return _REFUSAL_TEXTS[meaning.cause]()
    if intent.http_status in (400, 422):
        return _("No code was issued: a value in this row was rejected. Correct it and upload the row again.")
    return _("No code was issued: the row was refused. Check its values.")


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
    empty = EmptyState(gettext_lazy("No expected guests yet"), icon="table-import")

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


def _order(row: Row) -> dict[str, Any]:
    return (row.content or {}).get("order") or {}


def _guest_cell(row: Row) -> SafeString:
    order = _order(row)
    name = order.get("name") or (row.content or {}).get("name", "")
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
    lines = row_reasons(row)
    bad = row.action == Action.REFUSED or row.state in (RowState.FAILED, RowState.UNCERTAIN)
    tone = "is-bad" if bad else "is-doubt" if row.action == Action.DOUBLE and row.state == RowState.CHECKED else "muted"
    details = format_html_join("", '<span class="line {}">{}</span>', ((tone, line) for line in lines))
    host = (_order(row).get("host") or [""])[0]
    more = format_html('<span class="line muted">{}</span>', _("Host: %(name)s") % {"name": host}) if host else ""
    return format_html('<div class="lines">{}{}</div>', details, more) if details or more else EMPTY_CELL


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
        Column("state", gettext_lazy("Result"), value=outcome_chip, fixed=True),
        _DETAIL,
    )

    @cached_property
    def guests(self) -> dict[int, str]:
        """Return the guest IDs of this page's rows by the ID of their intent."""
        intent_ids = [row.intent_id for row in self.page.rows if row.intent_id]
        visits = Visit.objects.filter(intent__in=intent_ids).values_list("intent_id", "guest_id")
        return {intent_id: guest_id or "" for intent_id, guest_id in visits}

    def row_href(self, row: Row) -> str:
        guest = self.guests.get(row.intent_id) if row.intent_id else ""
        return reverse("guests:guest", args=[row.job.tenant.slug, guest]) if guest else ""
