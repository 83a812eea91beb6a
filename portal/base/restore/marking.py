"""Mark everything in a restored database whose result is unknown, before any request is sent.

Apps register their marking in `signals.py`. A tenant is marked in one transaction and may be marked again,
because another process continues after a crash. Until the end no request is claimed (`timers/database_identity.py`),
and no worker runs a task.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import structlog
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet

from portal.base.restore.models import Restore
from portal.base.timers import database_identity
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.database_identity import DatabaseIdentity, is_from_other_database
from portal.base.timers.models import Lease
from portal.base.ui.times import local
from tenants import audit, mails, owners
from tenants.models import AccountMail, Tenant, User
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.roles import Operator
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence

log = structlog.get_logger(__name__)
MAIL_KIND = "restored"
_ONE_PROCESS = AdvisoryLock("restore.marking")


# Returns the number of marked rows that a person must decide, or the rows that wait for a release.
MarkFunction = Callable[[datetime], int | list[int]]
ReleaseFunction = Callable[[Sequence[int]], None]
_marks: dict[str, MarkFunction] = {}
_releases: dict[str, ReleaseFunction] = {}


def register(name: str, mark: MarkFunction, release: ReleaseFunction | None = None) -> None:
    """Register an app's marking of a tenant. It gets the time at which the restore was detected.

    Both functions run in the tenant's scope and in a transaction, in the order of registration.
    """
    _marks[name] = mark
    if release is not None:
        _releases[name] = release


def is_waiting(name: str, pk: int) -> bool:
    """Return True if a row of the current tenant was marked and not released by a person."""
    rows = Restore.objects.filter(released_at=None, waiting__contains={name: [pk]})
    return rows.exists()


def release_row(name: str, pk: int) -> None:
    """Remove a row from those that wait, because a person acted on it. Call it in the transaction of the action."""
    row = Restore.objects.select_for_update().filter(released_at=None, waiting__contains={name: [pk]}).first()
    if row is not None:
        row.waiting[name].remove(pk)
        row.save(update_fields=["waiting"])


def register_timer(name: str, rows: Callable[[], QuerySet[Any]], column: str = "due_at") -> None:
    """Pause a timer's rows until a release, because a person may have acted differently since the backup.

    `rows` are unfinished rows of the current tenant, `column` is the time of their next automatic step.
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
    """Return True if this database is a copy, or was set back, and has not been marked yet."""
    place = database_identity.read_position()
    if place is None or place.is_other_database or not database_identity.is_behind(place):
        return place is not None and place.is_other_database
    Lease.objects.exclude(is_from_other_database()).update(identity=_placeholder_identity())
    database_identity.mark_compared(place)
    return True


def declare_restored() -> None:
    """Treat this database as restored, on an operator's request. After a crash, another process continues."""
    Lease.objects.update(identity=_placeholder_identity())


def _placeholder_identity() -> str:
    return f"an older one, {uuid.uuid4().hex}"


def mark_if_restored() -> None:
    """Mark a restored database. Each clock does this before it leads."""
    if is_restored_copy():
        mark_all_tenants()


def mark_all_tenants() -> bool:
    """Mark every tenant, then unlock the site. Return False if another process is doing it.

    Tenants that a crashed process has marked are not marked again.
    """
    with _ONE_PROCESS.held() as is_alone:
        if is_alone:
            _mark_all_tenants()
    return is_alone


def declare_unchanged() -> None:
    """Treat this database as unchanged: an operator confirms that it was moved and is not older."""
    database_identity.reset_position()
    Lease.objects.update(identity=DatabaseIdentity())


def _mark_all_tenants() -> None:
    lease, is_new = Lease.objects.get_or_create(pk=1)
    taken_at = None if is_new else lease.ticked_at
    log.warning("database_was_restored", taken_at=taken_at and taken_at.isoformat())
    identity = f"{lease.identity} as {Lease.objects.values_list(DatabaseIdentity(), flat=True).get()}"
    AccountMail.objects.exclude(kind=MAIL_KIND).delete()  # due mails were sent before the restore
    Session.objects.all().delete()  # some were ended after the backup
    for tenant in Tenant.objects.order_by("pk").iterator():
        with tenant_scope(tenant), transaction.atomic():
            _mark_tenant(tenant, taken_at, identity)
    for user in User.objects.filter(platform_role=Operator.name, is_active=True).order_by("pk"):
        mails.queue(to=user, kind=MAIL_KIND, values=_mail_values(taken_at, "", ""))
    _unlock_site()


def _unlock_site() -> None:
    """Unlock the site: this database is the valid one from now on."""
    database_identity.reset_position()
    Lease.objects.update(identity=DatabaseIdentity(), holder=None)


def _mark_tenant(tenant: Tenant, taken_at: datetime | None, identity: str) -> None:
    row = Restore.objects.select_for_update().filter(released_at=None).first() or Restore(tenant=tenant)
    if row.identity == identity:
        return  # marked by a process that crashed later
    row.identity, row.taken_at, row.found_at = identity, taken_at, database_now()
    row.save()
    marked = {name: mark(row.found_at) for name, mark in _marks.items()}
    row.counts = {name: len(each) if isinstance(each, list) else each for name, each in marked.items()}
    waiting = {name: [*row.waiting.get(name, ()), *each] for name, each in marked.items() if isinstance(each, list)}
    row.waiting = waiting
    row.save(update_fields=["counts", "waiting"])
    summary = coded_sentence("restore.found")
    audit.record(
        tenant=tenant, by=None, by_label=audit.PORTAL_ACTOR, action="restore.found", target="tenant", summary=summary
    )
    owners.queue_mails(MAIL_KIND, _mail_values(taken_at, tenant.name, tenant.slug))


def _mail_values(taken_at: datetime | None, tenant: str, slug: str) -> dict[str, str]:
    return {"taken": f"{local(taken_at):%Y-%m-%d %H:%M}" if taken_at else "", "tenant": tenant, "slug": slug}


def release(row: Restore, by: User) -> None:
    """Resume automatic work of the current tenant. Releasing twice does nothing."""
    with transaction.atomic():
        held = Restore.objects.select_for_update().filter(pk=row.pk, released_at=None).first()
        if held is None:
            return
        for name, let_go_on in _releases.items():
            let_go_on(held.waiting.get(name, []))
        held.released_at, held.released_by = database_now(), by
        held.save(update_fields=["released_at", "released_by"])
        summary = coded_sentence("restore.released")
        audit.record(tenant=held.tenant, by=by, action="restore.release", target="tenant", summary=summary)
