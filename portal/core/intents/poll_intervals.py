"""When to look next at an accepted request: often enough for whoever waits, no oftener than the service's own pace."""

from accessapi.operations import RequestType, operations_of_type
from accessapi.resources import RequestRecord
from portal.core.intents.models import Intent
from portal.core.intents.states import State
from portal.core.timers.clock import database_now

BULK_OPERATIONS = operations_of_type(RequestType.MEMBERS_BULK)
_SOONEST, _LATEST = 1.0, 60.0
# Members a second where nothing of the size was seen yet; the first look then tells the true pace.
_GUESSED_PACE = 500
# How many times larger a request may be than the one that its pace is taken from, and among how many that is sought.
_COMPARABLE, _REMEMBERED = 4, 20
# Somebody stands at the door: with the sweeper's own steps this is about one look a second, six for five seconds.
_DOOR_INTERVAL = 0.8


def first_poll_delay(intent: Intent) -> float:
    """Seconds from acceptance to the first look. A bulk request takes as long as one before of about its size."""
    if intent.operation not in BULK_OPERATIONS:
        return _SOONEST
    members = len((intent.body or {}).get("members", ()))
    pace = _seconds_per_member(intent, members)
    expected = pace * members if pace is not None else 1.0 + members / _GUESSED_PACE
    return min(max(expected, _SOONEST), _LATEST)


def next_poll_delay(intent: Intent, record: RequestRecord | None) -> float:
    """Seconds to the next look: doors about every second at first; bulk requests when what is left should be done."""
    if intent.operation not in BULK_OPERATIONS:
        return _DOOR_INTERVAL if intent.polls <= 6 else min(1.5 ** (intent.polls - 5), 10.0)
    result = record.result if record else None
    done, total = (result.completed_member_count or 0, result.member_count or 0) if result else (0, 0)
    if done and total and intent.accepted_at:
        elapsed = (database_now() - intent.accepted_at).total_seconds()
        # Never longer than ten seconds while it moves: somebody may be looking at its progress.
        return min(max(1.1 * elapsed * (total - done) / done, _SOONEST), 10.0)
    return min(1.5**intent.polls, 30.0)


def _seconds_per_member(intent: Intent, members: int) -> float | None:
    """Seconds a member, by the newest finished bulk request of the same kind; None when there is none.

    One that was much smaller says nothing: most of its time went by until somebody looked. One that was done when it
    was first looked at may have been done long before: half of its time is taken, or each would wait for longer.
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
