"""What the page of one list shows: its dry run, and then what came of it."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.core.budget.frame import known
from portal.core.intents import nonces
from portal.expected import columns, progressing, queries
from portal.expected.models import ExpectedList, ListState
from portal.expected.queries import Counts
from portal.expected.tables import CheckedRows, SentRows, chip

Text = str | Promise


@dataclass(frozen=True)
class Tab:
    """A way of looking at the rows, with how many there are."""

    name: str
    label: Text
    count: int
    href: str
    current: bool


def respond(request: HttpRequest, job: ExpectedList) -> HttpResponse:
    """The page as the list's state wants it."""
    if job.erased_at is not None:
        return render(request, "guests/expected/erased.html", {"job": job, "chip": chip(job)})
    found, hour = queries.counts(job), known(request)
    shown: dict[str, Any] = {"job": job, "chip": chip(job), "counts": found}
    shown["connected"] = hour is not None
    if job.state == ListState.CHECKED:
        shown |= {
            "minutes": progressing.minutes(found.ready, hour),
            "same_file": queries.same_file(job),
            "left_out": columns.unknown(job.headings),
            "nonce": nonces.new(request),
        }
        tabs = _tabs(request, job, _of_check(found))
        return _table(request, job, CheckedRows, tabs, shown, "guests/expected/checked.html")
    final = job.state != ListState.RUNNING
    shown |= {
        "progress": progressing.of(job, found, hour),
        "final": final,
        "stopped": job.state == ListState.STOPPED,
        "to_correct": queries.not_issued(job).count() if final else 0,
    }
    return _table(request, job, SentRows, _tabs(request, job, _of_run(found)), shown, "guests/expected/sent.html")


def _of_check(found: Counts) -> list[tuple[str, Text, int]]:
    return [
        ("", _("All"), found.rows),
        ("ready", _("New codes"), found.ready),
        ("doubles", _("Likely doubles"), found.doubles),
        ("refused", _("Failed the check"), found.refused),
    ]


def _of_run(found: Counts) -> list[tuple[str, Text, int]]:
    return [
        ("", _("All"), found.rows),
        ("issued", _("Issued"), found.issued),
        ("failed", _("Not issued"), found.failed),
        ("uncertain", _("Uncertain"), found.uncertain),
        ("waiting", _("Waiting"), found.waiting),
        ("left_out", _("Not sent"), found.left_out),
        ("refused", _("Failed the check"), found.refused),
    ]


def _tabs(request: HttpRequest, job: ExpectedList, found: list[tuple[str, Text, int]]) -> list[Tab]:
    """The tabs that hold something, the chosen one and "all"."""
    url = reverse("guests:expected_page", args=[job.tenant.slug, job.pk])
    show = request.GET.get("show", "")
    known = show if show in {name for name, _label, _count in found} else ""
    return [
        Tab(name, label, count, f"{url}?show={name}" if name else url, name == known)
        for name, label, count in found
        if count or not name or name == known
    ]


def _table(
    request: HttpRequest, job: ExpectedList, kind: Any, tabs: list[Tab], shown: dict[str, Any], template: str
) -> HttpResponse:
    tab = next(tab for tab in tabs if tab.current)
    table = kind(request, queries.rows(job, tab.name), total=tab.count)
    answer: HttpResponse = table.respond(template, shown | {"tabs": tabs})
    return answer
