"""Many members at once: what is asked, what would change, what came of it."""

import unicodedata

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.changes import actions, pages, words
from portal.changes.actions import selection
from portal.changes.acts import ACTS
from portal.changes.forms import FORMS
from portal.changes.lists import Changes
from portal.core.intents.record import Asker
from portal.core.jobs import acts, kinds, queries
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action
from portal.core.jobs.views import Pages, of_family
from tenants.access import tenant_view
from tenants.roles import Permission

FAMILY = "change"
VIEW = Permission.MEMBERS_VIEW
# What deletes is typed: its number, or this word in one of our languages.
_WORDS = ("delete", "削除")


@tenant_view(VIEW)
def index(request: HttpRequest) -> HttpResponse:
    return Changes(request, queries.jobs(FAMILY)).respond("changes/index.html")


@tenant_view(VIEW, methods=["GET", "POST"])
def ask(request: HttpRequest, act: str) -> HttpResponse:
    """What has to be said about a change of the members that were selected in a list."""
    wanted = ACTS.get(act)
    if wanted is None:
        raise Http404
    request.access.check(wanted.permission)  # type: ignore[attr-defined]
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
    return _("Select members first.")


def _confirm(request: HttpRequest, job: Job) -> str:
    """Deletions need the number of members, or the word, typed; full width and separators are understood."""
    count = Row.objects.filter(job=job, action=Action.DELETE).count()
    text = unicodedata.normalize("NFKC", request.POST.get("typed", "")).strip().casefold()
    if not count or text in _WORDS or text.replace(",", "") == str(count):
        return ""
    return _("Type the number of members or the word “delete”. Nothing was sent.")


JOBS = Pages(
    VIEW,
    find=of_family(FAMILY, "undo_of"),
    page=pages.respond,
    home=lambda job: reverse("changes:index", args=[job.tenant.slug]),
    confirm=_confirm,
)
