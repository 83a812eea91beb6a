"""What a tenant's home brings together; each part only for those whose role may see it."""

from dataclasses import dataclass, field
from datetime import datetime

from django.http import HttpRequest

from portal.budget import frame as budget
from portal.budget.outlook import Outlook
from portal.bulk import kinds
from portal.bulk.models import Job
from portal.bulk.states import JobState
from portal.devices import states
from portal.intents import queries as intents
from portal.intents.words import story
from portal.mirror import frame as mirror
from portal.mirror.freshness import Freshness
from portal.mirror.models import PassController
from portal.ui.chips import Chip
from portal.ui.outcomes import Outcome
from tenants.access import Access
from tenants.models import AuditEntry, Connection
from tenants.roles import Permission

_FEW = 5


@dataclass(frozen=True)
class Doors:
    """The doors at a glance: those that need somebody, with their state, and how many there are."""

    total: int
    unread: int
    loud: list[tuple[PassController, Chip]]


@dataclass(frozen=True)
class Running:
    """A long job under way, or waiting for `starts_at`."""

    title: str
    href: str
    state: JobState
    starts_at: datetime | None


@dataclass(frozen=True)
class Home:
    connection: Connection | None
    fresh: Freshness | None = None
    budget: Outlook | None = None
    doors: Doors | None = None
    undecided: list[Outcome] = field(default_factory=list)
    under_way: list[Outcome] = field(default_factory=list)
    jobs: list[Running] = field(default_factory=list)
    changes: list[AuditEntry] = field(default_factory=list)


def home(request: HttpRequest) -> Home:
    """The home of the request's tenant, as this person may see it."""
    access: Access = request.access
    sees_asked = access.can(Permission.AUDIT_VIEW)
    asked = _asked() if sees_asked else []
    return Home(
        connection=getattr(access.tenant, "connection", None),
        fresh=mirror.known(request) if access.can(Permission.MEMBERS_VIEW) else None,
        budget=budget.known(request) if access.can(Permission.CONNECTION_VIEW) else None,
        doors=_doors() if access.can(Permission.DEVICES_VIEW) else None,
        undecided=[one for one in asked if one.state == "uncertain"][:_FEW],
        under_way=[one for one in asked if one.state != "uncertain"][:_FEW],
        jobs=_jobs(access),
        changes=_changes() if sees_asked else [],
    )


def _asked() -> list[Outcome]:
    """The newest of what is under way or needs a decision."""
    return [story(intent) for intent in intents.open_ones().select_related("tenant")[: 4 * _FEW]]


def _doors() -> Doors:
    known = list(PassController.objects.order_by("device_name", "pk"))
    loud = [(door, states.state_of(door)) for door in known if door.attention]
    return Doors(len(known), sum(door.status_as_of is None for door in known), loud[:_FEW])


def _jobs(access: Access) -> list[Running]:
    """Long jobs that are at work or wait for their moment, of those kinds that this person may run."""
    at_work = Job.objects.filter(
        state__in=[JobState.MAPPED, JobState.WAITING, JobState.RUNNING], permission__in=access.permissions
    )
    found = at_work.select_related("sheet__file", "tenant").order_by("-pk")[:_FEW]
    return [Running(kinds.of(job).titled(job), kinds.page(job), JobState(job.state), job.starts_at) for job in found]


def _changes() -> list[AuditEntry]:
    return list(AuditEntry.objects.select_related("by").order_by("-at", "-pk")[:8])
