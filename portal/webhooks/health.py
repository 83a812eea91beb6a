"""How well a webhook is heard: records that nobody was notified of, silence that is unlikely, and the pace of reading.

While all is well and every known category is asked for, the log is read as a safety net only; else as before.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

import structlog
from django.db.models import Count, F, Value
from django.db.models.functions import ExtractHour, ExtractIsoWeekDay, Least

from accessapi.limits import JST
from portal.core.mirror import sync_schedule
from portal.core.mirror.coverage import load_coverage
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.models import History, MirrorState
from portal.core.timers.clock import ClockTime, database_now
from portal.core.timers.task_queue import enqueue_after_commit
from portal.webhooks.message_queue import PROCESS_TASK
from portal.webhooks.models import Notification, Webhook
from portal.webhooks.parsing import UNNAMED_PREFIX
from tenants.models import Tenant

log = structlog.get_logger(__name__)
Working = Webhook.Working

# The log is read this often while webhooks work. Leases spread by a tenth: no reading comes before the hour after which
# the last hours are due once more (`histories.LATE`), so that both are one call.
SAFETY_NET_SECONDS = 4000
# A record that nobody was notified of this long after it was read counts as missed; so many are watched at a time.
MISSED_AFTER, MAX_WATCHED = timedelta(seconds=60), 200
# Notifications are known for this long: by then a repeated one finds its record in the log. Whether an older record was
# notified of, nobody knows any more.
RETAIN_FOR = timedelta(days=7)
# By the notifications of this long it is told whether they name their records.
RECENT_WINDOW = timedelta(hours=1)
# No more missed for this long, and heard since: all is well again.
RECOVERED_AFTER = timedelta(hours=1)
# Silent: so many notifications were to be expected since the last one. Were each on its own, the chance to hear none of
# n is e^-n; people come in groups and doors tell of them twice, so that n events may be n/3 independent ones. Of thirty
# ten are left: e^-10, one in 20,000. With five-minute looks that is a false alarm in two months at most, and each ends
# with the next notification.
SILENT_AFTER_EXPECTED = 30.0
RHYTHM_PERIOD, RHYTHM_INTERVAL = timedelta(weeks=4), timedelta(days=1)
CHECK_INTERVAL = timedelta(minutes=5)
_HOUR, _WEEK = timedelta(hours=1), 7 * 24


def check(webhook: Webhook, state: MirrorState | None, now: datetime) -> datetime | None:
    """Judge a webhook (locked, saved by the caller) and set the pace; when to look again, None while it is off."""
    if webhook.names_no_record:
        webhook.names_no_record = not _names_records(now)
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
    """Have a webhook judged anew: what is set was changed. In the transaction that changed it."""
    Webhook.objects.filter(tenant=tenant).update(due_at=ClockTime())
    enqueue_after_commit(PROCESS_TASK, tenant.pk)


def has_all_categories(webhook: Webhook) -> bool:
    """Whether every known category is asked for: only then the log may be read less often."""
    return set(webhook.tenant.environment.catalogue.records.categories) <= set(webhook.categories)


def watch_unnotified(webhook: Webhook, histories: Sequence[History], notified: Collection[str]) -> None:
    """Watch new records that nobody was notified of: their notifications may be on their way."""
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
    heard, since = webhook.heard_at, webhook.set_at
    if since is None:
        return Working.WAITING
    if expected_messages(webhook, max(heard or since, since), now) > SILENT_AFTER_EXPECTED:
        return Working.SILENT
    if heard is None or heard < since:
        return Working.WAITING
    missed = webhook.missed_at
    is_well = missed is None or (heard > missed and now - missed > RECOVERED_AFTER)
    return Working.WORKING if is_well else Working.LOSSY


def _count_missed(webhook: Webhook, now: datetime) -> None:
    """Of the records that were watched long enough, count those that nobody was notified of."""
    old = {name for name, at in webhook.unnotified.items() if datetime.fromisoformat(at) < now - MISSED_AFTER}
    if not old:
        return
    missed = old - set(Notification.objects.filter(history_id__in=old).values_list("history_id", flat=True))
    webhook.unnotified = {name: at for name, at in webhook.unnotified.items() if name not in old}
    if missed and not _names_records(now):
        webhook.names_no_record, webhook.missed, webhook.missed_at = True, 0, None
    elif missed and webhook.is_on:
        webhook.missed, webhook.missed_at = webhook.missed + len(missed), now


def _names_records(now: datetime) -> bool:
    """Whether notifications can be told apart: of those that came lately, more name their record than do not."""
    lately = Notification.objects.filter(received_at__gt=now - RECENT_WINDOW)
    unnamed = lately.filter(history_id__startswith=UNNAMED_PREFIX).count()
    return not unnamed or lately.count() > 2 * unnamed


def _set_pace(state: MirrorState, webhook: Webhook) -> None:
    """Read the log at the pace of the safety net, or as usual: then at once, for what was not told meanwhile."""
    every = SAFETY_NET_SECONDS if webhook.working == Working.WORKING and has_all_categories(webhook) else None
    if every == state.every:
        return
    MirrorState.objects.filter(pk=state.pk).update(every=every)
    if every is None:
        sync_schedule.request_more(webhook.tenant, MirrorKind.HISTORIES)


def expected_messages(webhook: Webhook, since: datetime, until: datetime) -> float:
    """How many notifications this house's rhythm makes expect in a time."""
    _learn_rhythm(webhook, until)
    return sum(float(webhook.rhythm[hour]) * share for hour, share in _hours(since, until))


def _learn_rhythm(webhook: Webhook, now: datetime) -> None:
    """Count the records of the last weeks by hour of the week, once a day and when other categories are asked for."""
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
    """The hours of the week that a time touches, each with its share; a week at most, which is long enough."""
    at = max(since, until - timedelta(weeks=1)).astimezone(JST)
    while at < until:
        end = min(at.replace(minute=0, second=0, microsecond=0) + _HOUR, until.astimezone(JST))
        yield at.weekday() * 24 + at.hour, (end - at) / _HOUR
        at = end
