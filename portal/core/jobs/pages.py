"""What the pages of jobs share: tabs over rows, progress, what needs a decision."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from portal.core.jobs import costs, kinds, progressing, queries, words
from portal.core.jobs.lists import ATTENTION, Rows, job_chip, narrowed
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import ALIVE, Action, JobState, RowState
from portal.core.mirror.models import Group
from tenants.connections.service import current_connection
from tenants.models import Connection

Text = str | Promise
# Of the rows that only a person can settle, so many are shown at once.
_UNDECIDED = 50


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
    """A job's page in the making: the request, the job, and what the template will get."""

    request: HttpRequest
    job: Job
    context: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context |= {"job": self.job, "chip": job_chip(self.job), "url": self.url}

    @property
    def url(self) -> str:
        return kinds.page(self.job)

    @property
    def connection(self) -> Connection:
        return current_connection()


def tabs(view: View, found: Iterable[tuple[str, Text, int]], opens: str = "") -> list[Tab]:
    """The tabs that hold something, the chosen one and "all". `opens`: the one that is shown first, if it holds any."""
    found = list(found)
    first = opens if any(str(name) == opens and count for name, _label, count in found) else ""
    show = view.request.GET.get("show", first)
    known = show if show in {str(name) for name, _label, _count in found} else ""
    return [
        Tab(str(name), label, count, f"{view.url}?show={name}" if name or first else view.url, str(name) == known)
        for name, label, count in found
        if count or not name or name == known
    ]


def table(view: View, kind: type[Rows], found: list[Tab], template: str) -> HttpResponse:
    """Answer with the rows of the chosen tab."""
    tab = next(tab for tab in found if tab.current)
    view.context["tabs"] = found
    rows = narrowed(Row.objects.filter(job=view.job).select_related("intent"), tab.name)
    names: Any = SimpleLazyObject(lambda: dict(Group.objects.values_list("membergroup_id", "membergroup_name")))
    listed = kind(view.request, rows, total=tab.count, job=view.job, groups=names)
    response: HttpResponse = listed.respond(template, view.context)
    return response


def sent(view: View, kind: type[Rows], template: str) -> HttpResponse:
    """The page of a job that was started: its progress, then what came of each row."""
    job, counts = view.job, queries.counts(view.job)
    uncertain = counts.state(RowState.UNCERTAIN)
    final, labels = job.state not in ALIVE, {RowState.SUCCEEDED: _("Done"), RowState.FAILED: _("Not applied")}
    labels |= kinds.of(job).labels
    attention = sum(counts.state(each) for each in (RowState.FAILED, RowState.UNCERTAIN, RowState.STOPPED))
    found = tabs(view, [
        (ATTENTION, _("Needs attention"), attention + counts.action(Action.REFUSED)),
        ("", _("All"), counts.rows),
        (RowState.SUCCEEDED, labels[RowState.SUCCEEDED], counts.state(RowState.SUCCEEDED)),
        (RowState.KEPT, _("Unchanged"), counts.state(RowState.KEPT)),
        (RowState.FAILED, labels[RowState.FAILED], counts.state(RowState.FAILED)),
        (RowState.UNCERTAIN, _("Uncertain"), uncertain),
        ("noted", _("Different from the preview"), queries.noted(job) if job.options.get("scheduled") else 0),
        (RowState.PENDING, _("Waiting"), counts.state(RowState.PENDING) + counts.state(RowState.SENT)),
        (RowState.STOPPED, _("Not sent"), counts.state(RowState.STOPPED)),
        (Action.REFUSED, _("Failed the check"), counts.action(Action.REFUSED)),
        (Action.SAME, _("Unchanged"), counts.action(Action.SAME)),
    ], opens=ATTENTION if final else "")  # fmt: skip
    undecided = (
        Row.objects.filter(job=job, state=RowState.UNCERTAIN).order_by("line") if uncertain else Row.objects.none()
    )
    view.context |= {
        "counts": counts,
        "progress": progressing.of_run(job, counts, view.connection),
        "final": final,
        "again": queries.not_applied(job).count() if final else 0,
        "stopped": job.state == JobState.STOPPED,
        "undecided": [(row, words.reasons(row, job)) for row in undecided],
        "uncertain": uncertain,
        "calls": costs.spent(job),
        "retries": list(job.retries.order_by("id")) if final else [],
    }
    return table(view, kind, found, template)
