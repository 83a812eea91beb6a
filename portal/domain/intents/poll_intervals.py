"""Decide when to poll an accepted request: soon for people who wait, but not more often than the service works."""

from accessapi.operations import RequestType, operations_of_type
from accessapi.resources import RequestRecord
from portal.base.timers.clock import database_now
from portal.domain.intents.models import Intent
from portal.domain.intents.states import State

BULK_OPERATIONS = operations_of_type(RequestType.MEMBERS_BULK)
_SOONEST, _LATEST = 1.0, 60.0
# Members per second, if no request of a similar size was seen. The first poll then shows the real speed.
_GUESSED_PACE = 500
# How many times larger a request may be than the one whose speed is used, and how many requests are searched.
_COMPARABLE, _REMEMBERED = 4, 20
# A person waits at the door. With the sweep's interval this polls about once a second, six times in five seconds.
_DOOR_INTERVAL = 0.8


def first_poll_delay(intent: Intent) -> float:
    """Return the seconds from acceptance to the first poll.

    A bulk request is expected to take as long as an earlier one of a similar size.
    """
    if intent.operation not in BULK_OPERATIONS:
        return _SOONEST
    members = len((intent.body or {}).get("members", ()))
    pace = _seconds_per_member(intent, members)
    expected = pace * members if pace is not None else 1.0 + members / _GUESSED_PACE
    return min(max(expected, _SOONEST), _LATEST)


def next_poll_delay(intent: Intent, record: RequestRecord | None) -> float:
    """Return the seconds to the next poll.

    A door is polled about every second at first; a bulk request when its remaining members should be done.
    """
    if intent.operation not in BULK_OPERATIONS:
        return _DOOR_INTERVAL if intent.polls <= 6 else min(1.5 ** (intent.polls - 5), 10.0)
    result = record.result if record else None
    done, total = (result.completed_member_count or 0, result.member_count or 0) if result else (0, 0)
    if done and total and intent.accepted_at:
        elapsed = (database_now() - intent.accepted_at).total_seconds()
        # At most ten seconds while it progresses: a person may be watching the progress.
        return min(max(1.1 * elapsed * (total - done) / done, _SOONEST), 10.0)
    return min(1.5**intent.polls, 30.0)


def _seconds_per_member(intent: Intent, members: int) -> float | None:
    """Return the seconds per member of the newest finished bulk request of the same kind, or None.

    A much smaller request is not used: most of its time was waiting for the first poll. If a request was already done
    at the first poll, half of its time is used; otherwise each next request would wait longer than the one before.
    """
    finished = Intent.objects.filter(
        operation=intent.operation, state=State.SUCCEEDED, accepted_at__isnull=False, finished_at__isnull=False
    )
    seen = ("accepted_at", "finished_at", "polls", "result__completed_member_count")
    for accepted_at, finished_at, polls, count in finished.order_by("-pk").values_list(*seen)[:_REMEMBERED]:
        if isinstance(count, int) and count > 0 and count * _COMPARABLE >= members:
            took = (finished_at - accepted_at).total_seconds()
            return float((took if polls > 1 else took / 2) / count)
    return None
