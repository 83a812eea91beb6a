"""Read a long list (members, guests) page by page into a run, then write the complete run to the mirror at once.

A page and the cursor after it are stored in one transaction. So after an interruption, another worker continues the run
without reading a page twice.
"""

import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from django.db import connection as database
from django.db import transaction
from django.db.models import Sum

from accessapi.client import Answer, Client
from accessapi.errors import Invalid, ServiceError
from accessapi.limits import PAGE_MAX
from portal.base.timers.clock import database_now
from portal.domain import events
from portal.domain.budget.client import client as budgeted
from portal.domain.events import MirrorKind
from portal.domain.people.models import Group
from portal.domain.sync import failure_reasons, swapping
from portal.domain.sync.models import MirrorState, StagedPage, SyncRun, sealing_field
from portal.domain.sync.schedule import LONG_LIST_SHARE, CallShare, MirrorLease
from portal.domain.sync.swapping import StagedItems, SwapResult
from tenants.models import Connection, Tenant

log = structlog.get_logger(__name__)

SLICE_SECONDS = 60
# A run that takes longer than this is ended, because its first pages are out of date.
MAX_RUN_DURATION = timedelta(hours=12)
_WAIT_FOR_CALLS = timedelta(minutes=2)


# Saves a page and the run's progress in one statement. The IDs are passed as one JSON text, which is faster.
_INSERT_PAGE = """
WITH run AS (
    UPDATE sync_syncrun SET pages = %(pages)s, rows = %(rows)s, cursor = %(cursor)s, complete = %(complete)s,
        reason = %(reason)s
    WHERE id = %(run)s RETURNING id, tenant_id
)
INSERT INTO sync_stagedpage (tenant_id, run_id, number, cursor, listed, body)
SELECT tenant_id, id, %(number)s, %(asked)s, ARRAY(SELECT json_array_elements_text(%(listed)s::json)), %(body)s FROM run
"""


class _RunEnded(Exception):
    """The run cannot continue; args[0] is the reason."""


@dataclass(frozen=True)
class _LongList:
    """The functions that read a long list and write it to the mirror.

    `query` returns a page's query without limit and cursor. If the service refuses it for the first page,
    `reduce_fields` requests fewer fields and returns whether that is possible. `stage` returns what is kept of a page
    until `take_over`. Finished runs are kept for `retention`.
    """

    operation: str
    query: Callable[[], dict[str, Any]]
    stage: Callable[[SyncRun, list[dict[str, Any]]], StagedItems]
    take_over: Callable[[SyncRun], SwapResult]
    reduce_fields: Callable[[], bool] = lambda: False
    clean_up: Callable[[SwapResult], None] = lambda done: None
    retention: timedelta = timedelta(days=7)


_LISTS = {
    MirrorKind.MEMBERS: _LongList(
        "list_members",
        lambda: {"fields": "card_data"},
        swapping.stage_members,
        swapping.swap_members,
        clean_up=swapping.tidy_search_index,
    ),
    MirrorKind.GUESTS: _LongList(
        "list_guests",
        swapping.guest_page_query,
        lambda _run, items: StagedItems([], items),
        swapping.swap_guests,
        swapping.reduce_guest_fields,
        retention=timedelta(days=1),
    ),
}


def advance(connection: Connection, lease: MirrorLease) -> None:
    """Continue the run for up to SLICE_SECONDS; then finish, pause or end it."""
    run = _running_or_new(lease.kind)
    try:
        if database_now() - run.started_at > MAX_RUN_DURATION:
            raise _RunEnded("too_old")
        if not run.complete:
            _read_pages(connection, lease, run)
        if run.complete:
            _take_over(connection.tenant, lease, run)
    except ServiceError as error:
        _handle_error(lease, run, error)
    except _RunEnded as ended:
        _end_run(lease, run, str(ended))


def _running_or_new(kind: MirrorKind) -> SyncRun:
    run = SyncRun.objects.filter(kind=kind, state=SyncRun.State.RUNNING).first()
    return run or SyncRun.objects.create(kind=kind, started_at=database_now(), expected=_expected(kind))


def _expected(kind: MirrorKind) -> int | None:
    """Return about how many entries to expect: for members the sum over the groups, else the last total."""
    counted = Group.objects.aggregate(all=Sum("member_count"))["all"] if kind == MirrorKind.MEMBERS else None
    if counted:
        return int(counted)
    return MirrorState.objects.filter(kind=kind).values_list("total", flat=True).first() or None


def _read_pages(connection: Connection, lease: MirrorLease, run: SyncRun) -> None:
    client = budgeted(connection, lease.priority)
    stop_at = time.monotonic() + SLICE_SECONDS
    share = CallShare(connection, LONG_LIST_SHARE, is_bounded=not lease.is_awaited)
    cursors = set(StagedPage.objects.filter(run=run).values_list("cursor", flat=True))
    while True:
        answer = _request_page(client, lease.kind, run)
        cursors.add(run.cursor)
        next_cursor = _next_cursor(answer, cursors)
        items = answer.value.readable_rows
        staged = _LISTS[lease.kind].stage(run, items)
        with transaction.atomic():
            lease.renew()
            _save_page(
                run, len(items), staged, next_cursor, "" if items is answer.value.rows else failure_reasons.SKIPPED
            )
        if run.complete:
            return
        if time.monotonic() > stop_at:
            lease.pause(database_now())
            return
        if not share.may_read_on():
            lease.pause(database_now() + _WAIT_FOR_CALLS)
            return


def _request_page(client: Client, kind: MirrorKind, run: SyncRun) -> Answer:
    """Return the next page. All pages of a run are requested with the same query."""
    listed = _LISTS[kind]
    while True:
        query: dict[str, Any] = {"limit": PAGE_MAX, **listed.query()}
        try:
            return client.call(
                listed.operation, query={**query, "last_evaluated_key": run.cursor} if run.cursor else query
            )
        except Invalid:
            if run.pages or not listed.reduce_fields():
                raise


def _next_cursor(answer: Answer, cursors: set[str]) -> str | None:
    """Return the cursor after this page. Ends the run when the service repeats a cursor."""
    next_cursor: str | None = answer.cursor
    if next_cursor in cursors:
        raise _RunEnded("repeated_cursor")
    return next_cursor


def _save_page(run: SyncRun, count: int, staged: StagedItems, next_cursor: str | None, reason: str) -> None:
    body = zlib.compress(json.dumps(staged.items, separators=(",", ":")).encode(), 1)
    sealed = sealing_field(StagedPage, "body").seal(run.tenant_id, body)
    values: dict[str, Any] = {"number": run.pages, "asked": run.cursor, "run": run.pk}
    values |= {"listed": json.dumps(staged.listed_ids), "body": sealed and sealed.data}
    run.pages += 1
    run.rows += count
    run.reason = run.reason or reason
    run.cursor, run.complete = next_cursor or "", next_cursor is None
    values |= {"pages": run.pages, "rows": run.rows, "cursor": run.cursor, "complete": run.complete}
    values |= {"reason": run.reason}
    with database.cursor() as cursor:
        cursor.execute(_INSERT_PAGE, values)


def _take_over(tenant: Tenant, lease: MirrorLease, run: SyncRun) -> None:
    listed = _LISTS[lease.kind]
    with transaction.atomic():
        lease.renew()
        done = listed.take_over(run)
        run.state, run.finished_at = SyncRun.State.DONE, database_now()
        run.changed, run.removed = done.changed, done.removed
        run.save(update_fields=["state", "finished_at", "changed", "removed"])
        StagedPage.objects.filter(run=run).delete()
        SyncRun.objects.filter(kind=lease.kind, started_at__lt=run.started_at - listed.retention).delete()
        lease.complete(as_of=run.started_at, total=done.total, pages=run.pages, error=run.reason)
        events.publish(lease.kind, tenant)
    listed.clean_up(done)


def _handle_error(lease: MirrorLease, run: SyncRun, error: ServiceError) -> None:
    """Pause or retry the same page later after a temporary error; else end the run."""
    if failure_reasons.is_temporary(error):
        lease.stop_after(error)
    else:
        _end_run(lease, run, failure_reasons.reason_of(error), wait=failure_reasons.retry_delay_after(error))


def _end_run(lease: MirrorLease, run: SyncRun, reason: str, *, wait: timedelta | None = None) -> None:
    log.warning("mirror_run_ended", kind=str(lease.kind), reason=reason, pages=run.pages, rows=run.rows)
    with transaction.atomic():
        lease.fail(reason, wait=wait)
        run.state, run.reason, run.finished_at = SyncRun.State.FAILED, reason, database_now()
        run.save(update_fields=["state", "reason", "finished_at"])
        StagedPage.objects.filter(run=run).delete()
