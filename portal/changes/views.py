"""Many members at once: what is asked, what would change, what came of it."""

import unicodedata

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRefresh

from portal.changes import actions, pages, words
from portal.changes.access import FAMILY, get_act, get_job
from portal.changes.forms import FORMS
from portal.changes.lists import Changes
from portal.changes.selecting import selection
from portal.core.intents.record import Asker
from portal.core.jobs import acts, kinds, progressing, queries
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import ALIVE, Action
from tenants.access import tenant_view
from tenants.connections.service import current_connection
from tenants.roles import Permission

VIEW = Permission.MEMBERS_VIEW
# What deletes is typed: its number, or this word in one of our languages.
_WORDS = ("delete", "削除")


@tenant_view(VIEW)
def index(request: HttpRequest) -> HttpResponse:
    return Changes(request, queries.jobs(FAMILY)).respond("changes/index.html")


@tenant_view(VIEW, methods=["GET", "POST"])
def ask(request: HttpRequest, act: str) -> HttpResponse:
    """What has to be said about a change of the members that were selected in a list."""
    wanted = get_act(request, act)
    chosen = selection(request)
    count = chosen.count() if request.method == "POST" else 0
    if not count or count > acts.MOST_ROWS:
        messages.error(request, _nobody(count))
        return redirect("members:index", request.tenant.slug)
    form = FORMS[act](request.POST if "preview" in request.POST else None)
    if form.is_valid():
        job, plan = actions.prepare(by=Asker.of(request), act=wanted, form=form, selection=chosen)
        if job is not None:
            return redirect(kinds.page(job))
        form.add_error(None, words.nothing(plan))
    context = {"act": wanted, "form": form, "count": count, "fields": {**chosen.fields, "preview": "1"}}
    return render(request, "changes/ask.html", context, status=422 if form.is_bound else 200)


def _nobody(count: int) -> str:
    if count:
        return _("At most %(n)s members can be changed at once. Narrow the list.") % {"n": f"{acts.MOST_ROWS:,}"}
    return _("Select members first: tick them, or take all that match.")


@tenant_view(VIEW)
def page(request: HttpRequest, job_id: int) -> HttpResponseBase:
    return pages.respond(request, get_job(request, job_id))


@tenant_view(VIEW, methods=["POST"])
def start(request: HttpRequest, job_id: int) -> HttpResponseBase:
    job = get_job(request, job_id, act=True)
    if not _confirmed(job, request.POST.get("typed", "")):
        messages.error(request, _("What was typed is neither the number of members nor the word. Nothing was sent."))
        return pages.respond(request, job, typed=request.POST.get("typed", ""), status=422)
    if not current_connection().is_connected:
        messages.error(request, _("The tenant is not connected to the service. Nothing was sent."))
    elif not acts.start(by=Asker.of(request), job=job):
        messages.info(request, _("It was started already."))
    return redirect(kinds.page(job))


def _confirmed(job: Job, typed: str) -> bool:
    """Deletions need the number of members, or the word, typed; full width and separators are understood."""
    count = Row.objects.filter(job=job, action=Action.DELETE).count()
    text = unicodedata.normalize("NFKC", typed).strip().casefold()
    return not count or text in _WORDS or text.replace(",", "") == str(count)


@tenant_view(VIEW)
def progress(request: HttpRequest, job_id: int) -> HttpResponse:
    """The progress alone, for polling; the whole page is asked for again when there is more to see."""
    job = get_job(request, job_id)
    if job.state not in ALIVE:
        return HttpResponseClientRefresh()
    shown = progressing.of_run(job, queries.counts(job), current_connection())
    return render(request, "components/progress.html", {"progress": shown})


@tenant_view(VIEW, methods=["POST"])
def stop(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    if not acts.stop(by=Asker.of(request), job=job):
        messages.info(request, _("It is not running any more."))
    return redirect(kinds.page(job))


@tenant_view(VIEW, methods=["POST"])
def go_on(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    if not acts.go_on(by=Asker.of(request), job=job):
        messages.info(request, _("It is not stopped."))
    return redirect(kinds.page(job))


@tenant_view(VIEW, methods=["POST"])
def retry(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    again = acts.retry(by=Asker.of(request), job=job)
    if again is None:
        messages.info(request, _("There is no row that could be sent again."))
    return redirect(kinds.page(again or job))


@tenant_view(VIEW, methods=["POST"])
def undo(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    back = acts.undo(by=Asker.of(request), job=job)
    if back is None:
        messages.info(request, _("There is nothing that could be put back."))
    return redirect(kinds.page(back or job))


@tenant_view(VIEW, methods=["POST"])
def decide(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    verdict, _colon, row = request.POST.get("decision", "").partition(":")
    if verdict not in ("yes", "no") or not (row == "all" or (row.isascii() and row.isdecimal() and len(row) < 19)):
        messages.error(request, _("Please say whether it was applied. Nothing was recorded."))
        return redirect(kinds.page(job))
    rows = None if row == "all" else [int(row)]
    count = acts.decide(by=Asker.of(request), job=job, rows=rows, applied=verdict == "yes")
    messages.success(request, ngettext("%(n)d row decided.", "%(n)d rows decided.", count) % {"n": count})
    return redirect(kinds.page(job))


@tenant_view(VIEW, methods=["POST"])
def discard(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_job(request, job_id, act=True)
    if not acts.discard(by=Asker.of(request), job=job):
        messages.error(request, _("It has been started and is kept as a record."))
        return redirect(kinds.page(job))
    messages.success(request, _("Discarded. Nothing was sent."))
    return redirect("changes:index", request.tenant.slug)
