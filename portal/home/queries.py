"""What a tenant's overview brings together; each part only for those whose role may see it."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise

from portal.core.budget import outlook as budget
from portal.core.budget.outlook import Outlook
from portal.core.inside.ways import ways
from portal.core.jobs import kinds
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import JobState, RowState
from portal.core.log import filters, visible
from portal.core.mirror import freshness as mirror
from portal.core.mirror.coverage import Coverage
from portal.core.mirror.freshness import Freshness
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member, PassController
from portal.core.ui import together, watching
from portal.core.ui.addresses import within
from portal.core.ui.chips import Chip
from portal.core.visits.days import Day
from portal.core.visits.standing import LABELS, Standing
from portal.devices.queries import state_of as state_of_door
from portal.home import attention, entries, figures, inside, steps
from portal.home.attention import Line
from portal.home.entries import Entries
from portal.home.figures import Figures, as_stored
from portal.home.inside import Inside
from portal.home.steps import Step
from portal.today.boards import State
from tenants.access import Access, TenantRequest
from tenants.models import Connection
from tenants.postgresql.edges import moment
from tenants.roles import Permission
from tenants.wording import Said

# Long jobs that are looked at, the newest; of those at work so many are shown.
_MOST_JOBS, _FEW = 50, 5
# For so long after its end, a job whose rows were not all applied is told of.
_LATELY = timedelta(days=14)
# What a manager asks of the day at the desk; the rest is told there.
_ASKED_OF_GUESTS = (Standing.OVERDUE, Standing.EXPECTED, Standing.HERE, Standing.LEFT)
_ARRIVED = (Standing.OVERDUE, Standing.HERE, Standing.LEFT)


@dataclass(frozen=True)
class Doors:
    """The doors that stand out, each with its state; `more` of them are not listed, and how many there are at all."""

    total: int
    unread: int
    loud: list[tuple[PassController, Chip]]
    more: int


@dataclass(frozen=True)
class Running:
    """A long job under way, or waiting for `starts_at`."""

    title: Said | str
    href: str
    state: JobState
    starts_at: datetime | None


@dataclass(frozen=True)
class Count:
    """How many guests of today stand so, and where they are listed."""

    label: str | Promise
    number: int
    href: str
    loud: bool = False


@dataclass(frozen=True)
class Guests:
    """Today's guests: how many of those who were expected have arrived, and how many stand how. `why` there are none
    that are known of.
    """

    arrived: int
    due: int
    counts: list[Count]
    why: str


@dataclass(frozen=True)
class Ending:
    """Members whose use ends soon: the first of them, and how many (more than MOST were not counted). `why` there are
    none that are known of.
    """

    members: list[Member]
    number: int
    why: str

    @property
    def words(self) -> str:
        return attention.counted(self.number)


@dataclass(frozen=True)
class Home:
    """What is shown. `as_of`: when anything of it was last learned; `doubts`: what of it is not known."""

    connection: Connection | None
    as_of: datetime | None = None
    lines: list[Line] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    steps: list[Step] | None = None  # of a tenant of which nothing is known yet, in place of everything else
    inside: Inside | None = None
    entries: Entries | None = None
    doors: Doors | None = None
    guests: Guests | None = None
    ending: Ending | None = None
    under_way: int = 0
    jobs: list[Running] = field(default_factory=list)
    fresh: Freshness | None = None
    budget: Outlook | None = None
    log_url: str = ""  # empty for whoever may not see the activity log

    @property
    def is_urgent(self) -> bool:
        return any(line.tone != "quiet" for line in self.lines)

    @property
    def seen(self) -> str:
        """What the part that follows by itself is known by."""
        return watching.mark(
            self.as_of, self.lines, self.doubts, self.steps, self.inside, self.under_way,
            self.entries and self.entries.chart,
            self.doors and (self.doors.total, [(d.device_id, d.since, chip) for d, chip in self.doors.loud]),
            self.guests and [(each.number, each.href) for each in self.guests.counts],
            self.ending and (self.ending.number, [each.member_id for each in self.ending.members]),
            [(job.href, job.state, job.starts_at) for job in self.jobs],
        )  # fmt: skip


def now(request: TenantRequest) -> Home:
    """What moves by itself while somebody looks."""
    access, at = request.access, timezone.now()
    for name in (inside.AREAS, _JOBS):
        together.want(request, name)
    log = filters.coverage_of(request)
    fresh = mirror.known(request)
    known = ways(together.told(request, inside.AREAS))
    found = figures.figures(access, at, known)
    home = Home(connection=getattr(access.tenant, "connection", None))
    if steps.is_new(access, found):
        return replace(home, steps=steps.steps(access, fresh))
    jobs = _jobs(request)
    return replace(
        home,
        as_of=_as_of(access, found, fresh),
        lines=attention.lines(access, found, [job for job in jobs if job.state in _OVER]),
        doubts=attention.doubts(access, found, fresh, at),
        inside=inside.told(access, found, fresh, known),
        entries=_entries(access, found, log, at),
        doors=_doors(access, found),
        guests=_guests(access, found, _why(request, Kind.GUESTS)),
        ending=_ending(access, found, _why(request, Kind.MEMBERS)),
        under_way=found.number("under_way") if access.can(Permission.AUDIT_VIEW) else 0,
        jobs=[_running(job) for job in jobs if job.state not in _OVER][:_FEW],
        log_url=within("logs:index", access.tenant.slug) if visible.may_look(access) else "",
    )


def home(request: TenantRequest) -> Home:
    """The overview of the request's tenant, as this person may see it."""
    access = request.access
    return replace(
        now(request),
        fresh=mirror.known(request) if access.can(Permission.MEMBERS_VIEW) else None,
        budget=budget.known(request) if access.can(Permission.CONNECTION_VIEW) else None,
    )


def _as_of(access: Access, found: Figures, fresh: Freshness) -> datetime | None:
    """When anything that is shown was last learned."""
    log = fresh[Kind.HISTORIES].as_of if visible.may_look(access) else None
    learned = [found.told.get("doors_at"), log, fresh.last_sync]
    return max((each for each in learned if each is not None), default=None)


def _entries(access: Access, found: Figures, log: Coverage, at: datetime) -> Entries | None:
    if not found.number("any_passed"):  # nobody passed yet, or the log was not counted yet
        return None
    return entries.entries(entries.days(access, at), found.rows("entries"), log, at)


def _doors(access: Access, found: Figures) -> Doors | None:
    if not found.has("doors"):
        return None
    states = access.tenant.environment.catalogue.states
    loud = [(door, state_of_door(door, states)) for door in found.doors]
    more = sum(found.door_states.values()) - len(loud)
    return Doors(found.number("doors"), found.number("unread"), loud, more)


def _why(request: TenantRequest, kind: Kind) -> str:
    """Return why an empty list tells nothing; empty where it does."""
    why = mirror.absence(request, kind)
    return why.text if why else ""


def _guests(access: Access, found: Figures, why: str) -> Guests | None:
    if not found.has("standings"):
        return None
    there, page = found.standings, reverse("guests:index", args=[access.tenant.slug])
    shown = [one for one in _ASKED_OF_GUESTS if there.get(one) or one != Standing.OVERDUE]
    counts = [
        Count(LABELS[one], there.get(one, 0), page + State(Day.today()).query(show=str(one)), one == Standing.OVERDUE)
        for one in (shown if there else ())
    ]
    arrived = sum(there.get(one, 0) for one in _ARRIVED)
    return Guests(arrived, arrived + there.get(Standing.EXPECTED, 0), counts, why)


def _ending(access: Access, found: Figures, why: str) -> Ending | None:
    if not found.has("ending"):
        return None
    first = found.rows("ending_first") if attention.names_people(access) else []
    rows = [each | {"use_date_end": moment(each["use_date_end"])} for each in first]
    return Ending([Member(**each) for each in rows], found.number("ending"), why)


_JOBS = "jobs_lately"
_AT_WORK = (JobState.MAPPED, JobState.WAITING, JobState.RUNNING)
_OVER = (JobState.DONE, JobState.STOPPED)
_NOT_APPLIED = (RowState.FAILED, RowState.UNCERTAIN)


def _lately() -> QuerySet[Job]:
    """Long jobs that are at work or wait, or that are lately over with rows not applied: the newest of them."""
    left = Row.objects.filter(job=OuterRef("pk"), state__in=_NOT_APPLIED, retried_in=None)
    over = Q(state__in=_OVER, finished_at__gte=Now() - _LATELY) & Q(Exists(left))
    return Job.objects.filter(Q(state__in=_AT_WORK) | over).defer("headings").order_by("-pk")[:_MOST_JOBS]


def _jobs(request: TenantRequest) -> list[Job]:
    """Return those of the kinds that this person may run."""
    found = [job for job in together.told(request, _JOBS) if job.permission in request.access.permissions]
    for job in found:
        job.tenant, job.title = request.tenant, as_stored(job.title)
    return found


def register() -> None:
    together.ask(_JOBS, _lately, everywhere=False)


def _running(job: Job) -> Running:
    return Running(kinds.kind_of(job).titled(job), kinds.page(job), JobState(job.state), job.starts_at)
