"""Views of reports: the list, request, page, PDF and XLSX files, and schedules."""

from collections.abc import Sequence

from django.forms import Form
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.base.files.cells import CellValue
from portal.base.files.faces import unprintable
from portal.base.files.writing import download_recorder
from portal.base.storage import store
from portal.base.ui import charts, live_updates
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.domain.intents.recording import Requester
from portal.domain.notifications import outbox
from portal.reports import actions, report_worker
from portal.reports.content import ReportHead, ReportTable, bars_of, cell_text, numeric_columns
from portal.reports.forms import ChangeForm, RequestForm, ScheduleForm
from portal.reports.kinds import KINDS, ReportKind, may_see
from portal.reports.lists import Reports, schedules
from portal.reports.models import Every, Report, Schedule
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.sentences import coded_sentence

_PAGE = ("GET", "POST")


def kind_or_404(request: TenantRequest, name: str) -> ReportKind:
    """Return a kind that the person may see. Raises Http404."""
    if name not in KINDS or not may_see(request.access, name):
        raise Http404
    return KINDS[name]


def report_or_404(request: TenantRequest, pk: int) -> Report:
    """Return a report that the person may see. Raises Http404."""
    report = get_row_or_404(Report.objects.select_related("by", "schedule", "file", "pdf", "book"), pk=pk)
    kind_or_404(request, report.kind)
    return report


@tenant_view(Permission.REPORTS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show the kinds of reports, the schedules, and the created reports."""
    visible = [kind for kind in KINDS.values() if may_see(request.access, kind.name)]
    may_manage = request.access.can(Permission.REPORTS_MANAGE)
    context = {
        "kinds": visible,
        "schedules": schedules(visible),
        "may_manage": may_manage,
        "days_kept": report_worker.RETENTION_DAYS,
    }
    return Reports(request, visible).respond("reports/index.html", context)


@tenant_view(Permission.REPORTS_VIEW, methods=_PAGE)
def new(request: TenantRequest, kind: str) -> HttpResponse:
    """Request a report. With `as` in the address, the form starts with an earlier report's period and area."""
    chosen = kind_or_404(request, kind)
    form = RequestForm(request.POST or None, kind=chosen)
    if request.method == "POST" and form.is_valid():
        since, until = form.period
        values = {
            "since": since,
            "until": until,
            "nonce": form.cleaned_data["nonce"],
            "by": Requester.from_request(request),
        }
        report = actions.request_report(kind=chosen.name, choices=form.choices, **values)
        return redirect("reports:page", request.tenant.slug, report.pk)
    if not form.is_bound and is_row_number(before := request.GET.get("as", "")):
        form = RequestForm.for_report(report_or_404(request, int(before)), chosen)
    return _form(request, form, chosen, _("Create report"))


@tenant_view(Permission.REPORTS_MANAGE, methods=_PAGE)
def schedule(request: TenantRequest, kind: str) -> HttpResponse:
    chosen = kind_or_404(request, kind)
    form = ScheduleForm(request.POST or None, kind=chosen)
    if request.method == "POST" and form.is_valid():
        values = {"every": Every(form.cleaned_data["every"]), "nonce": form.cleaned_data["nonce"], **form.delivery}
        actions.create_schedule(kind=chosen.name, choices=form.choices, by=Requester.from_request(request), **values)
        return redirect("reports:index", request.tenant.slug)
    return _form(request, form, chosen, _("Set up schedule"))


@tenant_view(Permission.REPORTS_MANAGE, methods=_PAGE)
def change(request: TenantRequest, pk: int) -> HttpResponse:
    """Change a schedule's hour, language and recipients."""
    row = _schedule_or_404(request, pk)
    form = ChangeForm(request.POST or None, schedule=row)
    if request.method == "POST" and form.is_valid():
        actions.change_schedule(schedule=row, by=Requester.from_request(request), **form.delivery)
        return redirect("reports:index", request.tenant.slug)
    return _form(request, form, KINDS[row.kind], _("Save schedule"))


def _form(request: TenantRequest, form: Form, kind: ReportKind, submit: str) -> HttpResponse:
    context = {"form": form, "kind": kind, "submit": submit}
    return render(request, "reports/new.html", context)


@tenant_view(Permission.REPORTS_MANAGE, methods=["POST"])
def end(request: TenantRequest, pk: int) -> HttpResponse:
    actions.end_schedule(schedule=_schedule_or_404(request, pk), by=Requester.from_request(request))
    return redirect("reports:index", request.tenant.slug)


@tenant_view(Permission.REPORTS_MANAGE, methods=["POST"])
def send_now(request: TenantRequest, pk: int) -> HttpResponse:
    """Create and send the report of the last period, and show it."""
    report = actions.send_now(schedule=_schedule_or_404(request, pk), by=Requester.from_request(request))
    return redirect("reports:page", request.tenant.slug, report.pk)


def _schedule_or_404(request: TenantRequest, pk: int) -> Schedule:
    found = get_row_or_404(Schedule.objects.filter(ended_at=None), pk=pk)
    kind_or_404(request, found.kind)
    return found


@tenant_view(Permission.REPORTS_VIEW)
def page(request: TenantRequest, pk: int) -> HttpResponse:
    """Show a report, or its progress."""
    report = report_or_404(request, pk)
    return render(request, "reports/page.html", _context(report))


@tenant_view(Permission.REPORTS_VIEW)
def progress(request: TenantRequest, pk: int) -> HttpResponse:
    """Show the progress, for a page that waits for the report."""
    report = report_or_404(request, pk)
    if live_updates.is_up_to_date(request, _version(report)):
        return live_updates.unchanged_response()
    return render(request, "reports/body.html", _context(report))


def _version(report: Report) -> str:
    return live_updates.version_of(report.made_at, report.trouble, report.due_at is None)


def _context(report: Report) -> dict[str, object]:
    context: dict[str, object] = {"report": report, "kind": KINDS[report.kind], "version": _version(report)}
    if report.head is None:
        return context
    head = ReportHead.from_json(report.head)
    context["foreign_text"] = _foreign_text(report)
    context |= {"head": head, "outgoing": outbox.messages_about(report.pk, report_worker.REPORT.name)}
    if report.files_deleted_at is not None:
        return context
    try:
        lines = report_worker.load_lines(report)
    except store.FileUnreadable:
        return {**context, "unreadable": True}
    tables = [_table(table, rows, left) for table, (rows, left) in zip(head.sheets, lines, strict=True)]
    cells = (str(cell) for rows, _left in lines for row in rows for cell in row)
    return {**context, "tables": tables, "unprintable": unprintable(cells)}


def _foreign_text(report: Report) -> str:
    """Return in which language a report is; empty if that is the reader's language."""
    texts = {"en": _("This report is in English."), "ja": _("This report is in Japanese.")}
    return "" if report.language == get_language() else texts[report.language]


def _table(table: ReportTable, rows: Sequence[Sequence[CellValue]], left: int) -> dict[str, object]:
    """Return a table for a page: cells, columns with numbers, the chart, and the number of left lines."""
    numbers = numeric_columns(table, rows)
    columns = list(zip(table.columns, numbers, strict=True))
    cells = [list(zip(map(cell_text, row), numbers, strict=True)) for row in rows]
    return {"head": table, "columns": columns, "rows": cells, "left": left, "chart": _chart(table, rows)}


def _chart(table: ReportTable, rows: Sequence[Sequence[CellValue]]) -> dict[str, object] | None:
    """Return the bars above a table, each with its text; None if there are none."""
    bars = bars_of(table, rows)
    if not bars:
        return None
    drawn = charts.bar_chart(table.columns[table.drawn], [(day, number) for day, number, _text in bars])
    return {"bars": drawn, "marks": list(zip(drawn.bars, (text for *_day, text in bars), strict=True))}


@tenant_view(Permission.REPORTS_VIEW, is_file=True)
def download(request: TenantRequest, pk: int, form: str) -> HttpResponseBase:
    """Send the report as PDF or XLSX, as it was created."""
    report = report_or_404(request, pk)
    file = {"pdf": report.pdf, "xlsx": report.book}.get(form)
    if file is None:
        raise Http404
    summary = coded_sentence("report.downloaded", kind=actions.title_of(report.kind), form=form.upper())
    target, after = f"report:{report.pk}", {"form": form}
    record = download_recorder(request, "report.downloaded", target=target, summary=summary, after=after)
    return store.download_response(request, file, f"report-{report.pk}.{form}", record=record)
