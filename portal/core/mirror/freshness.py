"""How fresh the mirror is, in the words of a page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from portal.core.mirror import reasons
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState, SyncRun
from tenants.models import Connection, Tenant
from tenants.scope import across_tenants, tenant_scope


@dataclass(frozen=True)
class Reading:
    """A list that is being read: members so far, and about how many there will be (None: nobody knows yet)."""

    done: int
    expected: int | None
    started_at: datetime

    @property
    def percent(self) -> int | None:
        return min(99, 100 * self.done // self.expected) if self.expected else None


@dataclass(frozen=True)
class KindFreshness:
    """One kind: what pages show is as of `as_of` (None: never read). `error` is a stable word, `sentence` says it."""

    kind: Kind
    as_of: datetime | None = None
    total: int = 0
    running: Reading | None = None
    error: str = ""
    error_at: datetime | None = None
    known_from: datetime | None = None  # of the log alone: from when on the mirror has all records

    @property
    def sentence(self) -> str:
        return reasons.sentence(self.error, self.kind) if self.error else ""


@dataclass(frozen=True)
class Freshness:
    """All kinds of a tenant; `rights_known` of `rights_total` members have permissions that were read."""

    kinds: dict[Kind, KindFreshness]
    rights_known: int
    rights_total: int

    def __getitem__(self, kind: Kind | str) -> KindFreshness:
        return self.kinds[Kind(kind)]

    def __iter__(self) -> Iterator[KindFreshness]:
        return iter(self.kinds.values())

    @property
    def last_sync(self) -> datetime | None:
        """When anything was last read completely."""
        return max((each.as_of for each in self if each.as_of), default=None)


def states() -> QuerySet[MirrorState]:
    """What is known of every kind of the entered tenant, each with its run under way, if there is one."""
    run = SyncRun.objects.filter(kind=OuterRef("kind"), state=SyncRun.State.RUNNING).order_by("-pk")
    told = {f"run_{name}": Subquery(run.values(name)[:1]) for name in ("rows", "expected", "started_at")}
    return MirrorState.objects.annotate(**told)


def of(tenant: Tenant, found: Iterable[MirrorState] | None = None) -> Freshness:
    """The freshness of every kind: of what `states` found for the tenant, or in a query of its own."""
    if found is None:
        with tenant_scope(tenant):
            found = list(states())
    now = timezone.now()
    known = {Kind(state.kind): state for state in found}
    kinds = {kind: _kind(kind, known.get(kind), now) for kind in Kind}
    total = kinds[Kind.MEMBERS].total
    return Freshness(kinds, min(kinds[Kind.RIGHTS].total, total), total)


def _kind(kind: Kind, state: Any, now: datetime) -> KindFreshness:
    if state is None:
        return KindFreshness(kind)
    begun = state.run_started_at
    running = Reading(state.run_rows, state.run_expected, begun) if begun else None
    if running is None and state.lease_until is not None and state.lease_until > now and kind != Kind.RIGHTS:
        running = Reading(0, state.total or None, now)
    since = state.memory.get("known_from")
    known_from = datetime.fromisoformat(since) if since else None
    return KindFreshness(kind, state.as_of, state.total, running, state.error, state.error_at, known_from)


def first_sync_done_everywhere() -> bool:
    """Whether the members of every connected tenant have been read once: for /readyz."""
    with across_tenants("readiness is about all tenants"):
        read = MirrorState.objects_across_tenants.filter(
            tenant=OuterRef("tenant"), kind=Kind.MEMBERS, as_of__isnull=False
        )
        connected = Connection.objects_across_tenants.filter(state=Connection.State.CONNECTED)
        return not connected.filter(~Exists(read)).exists()
