"""Apply an answer's rate headers to a gauge. The caller locks the gauge's row and saves it.

The newest headers are trusted: the limit, and how many calls the service counted. They must be plausible: a service
that counts has counted the answered call and at least half of our calls since its count began. If it promises more and
then refuses, higher numbers are ignored for a window. Calls stop only for as long as the service says, or for one
minute if it names no time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.domain.budget.gauge_readings import GaugeReading
from portal.domain.budget.priorities import Priority

# How long to wait if the service reports that no call is left and names no time.
DEFAULT_BLOCK = timedelta(seconds=60)
# If a count was at least this high before a call and drops by half with it, the service's count restarted.
_MIN_USED_BEFORE_DROP = 4


@dataclass(frozen=True)
class CountedCall:
    """One counted call: its number among its token's calls, the calls that counted then including it, and its priority.

    `reported_used` is the service's last known count before the call. Calls that are sent at the same time arrive in
    any order, but after all calls that were answered before.
    """

    number: int
    counted: int
    priority: Priority
    reported_used: int


@dataclass(frozen=True)
class RateReport:
    """The rate headers of an answer, None for a missing one, and whether it was a 429."""

    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None
    refused: bool = False


def apply_report(reading: GaugeReading, taken: CountedCall, said: RateReport) -> int | None:
    """Apply the headers to the gauge. Return the number of our counted calls if the service's count restarted."""
    gauge = reading.gauge
    ends = _reset_time(reading, said)
    newer = taken.number > gauge.heard
    if said.refused:
        gauge.refused += 1
        if said.remaining:
            gauge.doubted_until = reading.now + timedelta(seconds=reading.window)
        said = RateReport(said.limit, 0, said.reset, refused=True)
    if newer and said.limit:
        _update_limit(reading, taken, said)
    used = _reported_used(reading, said)
    anew = None
    if newer and used is not None:
        anew = _calls_after_restart(reading, taken, used)
        _update_usage(reading, taken, used, ends, anew)
    _update_block(reading, taken, said, ends)
    return anew


def _reset_time(reading: GaugeReading, said: RateReport) -> datetime | None:
    """Return the answer's reset time, at most a window away."""
    if not said.reset or said.reset < 0:
        return None
    return reading.now + timedelta(seconds=min(said.reset, reading.window))


def _is_plausible(reading: GaugeReading, taken: CountedCall, used: int) -> bool:
    doubted = reading.gauge.doubted_until
    return used >= 1 and taken.counted <= 2 * used and not (doubted is not None and doubted > reading.now)


def _update_limit(reading: GaugeReading, taken: CountedCall, said: RateReport) -> None:
    """Update the limit from the headers. One above the configured limit must come from a service that counts calls."""
    gauge, limit = reading.gauge, said.limit or 0
    if limit <= reading.configured_limit:
        gauge.limit_seen = limit if limit > 0 else gauge.limit_seen
    elif said.remaining is not None and _is_plausible(reading, taken, limit - said.remaining):
        gauge.limit_seen = min(limit, 10**9)
    elif reading.limit > reading.configured_limit:
        gauge.limit_seen = None


def _reported_used(reading: GaugeReading, said: RateReport) -> int | None:
    """Return how many calls the service has counted; None if it does not report it, or reports something impossible."""
    if said.remaining is None:
        return None
    used = (said.limit or reading.limit) - said.remaining
    return used if used >= 1 else None


def _calls_after_restart(reading: GaugeReading, taken: CountedCall, used: int) -> int | None:
    """Return how many of our calls the service counts if its count clearly restarted; otherwise None."""
    gauge = reading.gauge
    if 2 * used >= taken.counted or (gauge.doubted_until is not None and gauge.doubted_until > reading.now):
        return None
    reset_has_come = gauge.reset_at is not None and gauge.reset_at <= reading.now
    fallen = taken.reported_used >= _MIN_USED_BEFORE_DROP and 2 * used <= taken.reported_used
    return used + gauge.taken - taken.number if reset_has_come or fallen else None


def _update_usage(
    reading: GaugeReading, taken: CountedCall, used: int, ends: datetime | None, anew: int | None
) -> None:
    gauge = reading.gauge
    gauge.heard, gauge.heard_used = taken.number, min(used, 10**9)
    # Later calls of ours may have arrived before this one. The service counted them, so they are not others' calls.
    overtaken = max(gauge.taken - taken.number, 0)
    gauge.others = 0 if anew is not None else min(max(used - taken.counted - overtaken, 0), 10**9)
    gauge.others_until = ends or reading.now + timedelta(seconds=reading.window)
    if anew is not None or ends is not None or (gauge.reset_at is not None and gauge.reset_at <= reading.now):
        gauge.reset_at = ends


def _update_block(reading: GaugeReading, taken: CountedCall, said: RateReport, ends: datetime | None) -> None:
    """Block calls until the reported reset, or for a minute if there is none and the count does not contradict."""
    gauge = reading.gauge
    told = said.refused or (said.remaining == 0 and (ends is not None or gauge.others > 0))
    if told:
        until = ends or reading.now + DEFAULT_BLOCK
        late = gauge.limited_at is not None and taken.number <= gauge.limited_at
        if late and gauge.blocked_until is not None and gauge.blocked_until >= until:
            return
        gauge.limited_at, gauge.blocked_until, gauge.guessed, gauge.tried_at = gauge.taken, until, ends is None, None
        gauge.others_until = until
    elif gauge.limited_at is not None and taken.number > gauge.limited_at:
        gauge.limited_at = gauge.blocked_until = gauge.tried_at = None
        gauge.guessed = False
