"""Queries for the pages of areas, for the preview of an edit, and about rights that are not loaded."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Max, Min, OuterRef, Subquery
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.areas import actions, jobs
from portal.areas.access_counts import AccessCount
from portal.areas.merging import EditKind, EditResult
from portal.base.ui.chips import Chip
from portal.domain.budget import quota as budget
from portal.domain.budget.quota import Quota
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.intents.models import target_of
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import costs, kinds
from portal.domain.jobs.lists import job_chip
from portal.domain.jobs.models import Job, JobState
from portal.domain.people.models import Member
from portal.domain.places import queries
from portal.domain.places.models import Area, PassController
from portal.domain.rights import words
from portal.domain.sync.freshness import freshness_for
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.models import AuditEntry
from tenants.roles import Permission
from tenants.sentences import Sentence


@dataclass(frozen=True)
class LoadedRights:
    """The number of members with loaded rights, and the number of all members if their list is loaded."""

    known: int
    total: int
    is_list_loaded: bool = True

    @property
    def missing(self) -> int:
        return max(self.total - self.known, 0)

    @property
    def is_partial(self) -> bool:
        """Return whether counts may be too low."""
        return not self.is_list_loaded or self.missing > 0

    @property
    def missing_text(self) -> str:
        """Return the note beside a count; empty when everything is loaded."""
        if not self.is_list_loaded:
            return _("list of members not loaded")
        if not self.missing:
            return ""
        text = ngettext("rights of %(n)s member not loaded", "rights of %(n)s members not loaded", self.missing)
        return text % {"n": _formatted(self.missing)}

    def count_text(self, n: int, *, is_doubtful: bool = False) -> str:
        """Return a number of members as text, as "at least" if some may be missing.

        `is_doubtful` marks the number for another reason.
        """
        return _("at least %(n)s") % {"n": _formatted(n)} if self.is_partial or is_doubtful else _formatted(n)

    def cell_value(self, n: int, *, is_doubtful: bool = False) -> int | str:
        """Return the value of a table cell or file: the number, or a text if it is incomplete."""
        return self.count_text(n, is_doubtful=True) if self.is_partial or is_doubtful else n

    def summary(self, n: int | None = None) -> str:
        """Return count and note in one text, for the head of a list and the last line of its file.

        Empty when everything is loaded. Without `n`, only the note.
        """
        if not self.is_partial:
            return ""
        note = (
            self.missing_text
            if n is None
            else _("%(count)s: %(note)s") % {"count": self.count_text(n), "note": self.missing_text}
        )
        return note[:1].upper() + note[1:]


def _formatted(n: int) -> str:
    return number_format(n, force_grouping=True)


@dataclass(frozen=True)
class LoadOffer:
    """The cost of loading the missing rights, or the job that does it already."""

    reads: int
    cost: costs.Cost
    running: Job | None

    @property
    def href(self) -> str:
        return kinds.page_address(self.running) if self.running else ""


def make_offer(loaded: LoadedRights, hour: Quota | None) -> LoadOffer | None:
    """Return the offer to load missing rights; None if nothing is missing. `hour` is the remaining budget."""
    if not loaded.missing:
        return None
    reads = min(loaded.missing, job_actions.MAX_JOB_ROWS)
    return LoadOffer(reads, costs.cost_of_reads(reads, hour), jobs.running_load())


CHANGES = 10


@dataclass(frozen=True)
class AreaDoor:
    """A door of an area. `side` as in `places.queries.DoorArea`; `door` is None if it is not in the list of doors."""

    device_id: str
    side: str
    door: PassController | None

    def __str__(self) -> str:
        return str(self.door) if self.door else self.device_id


@dataclass(frozen=True)
class ReadingTimes:
    """When the oldest and the newest of the known rights were read."""

    oldest: datetime | None
    newest: datetime | None


def doors_of(areas: Iterable[Area], known: dict[str, PassController]) -> dict[str, list[AreaDoor]]:
    """Return the doors of each area by area_id, in the service's order."""
    states = queries.service_states()
    return {
        area.area_id: [
            AreaDoor(device_id, side, known.get(device_id)) for device_id, side in queries.doors_of_area(area, states)
        ]
        for area in areas
    }


def doors_by_id() -> dict[str, PassController]:
    """Return every door by device_id, each with the time of its latest record (`last_at`)."""
    log = History.objects.filter(device_id=OuterRef("device_id")).exclude(device_id="").order_by("-at", "-pk")
    doors = PassController.objects.annotate(last_at=Subquery(log.values("at")[:1]))
    return {door.device_id: door for door in doors}


def doors_of_area(area: Area) -> list[AreaDoor]:
    ids = [device_id for device_id, _ in queries.doors_of_area(area, queries.service_states())]
    known = {door.device_id: door for door in PassController.objects.filter(device_id__in=ids)}
    return doors_of([area], known)[area.area_id]


def rights_reading_times() -> ReadingTimes:
    """Return when members' rights were read. Oldest and newest are each at one end of an index, so this is fast."""
    read = Member.objects.filter(rights_read_at__isnull=False)
    return ReadingTimes(**read.aggregate(oldest=Min("rights_read_at"), newest=Max("rights_read_at")))


@dataclass(frozen=True)
class StaffChange:
    """A change of an area's access by staff, with the hours in words."""

    entry: AuditEntry
    when: str


def staff_changes(area: Area) -> list[StaffChange]:
    """Return the changes of the area's access by staff, newest first."""
    rows = AuditEntry.objects.filter(target=target_of("area", area.area_id)).select_related("by", "support_session")
    entries = list(rows.order_by("-at", "-pk")[:CHANGES])
    # Old entries contain the words themselves.
    return [
        StaffChange(entry, ((values := entry.after or {}) | audit_words(values)).get("when", "")) for entry in entries
    ]


def audit_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the hours in an audit entry in the reader's language."""
    return {"when": words.pass_text(values["pass"])} if "pass" in values else {}


JOBS = 5


@dataclass(frozen=True)
class AreaEdit:
    """An edit of the area as shown on its page."""

    job: Job
    title: Sentence
    chip: Chip
    href: str
    can_be_undone: bool

    @property
    def is_running(self) -> bool:
        return self.job.state in (JobState.RUNNING, JobState.WAITING)


def page_context(request: TenantRequest, area: Area) -> dict[str, Any]:
    """Return the area's doors, changes by staff, recent edits and the age of rights."""
    doors = doors_of_area(area)
    may_edit = request.access.can(Permission.RIGHTS_EDIT)
    edits = actions.edits_of(area).select_related("by", "tenant")
    return {
        "doors": doors,
        "changes": staff_changes(area),
        "read": rights_reading_times(),
        "may_edit": may_edit,
        "edits": [edit_of(job, may_edit) for job in edits.order_by("-id")[:JOBS]],
    }


def loaded_rights(request: TenantRequest, number: int) -> LoadedRights:
    """Return how many of the tenant's members have loaded rights, which is `number`, and how many members there are."""
    members = freshness_for(request)[MirrorKind.MEMBERS]
    return LoadedRights(number, members.total, is_list_loaded=members.as_of is not None)


def count_texts(loaded: LoadedRights, roll: AccessCount) -> dict[str, Any]:
    """Return the texts of an area's counts, in total and by kind, marked if incomplete."""
    may = loaded.count_text(roll.with_access, is_doubtful=roll.unknown > 0)
    shares = {name: loaded.count_text(getattr(roll, name)) for name in ("always", "schedule", "everywhere")}
    return {"may": may, "at_least": loaded.summary(roll.with_access), "shares": shares}


def load_offer(request: TenantRequest, loaded: LoadedRights) -> LoadOffer | None:
    """Return the offer to load missing rights, for people with the permission to spend calls on it."""
    may = request.access.can(Permission.RIGHTS_EDIT)
    return make_offer(loaded, budget.quota_of_page(request)) if may else None


def edit_of(job: Job, may_edit: bool) -> AreaEdit:
    back = may_edit and actions.can_be_undone(job)
    return AreaEdit(job, jobs.title_of(job), job_chip(job), kinds.page_address(job), back)


def preview_context(job: Job, area: Area) -> dict[str, Any]:
    """Return the counts and costs of a prepared edit."""
    counts, edit = job.options.get("plan", {}), jobs.edit_of_job(job)
    connection = current_connection()
    reads = counts.get("unread", 0) + counts.get("stale", 0)
    changing = counts.get(EditResult.CHANGES, 0) + counts.get(EditResult.LISTED, 0)
    return {
        "edit": edit,
        "when": words.pass_text(edit.pass_) if edit.kind == EditKind.GRANT else "",
        "changing": changing,
        "widened": counts.get(EditResult.LISTED, 0),
        "unread": counts.get("unread", 0),
        "stale": counts.get("stale", 0),
        "reads": reads,
        "left": list(_unchanged_texts(counts)),
        "cost": costs.cost_of_rows(connection, updates=changing + counts.get("unread", 0), reads=reads),
        "connected": connection.is_connected,
        "other_areas": Area.objects.exclude(pk=area.pk).count() if counts.get(EditResult.LISTED) else 0,
        "overlapping": _overlap_warning(job),
        "starts_at": job.starts_at,
        "until": datetime.fromisoformat(job.options["until"]) if job.options.get("until") else None,
        "again": _change_again(job, area),
    }


def _change_again(job: Job, area: Area) -> dict[str, Any] | None:
    """Return the address and hidden fields to edit the same members again; None for undo jobs."""
    chosen = dict(job.options.get("chosen") or {})
    if not chosen:
        return None
    listed = urlencode({"list": chosen.pop("list", "")})
    page_url = reverse(f"areas:{job.options['act']}", args=[job.tenant.slug, area.area_id])
    return {"url": f"{page_url}?{listed}", "fields": chosen}


def _unchanged_texts(counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield (result, text with the number) for the members that stay unchanged."""
    texts: dict[str, Callable[[int], str]] = {
        EditResult.UNCHANGED: lambda n: ngettext("%(n)d already has this", "%(n)d already have this", n),
        EditResult.OTHER_HOURS: lambda n: ngettext(
            "%(n)d keeps their existing hours here", "%(n)d keep their existing hours here", n
        ),
        EditResult.EVERYWHERE: lambda n: ngettext(
            "%(n)d keeps access to every area", "%(n)d keep access to every area", n
        ),
        EditResult.UNKNOWN: lambda n: ngettext(
            "%(n)d has an unknown setting and is skipped",
            "%(n)d have unknown settings and are skipped",
            n,
        ),
        EditResult.CHANGED_SINCE: lambda n: ngettext(
            "%(n)d was changed since and is skipped", "%(n)d were changed since and are skipped", n
        ),
    }
    for effect, text_of in texts.items():
        if n := counts.get(effect, 0):
            yield effect, text_of(n) % {"n": n}


def _overlap_warning(job: Job) -> str:
    """Return a warning if another edit of the same area is running, otherwise an empty text."""
    running = Job.objects.filter(
        kind=jobs.EDIT_KIND,
        options__area_id=job.options["area_id"],
        state__in=[JobState.RUNNING, JobState.WAITING],
    )
    found = running.exclude(pk=job.pk).select_related("tenant").first()
    if found is None:
        return ""
    return _("Another change to this area is running. Members it affects are skipped here and listed.")
