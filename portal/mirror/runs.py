"""Reading the list of members: page after page into a run that survives its worker, then one swap.

A complete reading costs exactly as many calls as the service has pages, also when the work is interrupted between two
pages: a page and the cursor after it are stored in one transaction.
"""

import json
import time
import zlib
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Sum

from accessapi.client import Answer, Client
from accessapi.errors import ServiceError
from accessapi.limits import PAGE_MAX
from portal.budget.client import client as budgeted
from portal.budget.priorities import Priority
from portal.mirror import clock, reasons, swap
from portal.mirror.kinds import Kind
from portal.mirror.leases import Lease
from portal.mirror.models import Group, MirrorState, StagedPage, SyncRun
from tenants.models import Connection

log = structlog.get_logger(__name__)

SLICE_SECONDS = 60
# A list that takes longer than this to read describes no moment any more.
LONGEST_RUN = timedelta(hours=12)
_KEEP_RUNS = timedelta(days=7)


class _Ended(Exception):
    """The run cannot go on; args[0] is the reason."""


def advance(connection: Connection, lease: Lease) -> None:
    """Read on where the last worker stopped, for a slice of time; finish, pause or end the run."""
    run = _running_or_new()
    try:
        if clock.now() - run.started_at > LONGEST_RUN:
            raise _Ended("too_old")
        if not run.complete:
            _read_pages(budgeted(connection, Priority.SYNC), lease, run)
        if run.complete:
            _take_over(lease, run)
    except ServiceError as error:
        _interrupted(lease, run, error)
    except _Ended as ended:
        _end(lease, run, str(ended))


def _running_or_new() -> SyncRun:
    run = SyncRun.objects.filter(kind=Kind.MEMBERS, state=SyncRun.State.RUNNING).first()
    return run or SyncRun.objects.create(kind=Kind.MEMBERS, started_at=clock.now(), expected=_expected())


def _expected() -> int | None:
    """About how many members will come: what the groups say, else what came last time."""
    counted = Group.objects.aggregate(all=Sum("member_count"))["all"]
    if counted:
        return int(counted)
    return MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("total", flat=True).first() or None


def _read_pages(client: Client, lease: Lease, run: SyncRun) -> None:
    stop_at = time.monotonic() + SLICE_SECONDS
    while True:
        answer = client.call("list_members", query=_query(run.cursor))
        following = _following(run, answer)
        with transaction.atomic():
            lease.hold()
            _stage(run, answer.data["members"], following)
        if run.complete:
            return
        if time.monotonic() > stop_at:
            lease.pause(clock.now())
            return


def _query(cursor: str) -> dict[str, Any]:
    query: dict[str, Any] = {"limit": PAGE_MAX, "fields": "card_data"}
    return {**query, "last_evaluated_key": cursor} if cursor else query


def _following(run: SyncRun, answer: Answer) -> str | None:
    """The cursor after this page. Ends the run when a member has no id or the list turns in a circle."""
    if answer.value.unreadable:
        raise _Ended("unreadable")
    following: str | None = answer.cursor
    if following is not None and (
        following == run.cursor or StagedPage.objects.filter(run=run, cursor=following).exists()
    ):
        raise _Ended("repeated_cursor")
    return following


def _stage(run: SyncRun, members: list[dict[str, Any]], following: str | None) -> None:
    body = zlib.compress(json.dumps(members, separators=(",", ":")).encode(), 1)
    StagedPage.objects.create(run=run, number=run.pages, cursor=run.cursor, body=body)
    run.pages += 1
    run.rows += len(members)
    run.cursor, run.complete = following or "", following is None
    run.save(update_fields=["pages", "rows", "cursor", "complete"])


def _take_over(lease: Lease, run: SyncRun) -> None:
    with transaction.atomic():
        lease.hold()
        done = swap.members(run)
        run.state, run.finished_at = SyncRun.State.DONE, clock.now()
        run.changed, run.removed = done.changed, done.removed
        run.save(update_fields=["state", "finished_at", "changed", "removed"])
        StagedPage.objects.filter(run=run).delete()
        SyncRun.objects.filter(started_at__lt=run.started_at - _KEEP_RUNS).delete()
        lease.done(as_of=run.started_at, total=done.total)
    swap.tidy(done)


def _interrupted(lease: Lease, run: SyncRun, error: ServiceError) -> None:
    """Wait for calls, or keep what was read and try the same page again; end the run when that is hopeless."""
    until = reasons.pause_of(error, clock.now())
    if until is not None:
        lease.pause(until)
    elif reasons.passing(error):
        lease.failed(reasons.reason_of(error))
    else:
        _end(lease, run, reasons.reason_of(error))


def _end(lease: Lease, run: SyncRun, reason: str) -> None:
    log.warning("mirror_run_ended", reason=reason, pages=run.pages, rows=run.rows)
    with transaction.atomic():
        lease.failed(reason)
        run.state, run.reason, run.finished_at = SyncRun.State.FAILED, reason, clock.now()
        run.save(update_fields=["state", "reason", "finished_at"])
        StagedPage.objects.filter(run=run).delete()
