"""Load the data of a tenant's overview page. Each part is only loaded for people whose role may see it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from portal.base.ui import batching, live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.url_lookup import url_in_tenant
from portal.devices.queries import state_of as state_of_door
from portal.domain.events import MirrorKind
from portal.domain.history import filters, visibility
from portal.domain.history.coverage import Coverage
from portal.domain.jobs import kinds
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.people.models import Member
from portal.domain.places.models import PassController
from portal.domain.presence import people
from portal.domain.presence.people import DoorDirections, Headcount, load_door_directions
from portal.domain.sync import freshness as mirror
from portal.domain.sync.freshness import Freshness
from portal.domain.visits.days import Day
from portal.domain.visits.visit_status import LABELS, VisitStatus
from portal.home import attention, figures, setup_steps
from portal.home.attention import AttentionLine
from portal.home.figures import Entries, OverviewFigures, compared_days, entries_today, stored_title
from portal.home.setup_steps import SetupStep
from portal.today.boards import BoardView
from tenants.access import Access, TenantRequest
from tenants.models import Connection
from tenants.postgresql.date_limits import moment_from_json
from tenants.roles import Permission
from tenants.sentences import Sentence

AREAS_QUERY = "areas_with_doors"


@dataclass(frozen=True)
class PresenceSummary:
    """People in the building. `areas` has the number of members by the area that they entered last, and of guests.

    `complete_until`: until when the log is complete; the number of members is based on it.
    """

    headline: str
    certainty: str
    areas: list[tuple[str, int, str]]
    complete_until: str
    href: str
    roll_call_url: str


def presence_summary(
    access: Access, found: OverviewFigures, fresh: Freshness, known: DoorDirections
) -> PresenceSummary | None:
    """Return the summary of who is in the building; None for people who may not see members."""
    if not found.has("last_doors"):
        return None
    slug, through = access.tenant.slug, fresh[MirrorKind.HISTORIES].as_of
    leaving = found.number("guests_going")
    guests = Headcount(found.number("guests_in") - leaving, leaving + found.number("guests_unmarked"))
    members = people.headcount_of(found.last_doors, known)
    may_look = access.can(Permission.ROLL_CALL_VIEW)
    return PresenceSummary(
        (members + guests).headline(through),
        (members + guests).certainty_text,
        _inside_by_area(found.last_doors, guests.total, known),
        people.log_complete_text(through),
        url_in_tenant("guests:building", slug),
        url_in_tenant("rollcall:index", slug) if may_look else "",
    )


# How many areas are named for the people in the building.
_AREAS = 6


def _inside_by_area(last_doors: Mapping[str, int], guests: int, known: DoorDirections) -> list[tuple[str, int, str]]:
    """Return how many members are in each area, most first, elsewhere or in an unknown one; and how many guests.

    Each with the query of its list on the page of people in the building.
    """
    counted: Counter[str] = Counter()
    for door, number in last_doors.items():
        if door not in known.exits:
            counted[known.area_of(door)] += number
    unknown = counted.pop("", 0)
    named = [(name, number, urlencode({"area": name})) for name, number in counted.most_common()]
    rest = [
        (_("Other areas"), sum(number for _name, number, _query in named[_AREAS:]), ""),
        (_("Area unknown"), unknown, ""),
        (str(people.PersonKind.GUEST.label), guests, "who=guest"),
    ]
    return [*named[:_AREAS], *(line for line in rest if line[1])]


# How many of the newest jobs are loaded, and how many running jobs are shown.
_MOST_JOBS, _FEW = 50, 5
# How long after its end a job with failed rows is still shown.
_RECENT = timedelta(days=14)
# The visit statuses that the overview counts; the guests page shows all of them.
_SHOWN_STATUSES = (VisitStatus.OVERDUE, VisitStatus.EXPECTED, VisitStatus.HERE, VisitStatus.LEFT)
_ARRIVED = (VisitStatus.OVERDUE, VisitStatus.HERE, VisitStatus.LEFT)


@dataclass(frozen=True)
class DoorSummary:
    """The doors that need attention, each with its state. `more`: how many of them are not listed."""

    total: int
    unread: int
    urgent: list[tuple[PassController, Chip]]
    more: int


@dataclass(frozen=True)
class RunningJob:
    """A job that is running, or waiting for `starts_at`."""

    title: Sentence | str
    href: str
    state: JobState
    starts_at: datetime | None


@dataclass(frozen=True)
class GuestCount:
    """The number of today's guests with one visit status, and the address of their list."""

    label: str | Promise
    number: int
    href: str
    is_urgent: bool = False


@dataclass(frozen=True)
class GuestSummary:
    """Today's guests: arrivals, expected arrivals and counts by status. `unknown_reason`: why there are no figures."""

    arrived: int
    expected: int
    counts: list[GuestCount]
    unknown_reason: str


@dataclass(frozen=True)
class EndingMembers:
    """Members whose use period ends soon: the first of them, and their number up to MOST.

    `unknown_reason`: why there are no figures.
    """

    members: list[Member]
    number: int
    unknown_reason: str

    @property
    def count_text(self) -> str:
        return attention.bounded_number(self.number)


@dataclass(frozen=True)
class Overview:
    """The data of the overview page. `as_of`: when the newest of it was loaded; `unknowns`: which data is missing."""

    connection: Connection | None
    as_of: datetime | None = None
    lines: list[AttentionLine] = field(default_factory=list)
    unknowns: list[str] = field(default_factory=list)
    steps: list[SetupStep] | None = None  # only for a tenant without any data; shown instead of everything else
    presence: PresenceSummary | None = None
    entries: Entries | None = None
    doors: DoorSummary | None = None
    guests: GuestSummary | None = None
    ending: EndingMembers | None = None
    open_requests: int = 0
    jobs: list[RunningJob] = field(default_factory=list)
    freshness: Freshness | None = None
    log_url: str = ""  # empty for people who may not see the activity log

    @property
    def is_urgent(self) -> bool:
        return any(line.tone != "quiet" for line in self.lines)

    @property
    def version(self) -> str:
        """Return the version of the part that is updated automatically."""
        return live_updates.version_of(
            self.as_of, self.lines, self.unknowns, self.steps, self.presence, self.open_requests,
            self.entries and self.entries.chart,
            self.doors and (self.doors.total, [(d.device_id, d.since, chip) for d, chip in self.doors.urgent]),
            self.guests and [(each.number, each.href) for each in self.guests.counts],
            self.ending and (self.ending.number, [each.member_id for each in self.ending.members]),
            [(job.href, job.state, job.starts_at) for job in self.jobs],
        )  # fmt: skip


def live_overview(request: TenantRequest) -> Overview:
    """Return the part of the overview that is updated automatically while the page is open."""
    access, at = request.access, timezone.now()
    for name in (AREAS_QUERY, JOBS_QUERY):
        batching.prefetch(request, name)
    log = filters.coverage_of(request)
    fresh = mirror.freshness_for(request)
    known = load_door_directions(batching.load_rows(request, AREAS_QUERY))
    found = figures.count_figures(access, at, known)
    home = Overview(connection=getattr(access.tenant, "connection", None))
    if setup_steps.is_new(access, found):
        return replace(home, steps=setup_steps.setup_steps(access, fresh))
    jobs = _jobs(request)
    return replace(
        home,
        as_of=_as_of(access, found, fresh),
        lines=attention.attention_lines(access, found, [job for job in jobs if job.state in _FINISHED]),
        unknowns=attention.unknowns(access, found, fresh, at),
        presence=presence_summary(access, found, fresh, known),
        entries=_entries(access, found, log, at),
        doors=_doors(access, found),
        guests=_guests(access, found, _unknown_reason(request, MirrorKind.GUESTS)),
        ending=_ending(access, found, _unknown_reason(request, MirrorKind.MEMBERS)),
        open_requests=found.number("under_way") if access.can(Permission.AUDIT_VIEW) else 0,
        jobs=[_running_job(job) for job in jobs if job.state not in _FINISHED][:_FEW],
        log_url=url_in_tenant("history:index", access.tenant.slug) if visibility.may_view_log(access) else "",
    )


def overview(request: TenantRequest) -> Overview:
    """Return the overview of the request's tenant, as far as this person may see it."""
    access = request.access
    return replace(
        live_overview(request),
        freshness=mirror.freshness_for(request) if access.can(Permission.MEMBERS_VIEW) else None,
    )


def _as_of(access: Access, found: OverviewFigures, fresh: Freshness) -> datetime | None:
    """Return when the newest data on the page was loaded."""
    log = fresh[MirrorKind.HISTORIES].as_of if visibility.may_view_log(access) else None
    learned = [found.values.get("doors_at"), log, fresh.last_sync]
    return max((each for each in learned if each is not None), default=None)


def _entries(access: Access, found: OverviewFigures, log: Coverage, at: datetime) -> Entries | None:
    if not found.number("any_passed"):  # no one has passed yet, or the log has not been counted yet
        return None
    return entries_today(compared_days(access, at), found.rows("entries"), log, at)


def _doors(access: Access, found: OverviewFigures) -> DoorSummary | None:
    if not found.has("doors"):
        return None
    states = access.tenant.environment.catalogue.states
    loud = [(door, state_of_door(door, states)) for door in found.doors]
    more = sum(found.door_states.values()) - len(loud)
    return DoorSummary(found.number("doors"), found.number("unread"), loud, more)


def _unknown_reason(request: TenantRequest, kind: MirrorKind) -> str:
    """Return why a list may be empty although there are rows; empty if the list is reliable."""
    why = mirror.absence(request, kind)
    return why.text if why else ""


def _guests(access: Access, found: OverviewFigures, why: str) -> GuestSummary | None:
    if not found.has("statuses"):
        return None
    counts_by_status, page = found.statuses, reverse("guests:index", args=[access.tenant.slug])
    statuses = [one for one in _SHOWN_STATUSES if counts_by_status.get(one) or one != VisitStatus.OVERDUE]
    counts = [
        GuestCount(
            LABELS[one],
            counts_by_status.get(one, 0),
            page + BoardView(Day.today()).query(show=str(one)),
            one == VisitStatus.OVERDUE,
        )
        for one in (statuses if counts_by_status else ())
    ]
    arrived = sum(counts_by_status.get(one, 0) for one in _ARRIVED)
    return GuestSummary(arrived, arrived + counts_by_status.get(VisitStatus.EXPECTED, 0), counts, why)


def _ending(access: Access, found: OverviewFigures, why: str) -> EndingMembers | None:
    if not found.has("ending"):
        return None
    first = found.rows("ending_first") if attention.may_name_people(access) else []
    rows = [each | {"use_date_end": moment_from_json(each["use_date_end"])} for each in first]
    return EndingMembers([Member(**each) for each in rows], found.number("ending"), why)


JOBS_QUERY = "jobs_lately"
_AT_WORK = (JobState.MAPPED, JobState.WAITING, JobState.RUNNING)
_FINISHED = (JobState.DONE, JobState.STOPPED)
_NOT_APPLIED = (RowState.FAILED, RowState.UNCERTAIN)


def recent_jobs() -> QuerySet[Job]:
    """Return the newest jobs that are running, waiting, or lately finished with failed rows."""
    left = Row.objects.filter(job=OuterRef("pk"), state__in=_NOT_APPLIED, retried_in=None)
    over = Q(state__in=_FINISHED, finished_at__gte=Now() - _RECENT) & Q(Exists(left))
    return Job.objects.filter(Q(state__in=_AT_WORK) | over).defer("headings").order_by("-pk")[:_MOST_JOBS]


def _jobs(request: TenantRequest) -> list[Job]:
    """Return the recent jobs whose kind this person may run."""
    found = [job for job in batching.load_rows(request, JOBS_QUERY) if job.permission in request.access.permissions]
    for job in found:
        job.tenant, job.title = request.tenant, stored_title(job.title)
    return found


def _running_job(job: Job) -> RunningJob:
    return RunningJob(kinds.kind_of(job).title_of(job), kinds.page_address(job), JobState(job.state), job.starts_at)
