"""The timers, with many tenants due at one moment."""

import time

from bench.figures import Figure
from bench.ground import Ground, say
from portal.core.mirror import schedule
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from portal.core.timers.clock import database_now
from tenants.models import Connection, Tenant
from tenants.scope import across_tenants, tenant_scope


def tick(ground: Ground) -> list[Figure]:
    """Ringing for every tenant that is due, messages to the broker included."""
    count = ground.sizes.due
    say(f"a tick with {count:,} tenants due")
    made = Tenant.objects.bulk_create(
        Tenant(slug=f"due-{number}", name=f"Due {number}", environment=ground.environment) for number in range(count)
    )
    for tenant in made:
        with tenant_scope(tenant):
            Connection.objects.create(
                tenant=tenant, environment=ground.environment, state=Connection.State.CONNECTED, access_token="t"
            )
            MirrorState.objects.create(kind=Kind.MEMBERS, due_at=database_now())
    started = time.perf_counter()
    rung = schedule.look()
    took = time.perf_counter() - started
    ids = [tenant.pk for tenant in made]
    with across_tenants("the bench puts its tenants away"):
        MirrorState.objects_across_tenants.filter(tenant__in=ids).update(due_at=None)
        Connection.objects_across_tenants.filter(tenant__in=ids).update(state=Connection.State.REVOKED)
    if rung < count:
        raise RuntimeError(f"the tick rang for {rung} of {count}")
    again = ground.sizes.again("tick", due=count)
    return [Figure(f"scheduler tick, {count:,} tenants due", f"{took:.3f} s", "", took, ("<=", 1), again)]
