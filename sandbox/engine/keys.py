"""Keys that are out: their holders, the contents of their places, and their automatic return."""

from datetime import datetime

from django.db.models import QuerySet

from sandbox.engine import activity_log
from sandbox.service.models import History, KeyBox, KeyUse, Tenant


def keys_out(box: KeyBox, now: datetime) -> dict[str, KeyUse]:
    """Return unit_no -> use, for the keys that are out at `now`; a key that is due counts as back."""
    uses = KeyUse.objects.filter(box=box, returned_at=None)
    if box.has_power:
        uses = uses.exclude(due_at__lte=now)
    return {use.unit_no: use for use in uses}


def place_state(use: KeyUse | None) -> str:
    """Return the state of a key's place: its key (return), no key (taken), or another one (wrong)."""
    if use is None:
        return "return"
    return "wrong" if use.is_replaced else "taken"


def place_errors(use: KeyUse | None) -> list[str]:
    """Return the errors of a key's place (assumed)."""
    return ["wrong_key"] if use is not None and use.is_replaced else []


def due(tenant: Tenant, now: datetime) -> QuerySet[KeyUse]:
    """Return the keys that should be back by now, in order."""
    return _due(now).filter(box__tenant=tenant)


def advance(tenant: Tenant, now: datetime) -> None:
    """Return the due keys to their places, in order, each at its time."""
    for use in due(tenant, now):
        put_back(tenant, use, use.due_at or now, use.holder)


def return_due_keys(tenant: Tenant, box: KeyBox, now: datetime) -> dict[str, KeyUse]:
    """Return the due keys of one box to their places, and the keys that are out then, as `keys_out`.

    Use with the box locked.
    """
    for use in _due(now).filter(box=box):
        put_back(tenant, use, use.due_at or now, use.holder)
    return keys_out(box, now)


def put_back(tenant: Tenant, use: KeyUse, at: datetime, member: dict[str, str] | None) -> History | None:
    """Put the key in its place, brought by `member`, and return the record; None if it was there already.

    Another key in its place is removed.
    """
    if not KeyUse.objects.filter(pk=use.pk, returned_at=None).update(returned_at=at, is_replaced=False):
        return None
    if use.is_replaced:
        _write(
            tenant, use, at, member, activity_log.WRONG_KEY, activity_log.Category.WARNING, activity_log.Status.RESTORE
        )
    return _write(tenant, use, at, member, activity_log.KEY_RETURNED)


def replace(tenant: Tenant, use: KeyUse, at: datetime, member: dict[str, str] | None) -> History:
    """Put another key in the place of this one, brought by `member`. Return the record."""
    KeyUse.objects.filter(pk=use.pk).update(is_replaced=True)
    return _write(tenant, use, at, member, activity_log.WRONG_KEY, activity_log.Category.WARNING)


def _write(
    tenant: Tenant,
    use: KeyUse,
    at: datetime,
    member: dict[str, str] | None,
    content: str,
    category: str = activity_log.Category.NORMAL,
    status: str = activity_log.Status.OCCUR,
) -> History:
    return activity_log.write_record(
        tenant,
        at,
        category=category,
        status=status,
        content=content,
        member=member,
        device=activity_log.device_entry(use.box, [use.unit_no]),
        held_by=activity_log.held_back_by(use.box),
    )


def _due(now: datetime) -> QuerySet[KeyUse]:
    # A box without power accepts no key.
    out_of_time = KeyUse.objects.filter(box__has_power=True, returned_at=None, due_at__lte=now)
    return out_of_time.select_related("box").order_by("due_at", "id")
