"""What stands around the list of an area's people, and what the preview of an edit tells."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.areas import actions, loading, queries, working
from portal.areas.merging import Act, Effect
from portal.core.budget import frame as budget
from portal.core.jobs import costs, kinds
from portal.core.jobs.lists import job_chip
from portal.core.jobs.models import Job
from portal.core.jobs.states import JobState
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Area
from portal.core.rights import words
from portal.core.ui.chips import Chip
from tenants.connections.service import current_connection
from tenants.roles import Permission

JOBS = 5


@dataclass(frozen=True)
class Edit:
    """An edit of the area as its page lists it."""

    job: Job
    title: str
    chip: Chip
    href: str
    can_be_taken_back: bool

    @property
    def is_under_way(self) -> bool:
        return self.job.state in (JobState.RUNNING, JobState.WAITING)


def around(request: HttpRequest, area: Area) -> dict[str, Any]:
    """Doors, who came lately, what staff changed, and as of when rights are known."""
    doors = queries.controllers_of(area)
    may_edit = request.access.can(Permission.RIGHTS_EDIT)  # type: ignore[attr-defined]
    jobs = actions.edits_of(area).select_related("by", "tenant")
    return {
        "doors": doors,
        "lately": queries.entered_lately(doors),
        "changes": queries.staff_changes(area),
        "read": queries.rights_read(),
        "may_edit": may_edit,
        "edits": [edit_of(job, may_edit) for job in jobs.order_by("-id")[:JOBS]],
    }


def everybody(request: HttpRequest) -> int:
    """How many members the tenant has, whether their rights are known or not."""
    return known(request)[Kind.MEMBERS].total


def offer(request: HttpRequest, loaded: loading.Loaded) -> loading.Offer | None:
    """To load what is missing, for whoever may spend calls on it."""
    may = request.access.can(Permission.RIGHTS_EDIT)  # type: ignore[attr-defined]
    return loading.offer(loaded, budget.known(request)) if may else None


def edit_of(job: Job, may_edit: bool) -> Edit:
    back = may_edit and actions.can_be_taken_back(job)
    return Edit(job, working.titled(job), job_chip(job), kinds.page(job), back)


def preview(job: Job, area: Area) -> dict[str, Any]:
    """The counts and costs of a prepared edit, in sentences."""
    told, wish = job.options.get("plan", {}), working.wish_of(job)
    connection = current_connection()
    reads = told.get("unread", 0) + told.get("stale", 0)
    changing = told.get(Effect.CHANGES, 0) + told.get(Effect.WIDENED, 0)
    return {
        "wish": wish,
        "when": words.when(wish.pass_) if wish.act == Act.GRANT else "",
        "changing": changing,
        "widened": told.get(Effect.WIDENED, 0),
        "unread": told.get("unread", 0),
        "stale": told.get("stale", 0),
        "reads": reads,
        "left": list(_left(told)),
        "cost": costs.of_rows(connection, updates=changing + told.get("unread", 0), reads=reads),
        "connected": connection.is_connected,
        "other_areas": Area.objects.exclude(pk=area.pk).count() if told.get(Effect.WIDENED) else 0,
        "overlapping": _overlapping(job),
        "starts_at": job.starts_at,
        "until": datetime.fromisoformat(job.options["until"]) if job.options.get("until") else None,
        "again": _again(job, area),
    }


def _again(job: Job, area: Area) -> dict[str, Any] | None:
    """Where, and with which hidden fields, the same members are asked about again; None for what undoes."""
    chosen = dict(job.options.get("chosen") or {})
    if not chosen:
        return None
    listed = urlencode({"list": chosen.pop("list", "")})
    there = reverse(f"areas:{job.options['act']}", args=[job.tenant.slug, area.area_id])
    return {"url": f"{there}?{listed}", "fields": chosen}


def _left(told: dict[str, int]) -> Any:
    """(how many, in words) of the members that stay as they are."""
    said = {
        Effect.SAME: lambda n: ngettext("%(n)d already has this", "%(n)d already have this", n),
        Effect.OTHER_HOURS: lambda n: ngettext(
            "%(n)d keeps their existing hours here", "%(n)d keep their existing hours here", n
        ),
        Effect.EVERYWHERE: lambda n: ngettext("%(n)d keeps access to every area", "%(n)d keep access to every area", n),
        Effect.UNKNOWN: lambda n: ngettext(
            "%(n)d has an unknown setting and is skipped",
            "%(n)d have unknown settings and are skipped",
            n,
        ),
        Effect.NOT_OURS: lambda n: ngettext(
            "%(n)d was changed since and is skipped", "%(n)d were changed since and are skipped", n
        ),
    }
    for effect, words_ in said.items():
        if n := told.get(effect, 0):
            yield effect, words_(n) % {"n": n}


def _overlapping(job: Job) -> str:
    """Another edit of the same area that is under way: what it changes is changed meanwhile for this one."""
    running = Job.objects.filter(
        kind=working.KIND, options__area_id=job.options["area_id"], state__in=[JobState.RUNNING, JobState.WAITING]
    )
    found = running.exclude(pk=job.pk).select_related("tenant").first()
    if found is None:
        return ""
    return _("Another change to this area is running. Members it affects are skipped here and listed.")
