"""Load members' permissions, and guests' use periods that the list lacks, one at a time with unused API calls.

Called by the sync worker. It uses only a part of the calls that are reserved for sync, and stops earlier while people
or jobs need the hour's calls.
"""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import F, Q, QuerySet

from accessapi.errors import NotFound, ServiceError
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.priorities import Priority
from portal.domain.mirror import single_reads, sync_schedule
from portal.domain.mirror.kinds import READ_INTERVALS, MirrorKind
from portal.domain.mirror.leases import BACKGROUND_SHARE, MirrorLease, has_calls_for_sync
from portal.domain.mirror.models import Guest, Member, MirrorState
from tenants.models import Connection, current_tenant

BACKGROUND_BATCH = 10
BACKGROUND_SECONDS = 60
# The part of the hour's calls that must be free. With less, a person is at work who may need them.
MIN_FREE_SHARE = 0.5
# Permissions are read again when they are older than this; sooner for members on an open page.
STALE_AFTER = timedelta(days=1)
_STALE_AFTER_IF_VIEWED = timedelta(hours=1)
_MAX_VIEWED = 1000
_IDLE_PAUSE = timedelta(hours=1)


def prioritise_members(members: QuerySet[Member], most: int) -> None:
    """Prioritise members shown on an open page whose permissions are missing or too old, at most `most` of them.

    Takes one query when they have priority already.
    """
    worth = ArraySubquery(_worth_reading(members, ClockTime())[:most])
    state = MirrorState.objects.filter(kind=MirrorKind.RIGHTS).annotate(worth=worth, now=ClockTime()).first()
    if state is None or not state.worth:
        return
    if state.memory.get("first", [])[: len(state.worth)] != state.worth:
        _save_viewed(state.worth)
    elif state.lease is not None or (state.due_at is not None and state.due_at <= state.now):
        return  # a worker reads already, or was notified
    sync_schedule.request_reading(current_tenant(), MirrorKind.RIGHTS, by=None)


def _save_viewed(unknown: list[str]) -> None:
    """Store these members before the others that are shown on open pages."""
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().get(kind=MirrorKind.RIGHTS)
        first = dict.fromkeys([*unknown, *state.memory.get("first", [])])
        state.memory = {**state.memory, "first": list(first)[:_MAX_VIEWED]}
        state.save(update_fields=["memory"])


def read_in_background(connection: Connection, lease: MirrorLease) -> None:
    """Read members on open pages, then unknown ones, then the oldest readings. Stop early when calls are short."""
    started = database_now()
    calls = list(_background_calls(connection, started))
    if not calls:
        lease.pause(started + (_IDLE_PAUSE if Member.objects.exists() else timedelta(minutes=1)))
        return
    stop_at = time.monotonic() + BACKGROUND_SECONDS
    for call in calls:
        if time.monotonic() > stop_at or not has_calls_for_sync(
            connection, BACKGROUND_SHARE, min_free_share=MIN_FREE_SHARE
        ):
            break
        try:
            call()
        except NotFound:
            continue
        except ServiceError as error:
            lease.stop_after(error, wait=timedelta(seconds=4 * READ_INTERVALS[MirrorKind.RIGHTS]))
            return
        lease.renew()
    lease.complete(as_of=started, total=count_known_rights())


def count_known_rights() -> int:
    """Return the number of the entered tenant's members whose permissions were read."""
    return Member.objects.filter(rights_read_at__isnull=False, gone_at__isnull=True).count()


def _background_calls(connection: Connection, now: datetime) -> Iterator[Callable[[], object]]:
    """Yield the single reads of one turn, the most urgent first."""
    dateless = Guest.objects.filter(gone_at__isnull=True, use_date_end__isnull=True, detail_read_at__isnull=True)
    for guest_id in dateless.order_by("pk").values_list("guest_id", flat=True)[:BACKGROUND_BATCH]:
        yield partial(single_reads.read_guest, connection, guest_id, Priority.SYNC)
    for member_id in _members_to_read(now):
        yield partial(single_reads.read_member, connection, member_id, Priority.SYNC)


def _members_to_read(now: datetime) -> list[str]:
    if not MirrorState.objects.filter(kind=MirrorKind.MEMBERS, as_of__isnull=False).exists():
        return []
    oldest = Member.objects.filter(gone_at__isnull=True).order_by(F("rights_read_at").asc(nulls_first=True))
    rows = oldest.values_list("member_id", "rights_read_at")[:BACKGROUND_BATCH]
    others = [member_id for member_id, read_at in rows if read_at is None or read_at < now - STALE_AFTER]
    return list(dict.fromkeys([*_viewed_members(now), *others]))[:BACKGROUND_BATCH]


def _viewed_members(now: datetime) -> list[str]:
    """Return the members on open pages whose permissions are missing or too old. Remove the others from the memory."""
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().filter(kind=MirrorKind.RIGHTS).first()
        asked = state.memory.get("first", []) if state else []
        if state is None or not asked:
            return []
        unknown = set(_worth_reading(Member.objects.filter(member_id__in=asked), now))
        wanted = [member_id for member_id in asked if member_id in unknown]
        state.memory = {**state.memory, "first": wanted}
        state.save(update_fields=["memory"])
    return wanted[:BACKGROUND_BATCH]


def _worth_reading(members: QuerySet[Member], now: datetime | ClockTime) -> QuerySet[Member, str]:
    stale = Q(rights_read_at__isnull=True) | Q(rights_read_at__lt=now - _STALE_AFTER_IF_VIEWED)
    return members.filter(stale, gone_at__isnull=True).values_list("member_id", flat=True)
