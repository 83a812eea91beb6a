"""Lists of expected guests: one address a list, whose page follows its state; every step a plain POST."""

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from portal.codes.badges import of_visits
from portal.codes.views import pdf
from portal.core.budget.frame import known
from portal.core.files.faults import FileFault
from portal.core.files.sending import send
from portal.core.intents import nonces
from portal.core.intents.record import Asker
from portal.core.visits.models import DeskSettings
from portal.expected import actions, downloads, pages, progressing, queries, words
from portal.expected.forms import UploadForm
from portal.expected.models import ExpectedList, ListState
from portal.expected.tables import Lists
from tenants.access import tenant_view
from tenants.roles import Permission

DESK = Permission.GUESTS_DESK


@tenant_view(DESK, methods=["GET", "POST"])
def index(request: HttpRequest) -> HttpResponseBase:
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
            return _to(job)
    table = Lists(request, ExpectedList.objects.select_related("by"))
    if form.is_bound:
        return render(request, "guests/expected/index.html", {"form": form, "table": table}, status=422)
    return table.respond("guests/expected/index.html", {"form": form})


@tenant_view(DESK)
def page(request: HttpRequest, list_id: int) -> HttpResponse:
    return pages.respond(request, queries.get_list(list_id))


@tenant_view(DESK, methods=["POST"])
def start(request: HttpRequest, list_id: int) -> HttpResponse:
    job = queries.get_list(list_id)
    try:
        nonces.check(request)
    except nonces.BadNonce as refusal:
        messages.error(request, str(refusal))
        return _to(job)
    if known(request) is None:
        messages.error(request, _("The tenant is not connected to the service. Nothing was sent."))
    elif not actions.start(by=Asker.of(request), job=job, with_doubles=bool(request.POST.get("doubles"))):
        messages.info(request, _("It was started already, or there is nothing to issue."))
    return _to(job)


@tenant_view(DESK)
def progress(request: HttpRequest, list_id: int) -> HttpResponse:
    """The progress alone, for polling; the whole page is asked for again when there is more to see."""
    job = queries.get_list(list_id)
    if job.state != ListState.RUNNING:
        return HttpResponseClientRefresh()
    shown = progressing.of(job, queries.counts(job), known(request))
    return render(request, "components/progress.html", {"progress": shown})


@tenant_view(DESK, methods=["POST"])
def stop(request: HttpRequest, list_id: int) -> HttpResponse:
    job = queries.get_list(list_id)
    if not actions.stop(by=Asker.of(request), job=job):
        messages.info(request, _("It is not running any more."))
    return _to(job)


@tenant_view(DESK, methods=["POST"])
def go_on(request: HttpRequest, list_id: int) -> HttpResponse:
    job = queries.get_list(list_id)
    if not actions.go_on(by=Asker.of(request), job=job):
        messages.info(request, _("It is not stopped."))
    return _to(job)


@tenant_view(DESK, methods=["POST"])
def discard(request: HttpRequest, list_id: int) -> HttpResponse:
    job = queries.get_list(list_id)
    if not actions.discard(by=Asker.of(request), job=job):
        messages.error(request, _("It has been started and is kept as a record."))
        return _to(job)
    messages.success(request, _("Discarded. Nothing was sent."))
    return redirect("guests:expected", request.tenant.slug)


@tenant_view(DESK)
def failed(request: HttpRequest, list_id: int, kind: str) -> HttpResponseBase:
    """The rows that were not issued, as they were uploaded, each with its reason."""
    job = queries.get_list(list_id)
    lines = downloads.failed(job)
    rows = len(lines) - 1
    if not rows:
        raise Http404
    record = partial(actions.downloaded, by=Asker.of(request), job=job, rows=rows)
    return send(lines, kind=kind, name=downloads.name(job), title="guests", record=record, comes_back=True)


@tenant_view(DESK)
def badge_file(request: HttpRequest, list_id: int) -> HttpResponse:
    """The badges of everybody on the list who has a code, ready before they come."""
    job = queries.get_list(list_id)
    return pdf(request, of_visits(queries.issued(job)), "badge", f"list-{job.pk}")


@tenant_view(DESK)
def template(request: HttpRequest, language: str, kind: str) -> HttpResponseBase:
    lines = downloads.template(language)
    return send(lines, kind=kind, name=f"guests-{language}", title="guests", record=None, comes_back=True)


def _to(job: ExpectedList) -> HttpResponse:
    return redirect("guests:expected_page", job.tenant.slug, job.pk)
