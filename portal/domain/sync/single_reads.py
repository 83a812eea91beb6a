"""Read one member, guest, tenant or device from the service for a page, or with unused calls in the background.

Requests for the same data at the same moment share one call, also across processes. The first one inserts a row and
makes the call. The others wait for its response, which is stored encrypted for some seconds. When the first one fails,
the next makes a call: errors are not shared.

The sync worker loads members' permissions, and guests' use periods that the list lacks, one at a time. It uses only a
part of the calls that are reserved for sync, and stops earlier while people or jobs need the hour's calls.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection as database
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from accessapi.resources import guests, members, places
from accessapi.resources.tenants import Tenant
from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences
from portal.domain.budget.client import client as budgeted
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.people.models import Guest, Member
from portal.domain.places import door_states, key_states
from portal.domain.sync import failure_reasons, local_writes, schedule, small_lists
from portal.domain.sync.models import MirrorState, SharedReading, sealing_field
from portal.domain.sync.schedule import BACKGROUND_SHARE, MirrorLease, has_calls_for_sync
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, current_tenant
from tenants.postgresql import session_locks
from tenants.scope import current_tenant_id, tenant_scope

T = TypeVar("T")

# Longer than any call may take (connect 3 s, response 30 s): after that its process has certainly crashed.
_CALL_SECONDS = 40
# How often waiting requests check whether the caller still runs (see `tenants.postgresql.session_locks`), to notice a
# crash soon.
_LIVENESS_SECONDS = 0.5
_ANSWER_SECONDS = 5
_POLL_SECONDS = 0.05

_CLAIM = f"""
INSERT INTO sync_sharedreading AS r (tenant_id, key, token, until)
VALUES (%(tenant)s, %(key)s, %(token)s, clock_timestamp() + %(seconds)s * interval '1 second')
ON CONFLICT (tenant_id, key)
DO UPDATE SET token = EXCLUDED.token, until = EXCLUDED.until, answered_at = NULL, answer = NULL
WHERE r.answered_at IS NOT NULL OR r.until < clock_timestamp()
RETURNING {session_locks.TAKE_LOCK_SQL.replace("%s", "%(token)s")}
"""  # noqa: S608 - our own words
_SAVE_ANSWER = """
UPDATE sync_sharedreading SET answer = %(answer)s, answered_at = clock_timestamp(),
    until = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE tenant_id = %(tenant)s AND key = %(key)s AND token = %(token)s
"""


def read_member(
    connection: Connection, member_id: str, priority: Priority, *, is_unshared: bool = False
) -> members.Member:
    """Read a member from the service (operation 5), update the mirror, and return the member.

    Requests at the same moment share one call. `is_unshared`: makes a separate call that begins now, for a proof that
    must not rely on a call that began earlier (decision 53). The result contains unencrypted secrets: never store it.
    Raises NotFound after marking the mirror's row as gone, BudgetExhausted, and other ServiceErrors.
    """
    tenant, path = connection.tenant, {"member_id": member_id}
    data = _read(
        connection,
        "read_member",
        path,
        priority,
        lambda data, at: local_writes.apply_member_read(tenant, {**data, **path}, at),
        mark_gone=lambda: local_writes.apply_member_deletion(tenant, member_id),
        is_unshared=is_unshared,
    )
    return members.Member.model_validate({**data, **path})


def read_guest(connection: Connection, guest_id: str, priority: Priority, *, is_unshared: bool = False) -> guests.Guest:
    """Read a guest from the service (operation 21) in the same way as `read_member`."""
    tenant, path = connection.tenant, {"guest_id": guest_id}
    data = _read(
        connection,
        "read_guest",
        path,
        priority,
        lambda data, at: local_writes.apply_guest_read(tenant, {**data, **path}, at),
        mark_gone=lambda: local_writes.apply_guest_gone(tenant, guest_id),
        is_unshared=is_unshared,
    )
    return guests.Guest.model_validate({**data, **path})


def read_tenant(connection: Connection) -> Tenant:
    """Read the tenant's record from the service (operation 1) for a person, unshared (see `read_member`).

    Its webhook settings may contain the unencrypted secret token.
    """
    data = _read(connection, "get_tenant", {}, Priority.PEOPLE, small_lists.save_tenant, is_unshared=True)
    return Tenant.model_validate(data)


def read_door_status(connection: Connection, device_id: str, priority: Priority) -> places.PassControllerStatus:
    """Read a door's status (operation 26), store it and return it. Raises ServiceError."""
    store = partial(door_states.apply_reading, connection.tenant, device_id)
    data = _read(connection, "pass_controller_status", {"device_id": device_id}, priority, store)
    return places.PassControllerStatus.model_validate(data)


def read_key_box_status(connection: Connection, key_device_id: str, priority: Priority) -> places.KeyBoxStatus:
    """Read a key box's status (operation 28), store it and return it. Raises ServiceError."""
    store = partial(key_states.apply_reading, connection.tenant, key_device_id)
    data = _read(connection, "key_box_status", {"key_device_id": key_device_id}, priority, store)
    return places.KeyBoxStatus.model_validate(data)


def _read(
    connection: Connection,
    operation: str,
    path: dict[str, str],
    priority: Priority,
    store: Callable[[dict[str, Any], datetime], object],
    *,
    mark_gone: Callable[[], object] = lambda: None,
    is_unshared: bool = False,
) -> dict[str, Any]:
    """Return the service's response. `store` gets it if this caller made the call, with the time just before it."""
    with tenant_scope(connection.tenant):
        requested_at = database_now()
        try:
            data, first = call_shared(connection, operation, path, priority, is_unshared=is_unshared)
        except NotFound:
            mark_gone()
            raise
        if first:
            store(data, requested_at)
        return data


def call_shared(
    connection: Connection,
    operation: str,
    path: dict[str, str],
    priority: Priority,
    *,
    query: dict[str, Any] | None = None,
    is_unshared: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Return the service's response, and whether this caller made the call. Raises ServiceError."""

    def call() -> dict[str, Any]:
        return budgeted(connection, priority).call(operation, path=path, query=query).data

    if is_unshared:
        return call(), True
    named = next(iter(path.values()), "") if query is None else hashlib.sha256(repr(query).encode()).hexdigest()
    return share_call(f"{operation}:{named}", call)


class ReadFailed(Exception):
    """A reading for a page failed; `text` is shown. `is_gone`: the service no longer has the object."""

    def __init__(self, text: str, *, is_gone: bool = False) -> None:
        super().__init__(text)
        self.text, self.is_gone = text, is_gone


def read_for_page(read: Callable[[Connection], T], gone_message: str) -> T:
    """Return the result of `read` with the tenant's connection. Raises ReadFailed, with `gone_message` after a 404."""
    connection = current_connection()
    if not connection.is_connected:
        raise ReadFailed(_("The connection to the service is not working. Showing the last loaded data."))
    try:
        return read(connection)
    except NotFound:
        raise ReadFailed(gone_message, is_gone=True) from None
    except BudgetExhausted as exhausted:
        text = _("No API calls left this hour; loading is possible from %(time)s. Showing the last loaded data.")
        raise ReadFailed(text % {"time": f"{local(exhausted.retry_at):%H:%M}"}) from None
    except ServiceError as error:
        raise ReadFailed(
            join_sentences([failure_reasons.describe_error(error), _("Showing the last loaded data.")])
        ) from None


def read_status_for_page(read: Callable[[Connection], Any]) -> str:
    """Read a device's status by `read` if the tenant is connected. Return the error's sentence, or ""."""
    connection = current_connection()
    if not connection.is_connected:
        return ""
    try:
        read(connection)
    except BudgetExhausted as exhausted:
        text = _("No device API calls left this hour; loading is possible from %(time)s.")
        return text % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError as error:
        return join_sentences([failure_reasons.describe_error(error), _("Showing the last known status.")])
    return ""


def read_member_for_page(member_id: str) -> members.Member:
    """Read a member for a page as `read_member` does. Raises ReadFailed."""
    gone = _("This member no longer exists in the service.")
    return read_for_page(lambda connection: read_member(connection, member_id, Priority.PEOPLE), gone)


def share_call(key: str, fetch: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return the result of `fetch` or of another caller's, and whether this caller made the call.

    Raises the errors of `fetch`. Must not be called in a transaction.
    """
    while True:
        token = _claim(key)
        if token is not None:
            try:
                return _fetch_and_save(key, token, fetch), True
            finally:
                session_locks.release(token)
        answer = _wait_for_answer(key)
        if answer is not None:
            return answer, False


def _claim(key: str) -> uuid.UUID | None:
    token = uuid.uuid4()
    tenant_id = current_tenant_id()
    values: dict[str, Any] = {"tenant": tenant_id, "key": key, "token": token, "seconds": _CALL_SECONDS}
    with database.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        return token if cursor.fetchone() else None


def _fetch_and_save(key: str, token: uuid.UUID, fetch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        answer = fetch()
    except BaseException:
        SharedReading.objects.filter(key=key, token=token).delete()
        raise
    tenant_id = current_tenant_id()
    sealed = sealing_field(SharedReading, "answer").seal(tenant_id, json.dumps(answer).encode())
    values: dict[str, Any] = {
        "answer": sealed and sealed.data,
        "seconds": _ANSWER_SECONDS,
        "tenant": tenant_id,
        "key": key,
        "token": token,
    }
    with database.cursor() as cursor:
        cursor.execute(_SAVE_ANSWER, values)
    return answer


def _wait_for_answer(key: str) -> dict[str, Any] | None:
    """Return the response to the call in progress; None when it failed or its caller has crashed."""
    first = SharedReading.objects.filter(key=key).values_list("token", "until").first()
    if first is None:
        return None
    reading = SharedReading.objects.filter(key=key, token=first[0])
    look_at = time.monotonic() + _LIVENESS_SECONDS
    while (row := reading.first()) is not None:
        if row.answer is not None:
            answer: dict[str, Any] = json.loads(row.answer)
            return answer
        if time.monotonic() > look_at:
            if not session_locks.is_alive(first[0]):
                reading.filter(answered_at=None).delete()
            look_at = time.monotonic() + _LIVENESS_SECONDS
        time.sleep(_POLL_SECONDS)
    return None


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
    schedule.request_reading(current_tenant(), MirrorKind.RIGHTS, by=None)


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
        yield partial(read_guest, connection, guest_id, Priority.SYNC)
    for member_id in _members_to_read(now):
        yield partial(read_member, connection, member_id, Priority.SYNC)


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
        viewed = state.memory.get("first", []) if state else []
        if state is None or not viewed:
            return []
        unknown = set(_worth_reading(Member.objects.filter(member_id__in=viewed), now))
        to_read = [member_id for member_id in viewed if member_id in unknown]
        state.memory = {**state.memory, "first": to_read}
        state.save(update_fields=["memory"])
    return to_read[:BACKGROUND_BATCH]


def _worth_reading(members: QuerySet[Member], now: datetime | ClockTime) -> QuerySet[Member, str]:
    stale = Q(rights_read_at__isnull=True) | Q(rights_read_at__lt=now - _STALE_AFTER_IF_VIEWED)
    return members.filter(stale, gone_at__isnull=True).values_list("member_id", flat=True)
