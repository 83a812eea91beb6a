"""Views of lists of expected guests. Each list has one address whose page depends on its state; each step is a POST."""

from django import forms
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files.file_limits import FileFault
from portal.codes.badges import unprintable_on_badges, upcoming_visits
from portal.codes.views import badges_pdf
from portal.domain.intents import nonces
from portal.domain.intents.recording import Requester
from portal.domain.jobs import costs, kinds, views
from portal.domain.jobs import queries as jobs
from portal.domain.jobs.models import Action, Job, JobState
from portal.domain.jobs.pages import JobPage, render_started_job, render_table, tabs_of
from portal.domain.jobs.views import JobPages
from portal.domain.visits.models import DeskSettings, Visit
from portal.expected import actions, lists
from portal.expected.checking import FIELDS
from portal.expected.lists import KIND, CheckedRows, GuestLists, SentRows
from portal.imports.forms import UploadForm as SheetUploadForm
from portal.imports.lists import file_problem_text
from portal.imports.views import SheetPages, check_context
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


class UploadForm(SheetUploadForm):
    """A spreadsheet, and how its guests get their codes. It is not validated before it is read."""

    kind_name = KIND

    delivery = forms.ChoiceField(
        label=gettext_lazy("Codes"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            ("direct", gettext_lazy("At the desk (shown or printed on arrival)")),
            ("mail", gettext_lazy("By e-mail, to guests with an address")),
        ],
    )


DESK = Permission.GUESTS_DESK


def page(request: TenantRequest, job: Job) -> HttpResponse:
    """Show the page for the list's state."""
    view = JobPage(request, job)
    if job.erased_at is not None:
        return render(request, "expected/erased.html", view.context)
    if before := SHEETS.show(request, job):
        return before
    if job.state == JobState.CHECKED:
        return _dry_run_page(view)
    issued = Visit.objects.filter(pk__in=lists.issued_visits(job))
    view.context["unprintable"] = unprintable_on_badges(request.tenant, issued)
    return render_started_job(view, SentRows, "expected/sent.html")


def _dry_run_page(view: JobPage) -> HttpResponse:
    job, counts, connection = view.job, jobs.count_rows(view.job), view.connection
    same = lists.earlier_upload(job)
    found = tabs_of(view, [
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New codes"), counts.by_action(Action.CREATE)),
        (Action.DOUBLE, _("Possible duplicates"), counts.by_action(Action.DOUBLE)),
        (Action.REFUSED, Action.REFUSED.label, counts.by_action(Action.REFUSED)),
    ])  # fmt: skip
    view.context |= {
        "codes": counts.by_action(Action.CREATE),
        "doubles": counts.by_action(Action.DOUBLE),
        "refused": counts.by_action(Action.REFUSED),
        "connected": connection.is_connected,
        "cost": costs.cost_of_rows(connection, singles=counts.by_action(Action.CREATE)),
        "same_file": same,
        "same_file_url": kinds.page_address(same) if same is not None else "",
        "nonce": nonces.create_nonce(view.request),
        **check_context(job),
    }
    return render_table(view, CheckedRows, found, "expected/checked.html")


@tenant_view(DESK, methods=["GET", "POST"])
def index(request: TenantRequest) -> HttpResponseBase:
    """Show the lists and the upload form."""
    chosen = DeskSettings.objects.first() or DeskSettings()
    posted = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if posted else UploadForm(initial={"delivery": chosen.delivery})
    if form.is_valid():
        mail = (form.cleaned_data["delivery"] or chosen.delivery) == "mail"
        try:
            job = actions.upload(by=Requester.from_request(request), file=form.cleaned_data["file"], mail=mail)
        except FileFault as fault:
            form.add_error("file", file_problem_text(fault.code, fault.values))
        else:
            return redirect(kinds.page_address(job))
    listed = GuestLists(request, lists.guest_lists())
    if form.is_bound:
        return render(request, "expected/index.html", {"form": form, "table": listed})
    return listed.respond("expected/index.html", {"form": form})


@tenant_view(DESK, is_file=True)
def badge_file(request: TenantRequest, job_id: int) -> HttpResponse:
    """Return the badges of all guests on the list who have a code, to print before they arrive."""
    issued = lists.issued_visits(lists.list_or_404(request, job_id))
    return badges_pdf(request, upcoming_visits(issued), "badge", f"list-{job_id}")


template = views.template_view(DESK, FIELDS, "guests")


def _confirm(request: TenantRequest, _job: Job) -> str:
    """Check the nonce of the form. A list is started only from its own page."""
    try:
        nonces.check_nonce(request)
    except nonces.BadNonce as refusal:
        return str(refusal)
    return ""


SHEETS = SheetPages(
    DESK,
    lists.list_or_404,
    "expected/base.html",
    lambda job: reverse("guests:expected", args=[job.tenant.slug]),
    on_chosen=actions.check_at_once,
)
LIST_PAGES = JobPages(
    DESK,
    find_job=lists.list_or_404,
    show_job=page,
    home_address=lambda job: reverse("guests:expected", args=[job.tenant.slug]),
    reason_not_to_start=_confirm,
    discard=actions.discard,
    uploaded_cells=lists.cells_of,
    sheet_title="guests",
)
