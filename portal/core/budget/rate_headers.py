"""What an answer's rate headers mean for a gauge. The caller holds its row and saves it.

The service's newest word is the truth about its count, in both directions: its limit, and how many calls it counted.
It is believed as far as it is coherent: a service that counts at all has counted the call that it answers, and at least
half of what we made since its count began; one that promises more than that and then refuses is not believed for a
window. Nothing here stops calls for longer than the service says, and without its word for a minute at most.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.core.budget.gauge_readings import GaugeReading
from portal.core.budget.priorities import Priority

# How long to hold back where the service says that no call is left, and not until when.
DEFAULT_BLOCK = timedelta(seconds=60)
# A count that was this high before a call was made, and is half of that when it arrives, began anew.
_MIN_USED_BEFORE_DROP = 4


@dataclass(frozen=True)
class CountedCall:
    """One call that was counted: its number among its token's, how many counted then, it included, and whose it is.

    `reported_used` is what the service was known to have counted before: calls that are on their way together arrive in
    any order, but this one after all that were answered by then.
    """

    number: int
    counted: int
    priority: Priority
    reported_used: int


@dataclass(frozen=True)
class RateReport:
    """The rate headers of an answer, None where one was missing, and whether it was a 429."""

    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None
    refused: bool = False


def apply_report(reading: GaugeReading, taken: CountedCall, said: RateReport) -> int | None:
    """Write the service's word into the gauge. Returns how many of our calls it counts when its count began anew."""
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
    """The reset that the answer names, a window away at most."""
    if not said.reset or said.reset < 0:
        return None
    return reading.now + timedelta(seconds=min(said.reset, reading.window))


def _is_plausible(reading: GaugeReading, taken: CountedCall, used: int) -> bool:
    doubted = reading.gauge.doubted_until
    return used >= 1 and taken.counted <= 2 * used and not (doubted is not None and doubted > reading.now)


def _update_limit(reading: GaugeReading, taken: CountedCall, said: RateReport) -> None:
    """The limit last seen is the limit; one above the configured only from a service that is seen to count."""
    gauge, limit = reading.gauge, said.limit or 0
    if limit <= reading.configured_limit:
        gauge.limit_seen = limit if limit > 0 else gauge.limit_seen
    elif said.remaining is not None and _is_plausible(reading, taken, limit - said.remaining):
        gauge.limit_seen = min(limit, 10**9)
    elif reading.limit > reading.configured_limit:
        gauge.limit_seen = None


def _reported_used(reading: GaugeReading, said: RateReport) -> int | None:
    """How many calls the service has counted; None where it does not say, or says what cannot be."""
    if said.remaining is None:
        return None
    used = (said.limit or reading.limit) - said.remaining
    return used if used >= 1 else None


def _calls_after_restart(reading: GaugeReading, taken: CountedCall, used: int) -> int | None:
    """How many calls the service counts of those that we count, when it has plainly forgotten most of them."""
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
    # Calls of ours that were made since may have arrived before this one: it counted them, and nobody else made them.
    overtaken = max(gauge.taken - taken.number, 0)
    gauge.others = 0 if anew is not None else min(max(used - taken.counted - overtaken, 0), 10**9)
    gauge.others_until = ends or reading.now + timedelta(seconds=reading.window)
    if anew is not None or ends is not None or (gauge.reset_at is not None and gauge.reset_at <= reading.now):
        gauge.reset_at = ends


def _update_block(reading: GaugeReading, taken: CountedCall, said: RateReport, ends: datetime | None) -> None:
    """Hold back until the reset that is named; a minute where none is, unless our own count knows better."""
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
