"""What the page of one import shows, by its state: columns to choose, dry run, progress, outcome."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.imports import costs, progressing, queries, words
from portal.imports.forms import ColumnsForm
from portal.imports.models import Import, ImportRow
from portal.imports.states import Action, JobState, RowState
from portal.imports.tables import CheckedRows, SentRows, job_chip, narrowed
from portal.mirror.kinds import Kind
from portal.mirror.models import Group, MirrorState
from portal.mirror.queries import groups as groups_by_name
from tenants.models import Connection

Text = str | Promise


@dataclass(frozen=True)
class Tab:
    """A way of looking at the rows, with how many there are."""

    name: str
    label: Text
    count: int
    href: str
    current: bool


@dataclass
class View:
    """What all states of the page share."""

    request: HttpRequest
    job: Import
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return reverse("imports:page", args=[self.job.tenant.slug, self.job.pk])

    @property
    def connection(self) -> Connection | None:
        return Connection.objects.filter(tenant=self.job.tenant_id).select_related("tenant__environment").first()


def respond(request: HttpRequest, job: Import) -> HttpResponse:
    """The page as the import's state wants it."""
    view = View(request, job, {"job": job, "chip": job_chip(job)})
    state = JobState(job.state)
    if state == JobState.DRAFT:
        return columns(request, job, ColumnsForm(job, group_choices()))
    if state == JobState.MAPPED:
        view.context["progress"] = progressing.of_check(job)
        return render(request, "imports/checking.html", view.context)
    if state == JobState.REFUSED:
        view.context["problem"] = words.of_file(job.problem.get("word", ""), job.problem.get("facts", {}))
        return render(request, "imports/refused.html", view.context)
    return _checked(view) if state == JobState.CHECKED else _sent(view)


def columns(request: HttpRequest, job: Import, form: ColumnsForm, status: int = 200) -> HttpResponse:
    context = {"job": job, "chip": job_chip(job), "form": form, "clear_word": words.clear_word()}
    return render(request, "imports/columns.html", context, status=status)


def group_choices() -> list[tuple[str, str]]:
    return list(groups_by_name().values_list("membergroup_id", "membergroup_name"))


def _checked(view: View) -> HttpResponse:
    job, counts = view.job, queries.counts(view.job)
    noted = queries.noted(job)
    connection = view.connection
    tabs = _tabs(view, [
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New"), counts.action(Action.CREATE)),
        (Action.UPDATE, _("Changed"), counts.action(Action.UPDATE)),
        (Action.SAME, _("Unchanged"), counts.action(Action.SAME)),
        (Action.REFUSED, _("Refused"), counts.action(Action.REFUSED)),
        ("noted", _("Worth a look"), noted),
    ])  # fmt: skip
    view.context |= {
        "counts": counts,
        "tabs": tabs,
        "cost": costs.of_rows(counts.action(Action.CREATE), counts.action(Action.UPDATE), connection),
        "connected": connection is not None and connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("as_of", flat=True).first(),
        "same_file": queries.same_file(job) if job.retry_of_id is None else None,
        "unmatched": not job.columns.keys() & {"member_id", "member_code"},
    }
    return _table(view, CheckedRows, tabs, "imports/checked.html")


def _sent(view: View) -> HttpResponse:
    job, counts = view.job, queries.counts(view.job)
    uncertain = counts.state(RowState.UNCERTAIN)
    tabs = _tabs(view, [
        ("", _("All"), counts.rows),
        (RowState.SUCCEEDED, _("Done"), counts.state(RowState.SUCCEEDED)),
        (RowState.FAILED, _("Refused by the service"), counts.state(RowState.FAILED)),
        (RowState.UNCERTAIN, _("Uncertain"), uncertain),
        (RowState.PENDING, _("Waiting"), counts.state(RowState.PENDING) + counts.state(RowState.SENT)),
        (RowState.STOPPED, _("Not sent"), counts.state(RowState.STOPPED)),
        (Action.REFUSED, _("Refused in the dry run"), counts.action(Action.REFUSED)),
        (Action.SAME, _("Unchanged"), counts.action(Action.SAME)),
    ])  # fmt: skip
    final = job.state != JobState.RUNNING
    undecided = ImportRow.objects.filter(job=job, state=RowState.UNCERTAIN).order_by("line")[:50] if uncertain else []
    view.context |= {
        "counts": counts,
        "tabs": tabs,
        "progress": progressing.of_run(job, counts, view.connection),
        "final": final,
        "again": queries.not_applied(job).count() if final else 0,
        "stopped": job.state == JobState.STOPPED,
        "undecided": [(row, words.reasons(row)) for row in undecided],
        "uncertain": uncertain,
        "calls": costs.spent(job),
        "retries": list(job.retries.order_by("id")) if final else [],
    }
    return _table(view, SentRows, tabs, "imports/sent.html")


def _tabs(view: View, found: list[tuple[str, Text, int]]) -> list[Tab]:
    """The tabs that hold something, the chosen one and "all"."""
    show = view.request.GET.get("show", "")
    known = show if show in {str(name) for name, _label, _count in found} else ""
    return [
        Tab(str(name), label, count, f"{view.url}?show={name}" if name else view.url, str(name) == known)
        for name, label, count in found
        if count or not name or name == known
    ]


def _table(view: View, kind: Any, tabs: list[Tab], template: str) -> HttpResponse:
    tab = next(tab for tab in tabs if tab.current)
    rows = narrowed(ImportRow.objects.filter(job=view.job), tab.name)
    names = dict(Group.objects.values_list("membergroup_id", "membergroup_name"))
    table = kind(view.request, rows, total=tab.count, groups=names)
    response: HttpResponse = table.respond(template, view.context)
    return response
