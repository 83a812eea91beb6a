"""What a tenant's overview brings together; each part only for those whose role may see it."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise

from portal.core.budget import outlook as budget
from portal.core.budget.outlook import Outlook
from portal.core.intents import queries as intents
from portal.core.intents.words import story
from portal.core.jobs import kinds
from portal.core.jobs.models import Job
from portal.core.jobs.states import JobState
from portal.core.mirror import freshness as mirror
from portal.core.mirror.freshness import Freshness
from portal.core.mirror.models import Member, PassController
from portal.core.ui import watching
from portal.core.ui.addresses import within
from portal.core.ui.chips import Chip
from portal.core.ui.outcomes import Outcome
from portal.core.visits.days import Day
from portal.core.visits.standing import LABELS, Standing
from portal.devices import queries
from portal.devices import queries as doors_of_tenant
from portal.members import leavers
from portal.today import queries as desk
from portal.today.boards import State
from tenants.access import Access, TenantRequest
from tenants.models import AuditEntry, Connection
from tenants.roles import Permission
from tenants.trail import queries as trail
from tenants.wording import Said

_FEW = 5
_LOUD = 12
_SOON = timedelta(days=14)
_COUNTED = 1_000
# What a manager asks of the day at the desk; the rest is told there.
_ASKED_OF_GUESTS = (Standing.OVERDUE, Standing.EXPECTED, Standing.HERE, Standing.LEFT)


@dataclass(frozen=True)
class Doors:
    """The doors at a glance: those that need somebody, with their state, how many more do, and how many there are."""

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
class Ending:
    """Members whose use ends soon: the first of them, and how many (at most _COUNTED + 1)."""

    members: list[Member]
    number: int

    @property
    def is_more(self) -> bool:
        return self.number > _COUNTED


@dataclass(frozen=True)
class Home:
    connection: Connection | None
    fresh: Freshness | None = None
    budget: Outlook | None = None
    doors: Doors | None = None
    guests: list[Count] | None = None
    ending: Ending | None = None
    undecided: list[Outcome] = field(default_factory=list)
    under_way: list[Outcome] = field(default_factory=list)
    jobs: list[Running] = field(default_factory=list)
    changes: list[AuditEntry] = field(default_factory=list)
    log_url: str = ""  # empty for whoever may not see the activity log

    @property
    def needs_somebody(self) -> bool:
        return bool(self.undecided or (self.doors and self.doors.loud))

    @property
    def seen(self) -> str:
        """What the part that follows by itself is known by."""
        doors, ending = self.doors, self.ending
        return watching.mark(
            doors and (doors.total, doors.unread, doors.more, [(d.pk, d.state, d.known_at) for d, _chip in doors.loud]),
            [(each.number, each.href) for each in self.guests or ()],
            ending and (ending.number, [member.pk for member in ending.members]),
            [(story.id, story.state) for story in self.undecided + self.under_way],
            [(job.href, job.state, job.starts_at) for job in self.jobs],
        )


def now(request: TenantRequest) -> Home:
    """What moves by itself while somebody looks: what needs somebody, doors, guests, running work, what ends soon."""
    access = request.access
    asked = _asked() if access.can(Permission.AUDIT_VIEW) else []
    return Home(
        connection=getattr(access.tenant, "connection", None),
        doors=_doors() if access.can(Permission.DEVICES_VIEW) else None,
        guests=_guests(access) if access.can(Permission.GUESTS_VIEW) else None,
        ending=_ending() if access.can(Permission.MEMBERS_VIEW) else None,
        undecided=[one for one in asked if one.state == "uncertain"][:_FEW],
        under_way=[one for one in asked if one.state != "uncertain"][:_FEW],
        jobs=_jobs(access),
        log_url=within("logs:index", access.tenant.slug) if access.can(Permission.LOGS_TODAY) else "",
    )


def home(request: TenantRequest) -> Home:
    """The overview of the request's tenant, as this person may see it."""
    access = request.access
    return replace(
        now(request),
        fresh=mirror.known(request) if access.can(Permission.MEMBERS_VIEW) else None,
        budget=budget.known(request) if access.can(Permission.CONNECTION_VIEW) else None,
        changes=trail.newest(8) if access.can(Permission.AUDIT_VIEW) else [],
    )


def _asked() -> list[Outcome]:
    """The newest of what is under way or needs a decision."""
    return [story(intent) for intent in intents.open_ones().select_related("tenant")[: 4 * _FEW]]


def _doors() -> Doors:
    known = list(doors_of_tenant.by_calm())
    loud = [(door, queries.state_of(door)) for door in known if door.attention]
    return Doors(len(known), sum(door.known_at is None for door in known), loud[:_LOUD], max(0, len(loud) - _LOUD))


def _guests(access: Access) -> list[Count]:
    """Today's guests; none at all is an empty list."""
    day = Day.today()
    found = desk.counts(desk.of_day(day, timezone.now()))
    page = reverse("guests:index", args=[access.tenant.slug])
    shown = [one for one in _ASKED_OF_GUESTS if found.get(one) or one != Standing.OVERDUE]
    return [
        Count(LABELS[one], found.get(one, 0), page + State(day).query(show=str(one)), one == Standing.OVERDUE)
        for one in (shown if found else ())
    ]


def _ending() -> Ending:
    until = int((timezone.now() + _SOON).timestamp())
    rows = leavers.rows_of(leavers.Which.ENDING).filter(use_end_key__lte=until)
    first = list(rows.order_by("use_end_key", "pk")[: _FEW + 1])
    return Ending(first[:_FEW], len(first) if len(first) <= _FEW else rows.order_by()[: _COUNTED + 1].count())


def _jobs(access: Access) -> list[Running]:
    """Long jobs that are at work or wait for their moment, of those kinds that this person may run."""
    at_work = Job.objects.filter(
        state__in=[JobState.MAPPED, JobState.WAITING, JobState.RUNNING], permission__in=access.permissions
    )
    found = at_work.select_related("tenant").order_by("-pk")[:_FEW]
    return [
        Running(kinds.kind_of(job).titled(job), kinds.page(job), JobState(job.state), job.starts_at) for job in found
    ]
