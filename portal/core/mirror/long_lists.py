"""Reading a long list (members, guests): page after page into a run that survives its worker, then one swap.

A complete reading costs exactly as many calls as the service has pages, also when the work is interrupted between two
pages: a page and the cursor after it are stored in one transaction.
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
from portal.core.budget.client import client as budgeted
from portal.core.mirror import events, failure_reasons, guest_list, member_swap
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.leases import LONG_LIST_SHARE, CallShare, MirrorLease
from portal.core.mirror.member_swap import StagedItems, SwapResult
from portal.core.mirror.models import Group, MirrorState, StagedPage, SyncRun
from portal.core.mirror.models.state import sealing_field
from portal.core.timers.clock import database_now
from tenants.models import Connection, Tenant

log = structlog.get_logger(__name__)

SLICE_SECONDS = 60
# A list that takes longer than this to read describes no moment any more.
MAX_RUN_DURATION = timedelta(hours=12)
_WAIT_FOR_CALLS = timedelta(minutes=2)


# The page and how far the run is, in one statement: a list of a thousand names is quicker as one text.
_INSERT_PAGE = """
WITH run AS (
    UPDATE mirror_syncrun SET pages = %(pages)s, rows = %(rows)s, cursor = %(cursor)s, complete = %(complete)s,
        reason = %(reason)s
    WHERE id = %(run)s RETURNING id, tenant_id
)
INSERT INTO mirror_stagedpage (tenant_id, run_id, number, cursor, listed, body)
SELECT tenant_id, id, %(number)s, %(asked)s, ARRAY(SELECT json_array_elements_text(%(listed)s::json)), %(body)s FROM run
"""


class _RunEnded(Exception):
    """The run cannot go on; args[0] is the reason."""


@dataclass(frozen=True)
class _LongList:
    """How a long list is asked for and taken over.

    `page_query` gives what a page is asked with beside limit and cursor; when the service refuses that for the first
    page,
    `reduce_fields` says whether there is less to ask for. `stage` gives what of a page is kept until the swap. Finished
    runs are kept for `retention`.
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
        member_swap.stage_members,
        member_swap.swap_members,
        clean_up=member_swap.tidy_search_index,
    ),
    MirrorKind.GUESTS: _LongList(
        "list_guests",
        guest_list.page_query,
        lambda _run, items: StagedItems([], items),
        guest_list.take_over,
        guest_list.reduce_fields,
        retention=timedelta(days=1),
    ),
}


def advance(connection: Connection, lease: MirrorLease) -> None:
    """Read on where the last worker stopped, for a slice of time; finish, pause or end the run."""
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
    """About how many will come: of members what the groups say, else what came last time."""
    counted = Group.objects.aggregate(all=Sum("member_count"))["all"] if kind == MirrorKind.MEMBERS else None
    if counted:
        return int(counted)
    return MirrorState.objects.filter(kind=kind).values_list("total", flat=True).first() or None


def _read_pages(connection: Connection, lease: MirrorLease, run: SyncRun) -> None:
    client = budgeted(connection, lease.priority)
    stop_at = time.monotonic() + SLICE_SECONDS
    share = CallShare(connection, LONG_LIST_SHARE, is_bounded=not lease.is_awaited)
    asked = set(StagedPage.objects.filter(run=run).values_list("cursor", flat=True))
    while True:
        answer = _request_page(client, lease.kind, run)
        asked.add(run.cursor)
        following = _next_cursor(answer, asked)
        items = answer.value.readable_rows
        staged = _LISTS[lease.kind].stage(run, items)
        with transaction.atomic():
            lease.renew()
            _save_page(
                run, len(items), staged, following, "" if items is answer.value.rows else failure_reasons.SKIPPED
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
    """The next page. A list never changes what it asks for between its pages."""
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


def _next_cursor(answer: Answer, asked: set[str]) -> str | None:
    """The cursor after this page. Ends the run when the list turns in a circle."""
    following: str | None = answer.cursor
    if following in asked:
        raise _RunEnded("repeated_cursor")
    return following


def _save_page(run: SyncRun, count: int, staged: StagedItems, following: str | None, reason: str) -> None:
    body = zlib.compress(json.dumps(staged.items, separators=(",", ":")).encode(), 1)
    sealed = sealing_field(StagedPage, "body").seal(run.tenant_id, body)
    values: dict[str, Any] = {"number": run.pages, "asked": run.cursor, "run": run.pk}
    values |= {"listed": json.dumps(staged.listed_ids), "body": sealed and sealed.data}
    run.pages += 1
    run.rows += count
    run.reason = run.reason or reason
    run.cursor, run.complete = following or "", following is None
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
    """Wait for calls, or keep what was read and try the same page again; end the run when that is hopeless."""
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
