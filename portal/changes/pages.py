"""What the page of one change shows, by its state: what would change, its moment, progress, outcome."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from portal.changes import words
from portal.changes.lists import Outcome, Preview
from portal.core.intents.record import Asker
from portal.core.jobs import acts, costs, kinds, queries
from portal.core.jobs.models import Job, Row
from portal.core.jobs.pages import View, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Group, MirrorState
from portal.core.ui.tables import files


def respond(request: HttpRequest, job: Job) -> HttpResponseBase:
    """The page as the change's state wants it."""
    view, kind = View(request, job), kinds.of(job)
    view.context |= {
        "title": kind.titled(job),
        "may": request.access.can(job.permission),  # type: ignore[attr-defined]
        "left_out": words.of_job(job),
        "deletes": Row.objects.filter(job=job, action=Action.DELETE).exists(),
        "can_undo": kind.undo,
    }
    file = _file(view) if "export" in request.GET else None
    if file is not None:
        return file
    return _preview(view) if job.state == JobState.CHECKED else _started(view)


def _preview(view: View) -> HttpResponse:
    job, counts, connection = view.job, queries.counts(view.job), view.connection
    creates, updates, deletes = (counts.action(each) for each in (Action.CREATE, Action.UPDATE, Action.DELETE))
    reads = costs.to_read(job)
    view.context |= {
        "counts": counts,
        "cost": costs.of_rows(creates, updates, connection, deletes=deletes, reads=reads),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("as_of", flat=True).first(),
        "typed": view.request.POST.get("typed", ""),
        "number": str(counts.to_send),
    }
    return table(view, Preview, tabs(view, [("", _("All"), counts.rows)]), "changes/preview.html")


def _started(view: View) -> HttpResponse:
    job = view.job
    undoing = job.undone_by.exclude(state=JobState.CHECKED).select_related("tenant").order_by("-id")
    undone = undoing.exclude(state=JobState.WAITING).first()
    view.context |= {
        "undone_by": undone,
        "ends_by": undoing.filter(state=JobState.WAITING).first(),
        "waiting": job.state == JobState.WAITING,
    }
    return sent(view, Outcome, "changes/job.html")


def _file(view: View) -> HttpResponseBase | None:
    """All rows with old, new and, once started, the outcome of each; None where this person gets no such file."""
    rows = Row.objects.filter(job=view.job)
    names = dict(Group.objects.values_list("membergroup_id", "membergroup_name"))
    listed = Preview if view.job.state == JobState.CHECKED else Outcome
    found = listed(view.request, rows, total=view.job.size, job=view.job, groups=names)
    if not found.wanted_file:
        return None
    record = partial(acts.downloaded, by=Asker.of(view.request), job=view.job, rows=view.job.size)
    return files.respond(found, found.wanted_file, record=record)
