"""The pages of reports: what there is, asking for one, one on a page, as PDF or XLSX, and schedules."""

from collections.abc import Sequence

from django.forms import Form
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.core.files.writing import written_down
from portal.core.intents.record import Asker
from portal.core.ui import charts, watching
from portal.core.ui.addresses import is_row_number, row_or_404
from portal.evidence import store
from portal.reports import actions, keeping, making, paper, scheduling
from portal.reports.content import Cell, Head, Sheet, amount
from portal.reports.forms import AskForm, ChangeForm, ScheduleForm
from portal.reports.kinds import KINDS, Kind
from portal.reports.lists import Reports, schedules
from portal.reports.models import Every, Report, Schedule
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.wording import say

_PAGE = ("GET", "POST")


def kind_or_404(request: TenantRequest, name: str) -> Kind:
    """Return a kind that the person may see, or 404."""
    if name not in KINDS or not scheduling.may_see(request.access, name):
        raise Http404
    return KINDS[name]


def report_or_404(request: TenantRequest, pk: int) -> Report:
    """Return a report that the person may see, or 404."""
    report = row_or_404(Report.objects.select_related("by", "schedule", "file", "pdf", "book"), pk=pk)
    kind_or_404(request, report.kind)
    return report


@tenant_view(Permission.REPORTS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """The kinds of reports, the schedules, and the reports that were made."""
    seen = [kind for kind in KINDS.values() if scheduling.may_see(request.access, kind.name)]
    may_manage = request.access.can(Permission.REPORTS_MANAGE)
    context = {"kinds": seen, "schedules": schedules(seen), "may_manage": may_manage, "days_kept": keeping.DAYS_KEPT}
    return Reports(request, seen).respond("reports/index.html", context)


@tenant_view(Permission.REPORTS_VIEW, methods=_PAGE)
def new(request: TenantRequest, kind: str) -> HttpResponse:
    """Ask for a report, of the time and area of an earlier one where the address names one (`as`)."""
    chosen = kind_or_404(request, kind)
    form = AskForm(request.POST or None, kind=chosen)
    if request.method == "POST" and form.is_valid():
        since, until = form.period
        told = {"since": since, "until": until, "nonce": form.cleaned_data["nonce"], "by": Asker.of(request)}
        report = actions.ask(kind=chosen.name, choices=form.choices, **told)
        return redirect("reports:page", request.tenant.slug, report.pk)
    if not form.is_bound and is_row_number(before := request.GET.get("as", "")):
        form = AskForm.again(report_or_404(request, int(before)), chosen)
    return _form(request, form, chosen, _("Make report"))


@tenant_view(Permission.REPORTS_MANAGE, methods=_PAGE)
def schedule(request: TenantRequest, kind: str) -> HttpResponse:
    """Set up a schedule."""
    chosen = kind_or_404(request, kind)
    form = ScheduleForm(request.POST or None, kind=chosen)
    if request.method == "POST" and form.is_valid():
        told = {"every": Every(form.cleaned_data["every"]), "nonce": form.cleaned_data["nonce"], **form.sent}
        actions.set_up(kind=chosen.name, choices=form.choices, by=Asker.of(request), **told)
        return redirect("reports:index", request.tenant.slug)
    return _form(request, form, chosen, _("Set up schedule"))


@tenant_view(Permission.REPORTS_MANAGE, methods=_PAGE)
def change(request: TenantRequest, pk: int) -> HttpResponse:
    """Change the hour of a schedule and whom it tells."""
    row = _schedule_or_404(request, pk)
    form = ChangeForm(request.POST or None, schedule=row)
    if request.method == "POST" and form.is_valid():
        actions.change(schedule=row, by=Asker.of(request), **form.sent)
        return redirect("reports:index", request.tenant.slug)
    return _form(request, form, KINDS[row.kind], _("Save schedule"))


def _form(request: TenantRequest, form: Form, kind: Kind, submit: str) -> HttpResponse:
    context = {"form": form, "kind": kind, "submit": submit}
    return render(request, "reports/new.html", context)


@tenant_view(Permission.REPORTS_MANAGE, methods=["POST"])
def end(request: TenantRequest, pk: int) -> HttpResponse:
    """End a schedule."""
    actions.end(schedule=_schedule_or_404(request, pk), by=Asker.of(request))
    return redirect("reports:index", request.tenant.slug)


@tenant_view(Permission.REPORTS_MANAGE, methods=["POST"])
def send_now(request: TenantRequest, pk: int) -> HttpResponse:
    """Make and send the report of the period that is over now, and show it."""
    report = actions.send_now(schedule=_schedule_or_404(request, pk), by=Asker.of(request))
    return redirect("reports:page", request.tenant.slug, report.pk)


def _schedule_or_404(request: TenantRequest, pk: int) -> Schedule:
    found = row_or_404(Schedule.objects.filter(ended_at=None), pk=pk)
    kind_or_404(request, found.kind)
    return found


@tenant_view(Permission.REPORTS_VIEW)
def page(request: TenantRequest, pk: int) -> HttpResponse:
    """A report, or that it is being made."""
    report = report_or_404(request, pk)
    return render(request, "reports/page.html", _context(report))


@tenant_view(Permission.REPORTS_VIEW)
def progress(request: TenantRequest, pk: int) -> HttpResponse:
    """Whether it is made, for a page that waits."""
    report = report_or_404(request, pk)
    if watching.has_seen(request, _mark(report)):
        return watching.unchanged()
    return render(request, "reports/body.html", _context(report))


def _mark(report: Report) -> str:
    return watching.mark(report.made_at, report.trouble, report.due_at is None)


def _context(report: Report) -> dict[str, object]:
    context: dict[str, object] = {"report": report, "kind": KINDS[report.kind], "seen": _mark(report)}
    if report.head is None:
        return context
    head = Head.of_json(report.head)
    sendings = report.sendings.select_related("user").order_by("pk")
    context |= {"head": head, "sendings": sendings, "no_permission": scheduling.NO_PERMISSION}
    if report.files_deleted_at is not None:
        return context
    try:
        shown = making.shown(report)
    except store.Unreadable:
        return {**context, "unreadable": True}
    tables = [_table(sheet, rows, left) for sheet, (rows, left) in zip(head.sheets, shown, strict=True)]
    return {**context, "tables": tables}


def _table(sheet: Sheet, rows: Sequence[Sequence[Cell]], left: int) -> dict[str, object]:
    """Return a table for a page: its columns and cells, each with whether it holds numbers, and what is drawn of it."""
    numbers = paper.numeric(len(sheet.columns), rows)
    cells = [[(f"{cell:,}" if isinstance(cell, int) else cell) for cell in row] for row in rows]
    columns = list(zip(sheet.columns, numbers, strict=True))
    told = [list(zip(row, numbers, strict=True)) for row in cells]
    return {"sheet": sheet, "columns": columns, "rows": told, "left": left, "chart": _chart(sheet, rows)}


def _chart(sheet: Sheet, rows: Sequence[Sequence[Cell]]) -> dict[str, object] | None:
    """Return the bars above a table, each with its day and what is said of it; None for more than can be read."""
    if not sheet.drawn or not 0 < len(rows) <= paper.MOST_BARS:
        return None
    told = [(str(row[0]), row[sheet.drawn]) for row in rows]
    drawn = charts.bars(sheet.columns[sheet.drawn], [(day, amount(cell) or 0) for day, cell in told])
    marks = [
        (bar, f"{cell:,}" if isinstance(cell, int) else cell)
        for bar, (_day, cell) in zip(drawn.bars, told, strict=True)
    ]
    return {"bars": drawn, "marks": marks}


@tenant_view(Permission.REPORTS_VIEW, file=True)
def download(request: TenantRequest, pk: int, form: str) -> HttpResponseBase:
    """The report as PDF or XLSX, as it was made."""
    report = report_or_404(request, pk)
    file = {"pdf": report.pdf, "xlsx": report.book}.get(form)
    if file is None:
        raise Http404
    said = say("report.downloaded", kind=actions.titled(report.kind), form=form.upper())
    written_down(request, "report.downloaded", target=f"report:{report.pk}", summary=said, after={"form": form})()
    return store.answer(request, file, f"report-{report.pk}.{form}")
