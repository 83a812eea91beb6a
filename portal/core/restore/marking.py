"""Looking through a restored database, before anything leaves it: what can no longer be known is marked, and waits.

An area of work registers what it marks from its `AppConfig.ready()`. A tenant is marked in one transaction, and may be
marked again: a process that died on the way is followed by another. Nothing leaves meanwhile: no request is claimed
(`timers/database_identity.py`), and no task of a worker runs.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import structlog
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.models import QuerySet

from portal.core.restore.models import Restored
from portal.core.timers import wal_position
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.database_identity import DatabaseIdentity, is_from_other_database
from portal.core.timers.models import Lease
from portal.core.ui.times import local
from tenants import audit, mails, owners
from tenants.models import AccountMail, Tenant, User
from tenants.roles import Operator
from tenants.scope import tenant_scope
from tenants.wording import coded_sentence

log = structlog.get_logger(__name__)
MAIL_KIND = "restored"
_LOCK = 0x0DE5


# What an area of work marks: how many rows, each for a person to decide; or the rows that wait until a release.
MarkFunction = Callable[[datetime], int | list[int]]
ReleaseFunction = Callable[[Sequence[int]], None]
_marks: dict[str, MarkFunction] = {}
_releases: dict[str, ReleaseFunction] = {}


def register(name: str, mark: MarkFunction, release: ReleaseFunction | None = None) -> None:
    """Have an area of work mark what it remembers of a tenant, given the moment at which it was found to be a copy.

    Both are called in the tenant's scope and in a transaction. Areas are asked in the order in which they register.
    """
    _marks[name] = mark
    if release is not None:
        _releases[name] = release


def is_waiting(name: str, pk: int) -> bool:
    """Return whether a row of the tenant in scope was marked, and a person has not released it."""
    rows = Restored.objects.filter(released_at=None, waiting__contains={name: [pk]})
    return rows.exists()


def release_row(name: str, pk: int) -> None:
    """Note that a person has acted on a row that may wait: it goes on. Within the transaction of the act."""
    row = Restored.objects.select_for_update().filter(released_at=None, waiting__contains={name: [pk]}).first()
    if row is not None:
        row.waiting[name].remove(pk)
        row.save(update_fields=["waiting"])


def register_timer(name: str, rows: Callable[[], QuerySet[Any]], column: str = "due_at") -> None:
    """Have what rows do at a time of their own wait for a release: since the backup, a person may have done otherwise.

    `rows` are those of the tenant in scope that have not ended, `column` is when the portal sees to them next.
    """

    def wait(found_at: datetime) -> list[int]:
        due = rows().filter(**{f"{column}__isnull": False})
        waiting = list(due.values_list("pk", flat=True))
        due.update(**{column: None})
        return waiting

    def go_on(waiting: Sequence[int]) -> None:
        rows().filter(pk__in=waiting, **{column: None}).update(**{column: ClockTime()})

    register(name, wait, go_on)


def is_restored_copy() -> bool:
    """Return whether this database is a copy, or was set back, and was not looked through."""
    place = wal_position.read_position()
    if place is None or place.is_other_database or not wal_position.is_behind(place):
        return place is not None and place.is_other_database
    Lease.objects.exclude(is_from_other_database()).update(identity=_placeholder_identity())
    wal_position.mark_compared(place)
    return True


def declare_restored() -> None:
    """Take this database for a restored one: an operator says so, and a process that dies meanwhile is followed."""
    Lease.objects.update(identity=_placeholder_identity())


def _placeholder_identity() -> str:
    return f"an older one, {uuid.uuid4().hex}"


def mark_if_restored() -> None:
    """Look through a restored database: what each clock does before it leads."""
    if is_restored_copy():
        mark_all_tenants()


def mark_all_tenants() -> bool:
    """Mark every tenant, then let the site go on. Returns False where another process is at it.

    What a process that died has marked is not marked again.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        if not cursor.fetchone()[0]:
            return False
        try:
            _mark_all_tenants()
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
    return True


def declare_unchanged() -> None:
    """Take this database for the one that it was: an operator says that it was moved, and is not older."""
    wal_position.reset_position()
    Lease.objects.update(identity=DatabaseIdentity())


def _mark_all_tenants() -> None:
    lease, is_new = Lease.objects.get_or_create(pk=1)
    taken_at = None if is_new else lease.ticked_at
    log.warning("database_was_restored", taken_at=taken_at and taken_at.isoformat())
    identity = f"{lease.identity} as {Lease.objects.values_list(DatabaseIdentity(), flat=True).get()}"
    AccountMail.objects.exclude(kind=MAIL_KIND).delete()  # those that were due have left before
    Session.objects.all().delete()  # some had been ended since
    for tenant in Tenant.objects.order_by("pk").iterator():
        with tenant_scope(tenant), transaction.atomic():
            _mark_tenant(tenant, taken_at, identity)
    for user in User.objects.filter(platform_role=Operator.name, is_active=True).order_by("pk"):
        mails.queue(to=user, kind=MAIL_KIND, values=_mail_values(taken_at, "", ""))
    _unlock_site()


def _unlock_site() -> None:
    """Let the site go on: this database is the one that counts from now on."""
    wal_position.reset_position()
    Lease.objects.update(identity=DatabaseIdentity(), holder=None)


def _mark_tenant(tenant: Tenant, taken_at: datetime | None, identity: str) -> None:
    row = Restored.objects.select_for_update().filter(released_at=None).first() or Restored(tenant=tenant)
    if row.identity == identity:
        return  # by a process that died later
    row.identity, row.taken_at, row.found_at = identity, taken_at, database_now()
    row.save()
    marked = {name: mark(row.found_at) for name, mark in _marks.items()}
    row.counts = {name: len(each) if isinstance(each, list) else each for name, each in marked.items()}
    kept = {name: [*row.waiting.get(name, ()), *each] for name, each in marked.items() if isinstance(each, list)}
    row.waiting = kept
    row.save(update_fields=["counts", "waiting"])
    said = coded_sentence("restore.found")
    audit.record(
        tenant=tenant, by=None, by_label=audit.PORTAL_ACTOR, action="restore.found", target="tenant", summary=said
    )
    owners.queue_mails(MAIL_KIND, _mail_values(taken_at, tenant.name, tenant.slug))


def _mail_values(taken_at: datetime | None, tenant: str, slug: str) -> dict[str, str]:
    return {"taken": f"{local(taken_at):%Y-%m-%d %H:%M}" if taken_at else "", "tenant": tenant, "slug": slug}


def release(row: Restored, by: User) -> None:
    """Let what the portal does by itself go on, for one tenant in scope. Releasing twice does nothing."""
    with transaction.atomic():
        held = Restored.objects.select_for_update().filter(pk=row.pk, released_at=None).first()
        if held is None:
            return
        for name, let_go_on in _releases.items():
            let_go_on(held.waiting.get(name, []))
        held.released_at, held.released_by = database_now(), by
        held.save(update_fields=["released_at", "released_by"])
        said = coded_sentence("restore.released")
        audit.record(tenant=held.tenant, by=by, action="restore.release", target="tenant", summary=said)
