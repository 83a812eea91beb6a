"""What the page of one import shows, by its state: columns to choose, dry run, progress, outcome."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from portal.core.jobs import costs, progressing
from portal.core.jobs import queries as jobs
from portal.core.jobs.lists import ATTENTION, job_chip
from portal.core.jobs.models import Job
from portal.core.jobs.pages import View, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.core.mirror.fields.members import CODE, MEMBER_ID
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from portal.core.mirror.queries import groups as groups_by_name
from portal.core.rights.giving import NewRights
from portal.imports import giving, queries, words
from portal.imports.forms import ColumnsForm
from portal.imports.lists import CheckedRows, SentRows
from tenants.roles import Permission


def respond(request: HttpRequest, job: Job) -> HttpResponse:
    """The page as the import's state wants it."""
    view, state = View(request, job), JobState(job.state)
    if state == JobState.DRAFT:
        return columns(request, job, ColumnsForm(job, group_choices()), rights_form(request, job))
    if state == JobState.MAPPED:
        view.context["progress"] = progressing.of_check(job)
        return render(request, "imports/checking.html", view.context)
    if state == JobState.REFUSED:
        view.context["problem"] = words.of_file(job.problem.get("word", ""), job.problem.get("facts", {}))
        return render(request, "imports/refused.html", view.context)
    return _checked(view, job) if state == JobState.CHECKED else sent(view, SentRows, "imports/sent.html")


def rights_form(request: HttpRequest, job: Job, posted: QueryDict | None = None) -> NewRights | None:
    """What new members may do from the start, for whoever may say so."""
    if not request.access.can(Permission.RIGHTS_EDIT):  # type: ignore[attr-defined]
        return None
    return NewRights(posted, initial=giving.initial(job.sheet.rights))


def columns(
    request: HttpRequest, job: Job, form: ColumnsForm, given: NewRights | None, status: int = 200
) -> HttpResponse:
    context = {"job": job, "chip": job_chip(job), "form": form, "given": given, "clear_word": words.clear_word()}
    return render(request, "imports/columns.html", context, status=status)


def group_choices() -> list[tuple[str, str]]:
    return list(groups_by_name().values_list("membergroup_id", "membergroup_name"))


def _checked(view: View, job: Job) -> HttpResponse:
    counts, noted = jobs.counts(job), jobs.noted(job)
    connection = view.connection
    found = tabs(view, [
        (ATTENTION, _("Needs attention"), counts.action(Action.REFUSED) + noted),
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New"), counts.action(Action.CREATE)),
        (Action.UPDATE, _("Will change"), counts.action(Action.UPDATE)),
        (Action.SAME, _("Unchanged"), counts.action(Action.SAME)),
        (Action.REFUSED, _("Failed the check"), counts.action(Action.REFUSED)),
        ("noted", _("Please check"), noted),
    ], opens=ATTENTION)  # fmt: skip
    view.context |= {
        "counts": counts,
        "cost": costs.of_rows(counts.action(Action.CREATE), counts.action(Action.UPDATE), connection),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("as_of", flat=True).first(),
        "same_file": queries.same_file(job) if job.retry_of_id is None else None,
        "left_out": queries.left_out(job),
        "rights": words.of_rights(job.sheet.rights) if counts.action(Action.CREATE) else "",
        "unmatched": not job.sheet.columns.keys() & {MEMBER_ID.name, CODE.name},
    }
    return table(view, CheckedRows, found, "imports/checked.html")
