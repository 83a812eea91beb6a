"""How much a person's single read is slowed down while the system's workers load rights in the background."""

import time

from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from bench.syncs import serving, tenant_of
from portal.base.timers.celery_app import enqueue
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.people.models import Member
from portal.domain.sync import single_reads
from portal.domain.sync.models import MirrorState
from tenants.models import Tenant
from tenants.scope import tenant_scope

_READS = 60


def waiting(ground: Ground) -> list[Figure]:
    """Measure a person's read without and with rights loading in other processes."""
    say("a person's reads while the trickle runs")
    with serving(0) as url:
        tenant = tenant_of(url, MirrorKind.RIGHTS)
        with tenant_scope(tenant):
            MirrorState.objects.create(kind=MirrorKind.MEMBERS, as_of=database_now())
            Member.objects.bulk_create(
                Member(member_id=f"t{number}", member_name="T", name_key="t") for number in range(5_000)
            )
            alone, _ = _reads(tenant, 0, trickle=False)
            beside, trickled = _reads(tenant, _READS, trickle=True)
            MirrorState.objects.filter(kind=MirrorKind.RIGHTS).update(due_at=None)
    again = ground.sizes.again("trickle")
    note = f"the trickle read {trickled} members meanwhile"
    return [
        Figure(
            f"a person's read while the trickle runs, {name}",
            ms(percentile(beside, share)),
            f"without {ms(percentile(alone, share))}",
            percentile(beside, share) / percentile(alone, share),
            ("<=", 2),
            again,
            note,
        )
        for name, share in (("median", 0.5), ("95 %", 0.95))
    ]


def _reads(tenant: Tenant, first: int, *, trickle: bool) -> tuple[list[float], int]:
    """Return the seconds of each of a person's reads, and how many members others read in that time."""
    took, before = [], _known()
    for number in range(first, first + _READS):
        if trickle:
            now = ClockTime()
            MirrorState.objects.filter(kind=MirrorKind.RIGHTS, lease=None).update(due_at=now, woken_at=now)
            enqueue("portal.processes.mirror", [(tenant.pk,)])
        started = time.perf_counter()
        single_reads.read_member(tenant.connection, f"t{4_999 - number}", Priority.PEOPLE)
        took.append(time.perf_counter() - started)
    return took, _known() - before - _READS


def _known() -> int:
    return Member.objects.filter(rights_read_at__isnull=False).count()
