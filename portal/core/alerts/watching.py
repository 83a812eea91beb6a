"""Looking for alerts: in new records, in their own transaction, and once a minute at what is a state or a time.

A kind that fails when records come is undone alone and noted as behind; the next look goes through them again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from portal.core.alerts import keeping
from portal.core.alerts.models import Watch
from portal.core.alerts.rules import Kept, rules
from portal.core.mirror import hooks
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import History
from portal.core.timers import ticking
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.ticking import Wakeup
from tenants.models import Connection, Tenant, current_tenant
from tenants.scope import across_tenants

log = structlog.get_logger(__name__)
EVERY = timedelta(seconds=60)
_BATCH = 1000


def heard(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Look at new records, oldest first: listener of the mirror, inside the transaction that takes them over."""
    watch = _held(tenant)
    records = [each for each in histories if each.at >= watch.since]
    if not records:
        return
    before = dict(watch.behind)
    for rule in rules():
        if (
            rule.is_on
            and rule.kind.heard is not None
            and (rule.kind.name in before or not _heard(rule, tenant, records))
        ):
            watch.behind[rule.kind.name] = _place(records, before.get(rule.kind.name))
    if watch.behind != before:
        watch.save(update_fields=["behind"])


def _heard(rule: Kept, tenant: Tenant, records: Sequence[History]) -> bool:
    """Have a kind look at records. False: it failed, and nothing of it was kept."""
    try:
        with transaction.atomic():
            keeping.keep(rule, rule.kind.heard(tenant, records, rule.values) if rule.kind.heard else ())
    except Exception:
        log.exception("alerts_kind_failed", kind=rule.kind.name)
        return False
    return True


def _place(records: Sequence[History], before: Sequence[str | int] | None) -> list[str | int]:
    """Return the first key and the oldest moment of records, and of those that wait already."""
    first, oldest = min(each.pk for each in records), min(each.at for each in records)
    if before is not None:
        first, oldest = min(first, int(before[0])), min(oldest, datetime.fromisoformat(str(before[1])))
    return [first, oldest.isoformat()]


def look() -> None:
    """Look at the tenant in scope: what was left behind, what is the case now, what ended."""
    tenant = current_tenant()
    with transaction.atomic():
        watch = _held(tenant)
        now = database_now()
        for rule in rules():
            if not rule.is_on:
                watch.behind.pop(rule.kind.name, None)
            elif rule.kind.name in watch.behind:
                _catch_up(watch, rule, tenant)
            _look(rule, tenant, now)
        watch.due_at = now + EVERY
        watch.save(update_fields=["behind", "due_at"])


def _look(rule: Kept, tenant: Tenant, now: datetime) -> None:
    if not rule.is_on or rule.kind.look is None:
        keeping.settle(rule, now)
        return
    try:
        with transaction.atomic():
            keeping.stand(rule, rule.kind.look(tenant, rule.values), now)
    except Exception:  # the others are looked at all the same, and this one again in a minute
        log.exception("alerts_kind_failed", kind=rule.kind.name)


def _catch_up(watch: Watch, rule: Kept, tenant: Tenant) -> None:
    """Go through the records that a kind failed at, a batch at a time."""
    first, oldest = watch.behind[rule.kind.name]
    found = History.objects.filter(pk__gte=first, at__gte=max(datetime.fromisoformat(oldest), watch.since))
    records = list(found.order_by("pk")[:_BATCH])
    if records and not _heard(rule, tenant, records):
        return
    if len(records) == _BATCH:
        watch.behind[rule.kind.name] = [records[-1].pk + 1, oldest]
    else:
        del watch.behind[rule.kind.name]


def _held(tenant: Tenant) -> Watch:
    Watch.objects.get_or_create(tenant=tenant)
    return Watch.objects.select_for_update(no_key=True).get()


DUE: Wakeup[Watch] = Wakeup(
    rows=lambda: Watch.objects_across_tenants.filter(due_at__lte=ClockTime()),
    task="portal.core.alerts.tasks.look",
    ids=("tenant_id",),
    mark=lambda: {"due_at": ClockTime() + EVERY},
)


def look_around() -> None:
    """Watch every connected tenant, and have those looked at whose minute is over."""
    with across_tenants("each connected tenant is watched"):
        watched = Watch.objects_across_tenants.values("tenant_id")
        begun = Connection.objects_across_tenants.exclude(state=Connection.State.NONE).exclude(tenant__in=watched)
        rows = [Watch(tenant_id=each) for each in begun.values_list("tenant_id", flat=True)]
        Watch.objects_across_tenants.bulk_create(rows, ignore_conflicts=True)
    DUE.look()


def register() -> None:
    hooks.after(Kind.HISTORIES, heard)
    ticking.register("alerts", look_around, every=30.0, queue="sync")
