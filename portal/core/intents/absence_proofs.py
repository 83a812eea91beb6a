"""What readings prove of a request whose answer was lost. On this one rule it depends that nobody exists twice.

A service that was too slow to answer may still be at work, so that one reading without the thing proves nothing,
however late it is. What was looked for and not found is surely absent when two readings agree whose beginnings lie a
minute apart, or when the service itself has said that the request is over. See docs/decisions/0053.
"""

from datetime import datetime, timedelta
from typing import Any

from accessapi.resources import write_moment
from portal.core.intents.handlers import Finding
from portal.core.intents.models import Intent

MIN_INTERVAL = timedelta(seconds=60)
_FIRST_MISSING_KEY = "first seen missing"


def judge_absence(
    intent: Intent,
    at: datetime,
    evidence: dict[str, Any],
    *,
    min_interval: timedelta = MIN_INTERVAL,
    is_over: bool = False,
    is_whole: bool = True,
) -> Finding:
    """Judge a reading that began at `at` and did not find what was asked for: surely not applied, or to be read again.

    `min_interval` is longer where the service may take longer. `is_over`: the service has said that nothing is on its
    way.
    Nothing is proven by a list that is not `is_whole`, of which some could not be read: that is for a person to decide.
    """
    if not is_whole:
        return Finding(None, evidence)
    first = first_missing_at(intent)
    if is_over or proves_absence(first, at, min_interval=min_interval):
        return Finding(False, evidence | ({_FIRST_MISSING_KEY: write_moment(first)} if first else {}))
    again_at = at + min_interval + timedelta(seconds=1)
    return Finding(None, {**evidence, _FIRST_MISSING_KEY: write_moment(first or at)}, retry_at=again_at)


def proves_absence(first: datetime | None, at: datetime, *, min_interval: timedelta = MIN_INTERVAL) -> bool:
    """Tell whether a reading that began at `at` and agrees with one that began at `first` proves an absence."""
    return first is not None and at - first >= min_interval


def first_missing_at(intent: Intent) -> datetime | None:
    """Return when the first reading began that did not find what was asked for."""
    told = (intent.result.get("evidence") or {}).get(_FIRST_MISSING_KEY)
    return datetime.fromisoformat(told) if told else None


def next_useful_reading_at(intent: Intent) -> datetime:
    """Return when a reading must begin, at the earliest, to tell more than is known."""
    first = first_missing_at(intent)
    return first + MIN_INTERVAL if first else intent.sent_at or intent.created_at
