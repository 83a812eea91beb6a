"""Lists of expected guests: one address a list, whose page follows its state; every step a plain POST."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.codes.badges import of_visits
from portal.codes.views import pdf
from portal.core.files.bounds import FileFault
from portal.core.intents import nonces
from portal.core.intents.record import Asker
from portal.core.jobs import costs, kinds, views
from portal.core.jobs import queries as jobs
from portal.core.jobs.models import Job
from portal.core.jobs.pages import View, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.core.jobs.views import Pages
from portal.core.visits.models import DeskSettings
from portal.expected import actions, queries, reading, words
from portal.expected.forms import UploadForm
from portal.expected.lists import CheckedRows, Lists, SentRows
from portal.expected.reading import FIELDS
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

DESK = Permission.GUESTS_DESK


def page(request: TenantRequest, job: Job) -> HttpResponse:
    """The page as the list's state wants it."""
    view = View(request, job)
    if job.erased_at is not None:
        return render(request, "expected/erased.html", view.context)
    return _checked(view) if job.state == JobState.CHECKED else sent(view, SentRows, "expected/sent.html")


def _checked(view: View) -> HttpResponse:
    job, counts, connection = view.job, jobs.counts(view.job), view.connection
    same = queries.same_file(job)
    found = tabs(view, [
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New codes"), counts.action(Action.CREATE)),
        (Action.DOUBLE, _("Possible duplicates"), counts.action(Action.DOUBLE)),
        (Action.REFUSED, _("Refused"), counts.action(Action.REFUSED)),
    ])  # fmt: skip
    view.context |= {
        "codes": counts.action(Action.CREATE),
        "doubles": counts.action(Action.DOUBLE),
        "refused": counts.action(Action.REFUSED),
        "connected": connection.is_connected,
        "minutes": costs.of_each(counts.action(Action.CREATE), connection).minutes,
        "same_file": same,
        "same_file_url": kinds.page(same) if same is not None else "",
        "left_out": reading.unknown(job.headings or []),
        "nonce": nonces.new(view.request),
    }
    return table(view, CheckedRows, found, "expected/checked.html")


@tenant_view(DESK, methods=["GET", "POST"])
def index(request: TenantRequest) -> HttpResponseBase:
    """The lists there are, and a form for the next one."""
    chosen = DeskSettings.objects.first() or DeskSettings()
    posted = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if posted else UploadForm(initial={"delivery": chosen.delivery})
    if form.is_valid():
        mail = (form.cleaned_data["delivery"] or chosen.delivery) == "mail"
        try:
            job = actions.upload(by=Asker.of(request), file=form.cleaned_data["file"], mail=mail)
        except FileFault as fault:
            form.add_error("file", words.of_file(fault.word, fault.facts))
        else:
            return redirect(kinds.page(job))
    listed = Lists(request, queries.lists())
    if form.is_bound:
        return render(request, "expected/index.html", {"form": form, "table": listed})
    return listed.respond("expected/index.html", {"form": form})


@tenant_view(DESK, file=True)
def badge_file(request: TenantRequest, job_id: int) -> HttpResponse:
    """The badges of everybody on the list who has a code, ready before they come."""
    issued = queries.issued(queries.find(request, job_id)).values_list("pk", flat=True)
    return pdf(request, of_visits(issued), "badge", f"list-{job_id}")


template = views.template(DESK, FIELDS, "guests")


def _confirm(request: TenantRequest, _job: Job) -> str:
    """A list is started from its own page."""
    try:
        nonces.check(request)
    except nonces.BadNonce as refusal:
        return str(refusal)
    return ""


LISTS = Pages(
    DESK,
    find=queries.find,
    page=page,
    home=lambda job: reverse("guests:expected", args=[job.tenant.slug]),
    confirm=_confirm,
    cells=queries.cells_of,
    sheet="guests",
)
