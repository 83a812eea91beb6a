"""What the page of one list shows: its dry run, and then what came of it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from portal.core.intents import nonces
from portal.core.jobs import costs, kinds
from portal.core.jobs import queries as jobs
from portal.core.jobs.models import Job
from portal.core.jobs.pages import View, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.expected import columns, queries
from portal.expected.tables import CheckedRows, SentRows


def respond(request: HttpRequest, job: Job) -> HttpResponse:
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
        (Action.DOUBLE, _("Likely doubles"), counts.action(Action.DOUBLE)),
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
        "left_out": columns.unknown(job.headings or []),
        "nonce": nonces.new(view.request),
    }
    return table(view, CheckedRows, found, "expected/checked.html")
