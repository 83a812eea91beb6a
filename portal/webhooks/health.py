"""Check the health of a webhook: missed records, unlikely silence, and how often the log is read.

If all is well and every known category is requested, the log is read rarely, as a safety net; else at the usual pace.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

import structlog
from django.db.models import Count, F, Value
from django.db.models.functions import ExtractHour, ExtractIsoWeekDay, Least

from accessapi.limits import JST
from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.events import MirrorKind
from portal.domain.history.coverage import load_coverage
from portal.domain.history.models import History
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.webhooks.message_queue import UNNAMED_PREFIX
from portal.webhooks.models import Notification, Webhook
from tenants.models import Tenant

log = structlog.get_logger(__name__)
Working = Webhook.Working

# How often the log is read while webhooks work. Leases vary by a tenth, so that no reading comes before the hour after
# which the last hours are read once more (`histories.LATE`). So both use one call.
SAFETY_NET_SECONDS = 4000
# A record without a notification this long after it was read counts as missed; at most 200 are watched at a time.
MISSED_AFTER, MAX_WATCHED = timedelta(seconds=60), 200
# How long notifications are kept. After that, a repeated one finds its record in the log. For older records it is not
# known whether there was a notification.
RETAIN_FOR = timedelta(days=7)
# Notifications of this time show whether notifications name their records.
RECENT_WINDOW = timedelta(hours=1)
# After this time without missed records, and with notifications, the webhook counts as recovered.
RECOVERED_AFTER = timedelta(hours=1)
# Silent: this many notifications were expected since the last one. If they were independent, the chance of receiving
# none of n would be e^-n. But people come in groups and doors report them twice, so that n events may be n/3
# independent ones. For thirty this gives e^-10, one in 20,000. With checks every five minutes that is at most one false
# alarm in two months, and each ends with the next notification.
SILENT_AFTER_EXPECTED = 30.0
RHYTHM_PERIOD, RHYTHM_INTERVAL = timedelta(weeks=4), timedelta(days=1)
CHECK_INTERVAL = timedelta(minutes=5)
_HOUR, _WEEK = timedelta(hours=1), 7 * 24


def check(webhook: Webhook, state: MirrorState | None, now: datetime) -> datetime | None:
    """Check a webhook (locked and saved by the caller) and set the pace.

    Return the next check's time, or None if off.
    """
    if webhook.lacks_record_ids:
        webhook.lacks_record_ids = not _names_records(now)
    _count_missed(webhook, now)
    working = _state_of(webhook, now)
    if working != webhook.working:
        log.info("hooks_state", tenant_id=webhook.tenant_id, before=webhook.working, now=working)
        webhook.working, webhook.working_at = working, now
    if working in (Working.OFF, Working.WAITING, Working.WORKING):
        webhook.missed, webhook.missed_at = 0, None
    if state is not None:
        _set_pace(state, webhook)
    return None if working == Working.OFF else now + (MISSED_AFTER if webhook.unnotified else CHECK_INTERVAL)


def request_check(tenant: Tenant) -> None:
    """Request a new check of a webhook whose settings changed. Call it in the transaction of the change."""
    Webhook.objects.filter(tenant=tenant).update(due_at=ClockTime())
    timer_registry.wake("webhooks", tenant.pk)


def has_all_categories(webhook: Webhook) -> bool:
    """Check whether every known category is requested. Only then the log may be read less often."""
    return set(webhook.tenant.environment.catalogue.records.categories) <= set(webhook.categories)


def watch_unnotified(webhook: Webhook, histories: Sequence[History], notified: Collection[str]) -> None:
    """Watch new records without a notification: their notifications may be on their way."""
    if not webhook.is_on or webhook.set_at is None:
        return
    now = database_now()
    since = max(webhook.set_at + MISSED_AFTER, now - RETAIN_FOR)  # the service's clock may be ahead of ours
    watched = {
        record.history_id
        for record in histories
        if record.category in webhook.categories and record.at > since and record.history_id not in notified
    }
    free = MAX_WATCHED - len(webhook.unnotified)
    if watched and free > 0:
        unnotified = webhook.unnotified | dict.fromkeys(sorted(watched)[:free], now.isoformat())
        due_at = Least(F("due_at"), Value(now + MISSED_AFTER))
        Webhook.objects.filter(pk=webhook.pk).update(unnotified=unnotified, due_at=due_at)


def _state_of(webhook: Webhook, now: datetime) -> Webhook.Working:
    if not webhook.is_on:
        return Working.OFF
    received_at, since = webhook.last_received_at, webhook.set_at
    if since is None:
        return Working.WAITING
    if expected_messages(webhook, max(received_at or since, since), now) > SILENT_AFTER_EXPECTED:
        return Working.SILENT
    if received_at is None or received_at < since:
        return Working.WAITING
    missed = webhook.missed_at
    is_well = missed is None or (received_at > missed and now - missed > RECOVERED_AFTER)
    return Working.WORKING if is_well else Working.LOSSY


def _count_missed(webhook: Webhook, now: datetime) -> None:
    """Count records without a notification that were watched long enough."""
    old = {name for name, at in webhook.unnotified.items() if datetime.fromisoformat(at) < now - MISSED_AFTER}
    if not old:
        return
    missed = old - set(Notification.objects.filter(history_id__in=old).values_list("history_id", flat=True))
    webhook.unnotified = {name: at for name, at in webhook.unnotified.items() if name not in old}
    if missed and not _names_records(now):
        webhook.lacks_record_ids, webhook.missed, webhook.missed_at = True, 0, None
    elif missed and webhook.is_on:
        webhook.missed, webhook.missed_at = webhook.missed + len(missed), now


def _names_records(now: datetime) -> bool:
    """Check whether most recent notifications name their record."""
    recent = Notification.objects.filter(received_at__gt=now - RECENT_WINDOW)
    unnamed = recent.filter(history_id__startswith=UNNAMED_PREFIX).count()
    return not unnamed or recent.count() > 2 * unnamed


def _set_pace(state: MirrorState, webhook: Webhook) -> None:
    """Set how often the log is read: the safety net's pace or the usual one. The usual pace starts with a reading."""
    every = SAFETY_NET_SECONDS if webhook.working == Working.WORKING and has_all_categories(webhook) else None
    if every == state.every:
        return
    MirrorState.objects.filter(pk=state.pk).update(every=every)
    if every is None:
        schedule.request_more(webhook.tenant, MirrorKind.HISTORIES)


def expected_messages(webhook: Webhook, since: datetime, until: datetime) -> float:
    """Return how many notifications are expected in a period, by the rhythm of this building."""
    _learn_rhythm(webhook, until)
    return sum(float(webhook.rhythm[hour]) * share for hour, share in _hours(since, until))


def _learn_rhythm(webhook: Webhook, now: datetime) -> None:
    """Count the last weeks' records by hour of the week, once a day and when categories change."""
    learned = webhook.rhythm_at
    if learned is not None and now - learned < RHYTHM_INTERVAL and (webhook.set_at is None or learned > webhook.set_at):
        return
    since = max(now - RHYTHM_PERIOD, load_coverage().known_from or now)
    records = History.objects.filter(at__gte=since, at__lt=now, notified=False, category__in=webhook.categories)
    by_hour = records.annotate(day=ExtractIsoWeekDay("at", tzinfo=JST), hour=ExtractHour("at", tzinfo=JST))
    weeks = max((now - since) / timedelta(weeks=1), 1.0)
    rhythm = [0.0] * _WEEK
    for day, hour, count in by_hour.order_by().values_list("day", "hour").annotate(Count("pk")):
        rhythm[(day - 1) * 24 + hour] = round(count / weeks, 3)
    webhook.rhythm, webhook.rhythm_at = rhythm, now


def _hours(since: datetime, until: datetime) -> Iterator[tuple[int, float]]:
    """Yield the hours of the week in a period, each with its share; up to one week."""
    at = max(since, until - timedelta(weeks=1)).astimezone(JST)
    while at < until:
        end = min(at.replace(minute=0, second=0, microsecond=0) + _HOUR, until.astimezone(JST))
        yield at.weekday() * 24 + at.hour, (end - at) / _HOUR
        at = end
