"""Keys that are out: who has them, and how they return by themselves when their time is over."""

from datetime import datetime

from django.db.models import QuerySet

from sandbox.engine import journal
from sandbox.service.models import History, KeyBox, KeyUse, Tenant


def out(box: KeyBox, now: datetime) -> dict[str, KeyUse]:
    """unit_no -> use, of the keys that are not in their place at `now`; what is due then is back."""
    uses = KeyUse.objects.filter(box=box, returned_at=None)
    if box.has_power:
        uses = uses.exclude(due_at__lte=now)
    return {use.unit_no: use for use in uses}


def due(tenant: Tenant, now: datetime) -> QuerySet[KeyUse]:
    """The keys that should be back by now, in order."""
    return _due(now).filter(box__tenant=tenant)


def advance(tenant: Tenant, now: datetime) -> None:
    """Brings back what is due, in order, each at its moment."""
    for use in due(tenant, now):
        put_back(tenant, use, use.due_at or now, use.holder)


def settle(tenant: Tenant, box: KeyBox, now: datetime) -> dict[str, KeyUse]:
    """Brings back what is due of one box; what is out then, as `out`. Use with the box locked."""
    for use in _due(now).filter(box=box):
        put_back(tenant, use, use.due_at or now, use.holder)
    return out(box, now)


def put_back(tenant: Tenant, use: KeyUse, at: datetime, member: dict[str, str] | None) -> History | None:
    """The key is in its place again, by the hand of `member`; the record of it, None when it was there already."""
    if not KeyUse.objects.filter(pk=use.pk, returned_at=None).update(returned_at=at):
        return None
    return journal.record(
        tenant,
        at,
        category=journal.Category.NORMAL,
        status=journal.Status.OCCUR,
        content="Key returned",
        member=member,
        device=journal.about(use.box, [use.unit_no]),
        held_by=journal.holder(use.box),
    )


def _due(now: datetime) -> QuerySet[KeyUse]:
    # A box without power takes nothing back.
    out_of_time = KeyUse.objects.filter(box__has_power=True, returned_at=None, due_at__lte=now)
    return out_of_time.select_related("box").order_by("due_at", "id")
