"""Process notifications: read the log, joined and with pauses; until then show them as provisional records.

One run at a time holds the lock of the log's state, which a reading of the log also takes before it writes. The next
run's time is stored in the webhook's row: a timer starts it, and a task only starts it earlier.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from pydantic import ValidationError

from accessapi.doors import DoorEvent
from accessapi.resources.histories import History as ServiceHistory
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.history import coverage
from portal.domain.history.models import History
from portal.domain.history.records import HistoryColumns, build_records, insert_records
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.domain.sync.schedule import has_calls_for_log
from portal.webhooks import health
from portal.webhooks.message_queue import UNNAMED_PREFIX
from portal.webhooks.models import Notification, Webhook
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Tenant

log = structlog.get_logger(__name__)

# The seconds without a reading that pay for one reading. Each reading made too early makes the next pause a second
# longer. So a building with few records has them read at once; one with a record every second has them read every 20 s,
# which uses a quarter of the hour's calls. If no calls are left, the usual pace applies.
SECONDS_PER_READING = 20
# Alarms (a door forced or left open) must be shown at once. Such a reading waits only a second, until this many seconds
# are extra_pause. After that, alarms are read like other records.
ALARM_PAUSE, MAX_OWED_FOR_ALARM = timedelta(seconds=1), 30 * SECONDS_PER_READING
# When to stop reading for a record that the log does not have: after the first time if the log cannot be read, else
# after the second. The record then stays as notified.
GIVE_UP_UNREADABLE, GIVE_UP_AFTER = timedelta(seconds=10), timedelta(seconds=60)
# Only records of these times are shown before the log has them. Nothing but the log proves an older or a future one.
_OLDEST, _NEWEST = timedelta(days=30), timedelta(hours=1)
BATCH_SIZE = 500
# A run without a result is started again after this time.
RETRY_AFTER = timedelta(seconds=20)
_ALARMS = (DoorEvent.FORCED_OPEN, DoorEvent.LEFT_OPEN)
# Fields of a message that belong to the record's device; `_MESSAGE_FIELDS` are not part of the record.
_DEVICE_FIELDS = {"device_id": "id", "device_name": "name", "device_module": "module"}
_MESSAGE_FIELDS = ("tenant_id", "event", "event_name", "additional_info")


def process_pending() -> None:
    """Process the notifications of the tenant in scope, and set the next run's time.

    It may be called any number of times.
    """
    with transaction.atomic():
        state = MirrorState.objects.select_for_update().filter(kind=MirrorKind.HISTORIES).first()
        webhook = Webhook.objects.select_for_update().filter(due_at__isnull=False).first()
        if webhook is None:
            return
        now = database_now()
        _mark_read(Notification.objects.exclude(state=Notification.State.READ), state)
        times = [_process(webhook, state, now), health.check(webhook, state, now)]
        webhook.last_run_at, webhook.due_at = now, min((time for time in times if time is not None), default=None)
        webhook.save()


def _process(webhook: Webhook, state: MirrorState | None, now: datetime) -> datetime | None:
    """Process waiting notifications. Return the next run's time, or None if nothing waits."""
    connection = current_connection()
    since = _unread_since(webhook, state, now)
    if since is None:
        return None
    old = now - (GIVE_UP_UNREADABLE if _is_unreadable(connection, state) else GIVE_UP_AFTER)
    if _insert_records(connection, _unread().filter(received_at__lt=old), Notification.State.KEPT) == BATCH_SIZE:
        return now
    if _unread_since(webhook, state, now) is None:
        return None
    if not connection.is_connected:
        return now + GIVE_UP_UNREADABLE
    if state is not None:
        moments = _unread().filter(at__isnull=False).values_list("at", flat=True)[:BATCH_SIZE]
        coverage.request_late_spans(state, filter(None, moments))
    again = _request_reading(webhook, connection, since, now)
    if webhook.log_read_at == now:
        return again
    waiting = _unread().filter(state=Notification.State.WAITING)
    return now if _insert_records(connection, waiting, Notification.State.SHOWN) == BATCH_SIZE else again


def _unread() -> QuerySet[Notification]:
    return Notification.objects.filter(state__in=(Notification.State.WAITING, Notification.State.SHOWN))


def _unread_since(webhook: Webhook, state: MirrorState | None, now: datetime) -> datetime | None:
    """Return the time from which the log must be read to have all notified records; None if none is missing.

    Records that were notified before the last reading and are not in it arrive later: the log is read once more.
    """
    newest = _unread().aggregate(newest=Max("received_at"))["newest"]
    read = state.as_of if state is not None else None
    if webhook.lost_at is not None and (read is None or webhook.lost_at > read):
        newest = max(newest or webhook.lost_at, webhook.lost_at)
    if newest is None:
        return None
    return newest if read is None or newest > read else now


def _request_reading(webhook: Webhook, connection: Connection, since: datetime, now: datetime) -> datetime:
    """Request a reading, unless the last one was just before. Return the next run's time."""
    pause = timedelta(seconds=webhook.pause)
    if pause > ALARM_PAUSE and webhook.extra_pause < MAX_OWED_FOR_ALARM and _has_alarm(connection):
        pause = ALARM_PAUSE
    if webhook.log_read_at is not None and now < webhook.log_read_at + pause:
        return webhook.log_read_at + pause
    schedule.request_reading_since(connection.tenant, MirrorKind.HISTORIES, since)
    since_last = (now - webhook.log_read_at).total_seconds() if webhook.log_read_at is not None else float("inf")
    webhook.extra_pause = int(max(0.0, webhook.extra_pause - since_last)) + SECONDS_PER_READING
    usual = min(webhook.extra_pause // SECONDS_PER_READING, SECONDS_PER_READING)
    webhook.pause = usual if has_calls_for_log(connection) else READ_INTERVALS[MirrorKind.HISTORIES]
    webhook.log_read_at = now
    return now + timedelta(seconds=webhook.pause)


def _has_alarm(connection: Connection) -> bool:
    """Check whether an unread notification is a door alarm, and calls are left to read it at once."""
    catalogue = connection.tenant.environment.catalogue
    found = filter(None, map(_to_log_record, _unread().order_by("-received_at")[:BATCH_SIZE]))
    alarms = (catalogue.states.event_of([record.content or record.member_label]) in _ALARMS for record in found)
    return any(alarms) and has_calls_for_log(connection)


def _is_unreadable(connection: Connection, state: MirrorState | None) -> bool:
    """Check whether the log cannot be read now: not connected, refused, failing, or no calls left."""
    return not connection.is_connected or state is None or bool(state.error) or not has_calls_for_log(connection)


def _insert_records(connection: Connection, notifications: QuerySet[Notification], state: Notification.State) -> int:
    """Create provisional records from at most AT_ONCE notifications and set their state. Return the number handled."""
    found = list(notifications.order_by("received_at")[:BATCH_SIZE])
    tenant_ids = {"", connection.service_tenant_id}
    rows = [_to_log_record(each) for each in found if str(each.body.get("tenant_id") or "") in tenant_ids]
    new = insert_records([row for row in rows if row is not None])
    for each in found:
        each.state = state if each.body or state == Notification.State.SHOWN else Notification.State.READ
    Notification.objects.bulk_update(found, ["state"])
    if new:
        log.info("hooks_shown", tenant_id=connection.tenant_id, records=len(new))
    return len(found)


def _to_log_record(notification: Notification) -> HistoryColumns | None:
    """Return a notification as a log record marked `notified`; None if it names no record of this time."""
    item = _to_history(notification.body)
    try:
        read = ServiceHistory.model_validate(item)
    except ValidationError:
        return None
    (found,) = build_records([read], [item], notification.received_at)
    is_of_this_time = notification.received_at - _OLDEST <= found.at <= notification.received_at + _NEWEST
    return found._replace(notified=True) if is_of_this_time else None


def _to_history(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notification in the format of a log record. Fields outside the published format are kept unchanged."""
    info = body.get("additional_info")
    more = dict(info) if isinstance(info, dict) else {}
    device = {name: body[field] for field, name in _DEVICE_FIELDS.items() if body.get(field)}
    member, units = more.pop("member", None), more.pop("units", None)
    item = {name: value for name, value in body.items() if name not in (*_MESSAGE_FIELDS, *_DEVICE_FIELDS)}
    item |= {"_content": body.get("event_name")} if body.get("event_name") else {}
    item |= {"member": member} if isinstance(member, dict) else {}
    item |= {"device": device | ({"units": units} if isinstance(units, list) else {})} if device else {}
    return item | ({"additional_info": more} if more else {})


def _mark_read(notifications: QuerySet[Notification], state: MirrorState | None = None) -> None:
    """Mark notifications as read if the log has their record. Those without a record are read by any later reading."""
    if state is not None and state.as_of is not None:
        unnamed = notifications.filter(history_id__startswith=UNNAMED_PREFIX, received_at__lt=state.as_of)
        unnamed.update(state=Notification.State.READ)
    read_records = History.objects.filter(history_id=OuterRef("history_id"), notified=False)
    notifications.filter(Exists(read_records)).update(state=Notification.State.READ)


def on_histories(tenant: Tenant, *, histories: Sequence[History]) -> None:
    """Process new records. This is a listener of the mirror, in the transaction that saves the records."""
    webhook = Webhook.objects.filter(tenant=tenant).first()
    if webhook is None:
        return
    named = [record.history_id for record in histories]
    known = Notification.objects.filter(history_id__in=named)
    known.exclude(state=Notification.State.READ).update(state=Notification.State.READ)
    health.watch_unnotified(webhook, histories, set(known.values_list("history_id", flat=True)))


MESSAGES = Process(
    name="webhooks",
    rows=due(Webhook),
    step=process_pending,
    queue="sync",
    every=1.0,
    is_per_row=False,
    claim_values=retry_after(RETRY_AFTER),
    expires=RETRY_AFTER.total_seconds(),
)


def old_notifications() -> list[QuerySet[Notification]]:
    return [Notification.objects_across_tenants.filter(received_at__lt=ClockTime() - health.RETAIN_FOR)]
