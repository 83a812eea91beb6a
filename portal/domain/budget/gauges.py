"""A gauge at one moment: which calls are left, and what an answer's rate headers change.

The newest headers are trusted: the limit, and how many calls the service counted. They must be plausible: a service
that counts has counted the answered call and at least half of our calls since its count began. If it promises more and
then refuses, higher numbers are ignored for a window. Calls stop only for as long as the service says, or for one
minute if it names no time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from portal.domain.budget.models import Gauge
from portal.domain.budget.priorities import (
    MARGIN_SECONDS,
    STAGGER_SECONDS,
    STEP_SECONDS,
    Priority,
    may_spend,
    reserved_above,
)

# A probe call (made to check whether a limit has ended) counts as lost after this time without an answer.
_PROBE_TIMEOUT = {Priority.DOORS: timedelta(seconds=3)}
_PROBE_TIMEOUT_DEFAULT = timedelta(seconds=15)

CallsByStep = tuple[tuple[int, int, int], ...]  # (step, priority, calls that count), oldest first


@dataclass(frozen=True)
class GaugeReading:
    """The calls that count at `now`. `configured_limit` is from the overrides file, `limit` is the one that applies."""

    gauge: Gauge
    now: datetime
    configured_limit: int
    window: int
    by_step: CallsByStep

    @property
    def limit(self) -> int:
        return self.gauge.limit_seen or self.configured_limit

    @property
    def own_calls(self) -> int:
        """Return the portal's own calls that count."""
        return sum(calls for _, _, calls in self.by_step)

    @property
    def calls_of_others(self) -> int:
        until = self.gauge.others_until
        return self.gauge.others if until is not None and until > self.now else 0

    @property
    def used(self) -> int:
        return self.own_calls + self.calls_of_others

    @property
    def is_limited(self) -> bool:
        """Return True if the service reported that no call is left, and nothing newer since."""
        return self.gauge.limited_at is not None

    @property
    def step(self) -> int:
        return int(self.now.timestamp()) // STEP_SECONDS

    def used_by(self, priority: Priority) -> int:
        if priority == Priority.OTHERS:
            return self.calls_of_others
        return sum(calls for _, who, calls in self.by_step if who == priority)

    def expiry_of_step(self, step: int) -> datetime:
        """Return when calls of this step stop counting."""
        return datetime.fromtimestamp((step + 1) * STEP_SECONDS + self.window + MARGIN_SECONDS, UTC)

    def has_room_for(self, priority: Priority) -> bool:
        """Return True if the count allows a call of this priority."""
        used_by_sync = self.used_by(Priority.SYNC)
        return not self.is_limited and may_spend(priority, limit=self.limit, used=self.used, used_by_sync=used_by_sync)

    def may_call(self, priority: Priority) -> bool:
        turn = self._probe_at(priority)
        return self.has_room_for(priority) or (turn is not None and turn <= self.now)

    def may_call_at(self, priority: Priority) -> datetime:
        """Return the first moment at which a call of this priority is expected to be possible."""
        soon = self.now + timedelta(seconds=STAGGER_SECONDS)
        turn = self._probe_at(priority)
        if turn is not None:
            turn = max(min(turn, self._answer_expected_by()), soon)
        if self.is_limited and turn is not None:
            return turn
        used, by_sync, at = self.used, self.used_by(Priority.SYNC), soon
        for moment, calls, of_sync in self._expiries():
            if may_spend(priority, limit=self.limit, used=used, used_by_sync=by_sync):
                break
            used, by_sync, at = used - calls, by_sync - of_sync, max(at, moment)
        return min(at, turn) if turn is not None else at

    def seconds_until_room(self, calls: int, priority: Priority) -> float:
        """Return about how long the last of this many calls has to wait, if all are made as soon as possible.

        Calls that do not fit wait until earlier ones stop counting. More calls than a window has wait for each other.
        """
        if not calls:
            return 0.0
        share = max(self.limit - reserved_above(priority, self.limit), 1)
        full_windows, last = divmod(calls - 1, share)
        room, at = share - self.used, self.now
        for moment, expiring, _of_sync in self._expiries():
            if room > last:
                break
            room, at = room + expiring, max(at, moment)
        reset = self._reset_expected_at()
        if reset is not None and (self.is_limited or at > reset):
            at = max(reset, self.now)
        return (at - self.now).total_seconds() + full_windows * self.window

    def refills_at(self) -> datetime | None:
        """Return when the next calls become available; None while none is used."""
        return next((moment for moment, _, _ in self._expiries()), None)

    def _expiries(self) -> Iterator[tuple[datetime, int, int]]:
        """Return (time, calls, sync's share of them) of the calls that stop counting, soonest first."""
        leaving = [
            (self.expiry_of_step(step), calls, calls if who == Priority.SYNC else 0)
            for step, who, calls in self.by_step
        ]
        if self.calls_of_others and self.gauge.others_until is not None:
            leaving.append((self.gauge.others_until, self.calls_of_others, 0))
        return iter(sorted(leaving))

    def _reset_expected_at(self) -> datetime | None:
        """Return when calls are available again according to the service's newest report."""
        return (self.gauge.blocked_until or self.now) if self.is_limited else self.gauge.reset_at

    def _answer_expected_by(self) -> datetime:
        """Return when another call's answer is expected to show whether new calls are available."""
        return max(self._reset_expected_at() or self.now, self.now) + timedelta(seconds=4 * STAGGER_SECONDS)

    def _probe_at(self, priority: Priority) -> datetime | None:
        """Return when one probe call may be made to check for new calls, regardless of the count.

        A door command does not wait for a time that the service did not name.
        """
        ends, tried_at = self._reset_expected_at(), self.gauge.tried_at
        if ends is None:
            return None
        if self.gauge.guessed and priority == Priority.DOORS:
            return self.now
        turn = ends + timedelta(seconds=STAGGER_SECONDS * priority.rank)
        if tried_at is not None and tried_at >= ends:
            turn = max(turn, tried_at + _PROBE_TIMEOUT.get(priority, _PROBE_TIMEOUT_DEFAULT))
        return turn


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


def apply_report(reading: GaugeReading, taken: CountedCall, report: RateReport) -> int | None:
    """Apply the headers to the gauge. The caller locks its row and saves it.

    Return the number of our counted calls if the service's count restarted.
    """
    gauge = reading.gauge
    ends = _reset_time(reading, report)
    newer = taken.number > gauge.answered
    if report.refused:
        gauge.refused += 1
        if report.remaining:
            gauge.doubted_until = reading.now + timedelta(seconds=reading.window)
        report = RateReport(report.limit, 0, report.reset, refused=True)
    if newer and report.limit:
        _update_limit(reading, taken, report)
    used = _reported_used(reading, report)
    anew = None
    if newer and used is not None:
        anew = _calls_after_restart(reading, taken, used)
        _update_usage(reading, taken, used, ends, anew)
    _update_block(reading, taken, report, ends)
    return anew


def _reset_time(reading: GaugeReading, report: RateReport) -> datetime | None:
    """Return the answer's reset time, at most a window away."""
    if not report.reset or report.reset < 0:
        return None
    return reading.now + timedelta(seconds=min(report.reset, reading.window))


def _is_plausible(reading: GaugeReading, taken: CountedCall, used: int) -> bool:
    doubted = reading.gauge.doubted_until
    return used >= 1 and taken.counted <= 2 * used and not (doubted is not None and doubted > reading.now)


def _update_limit(reading: GaugeReading, taken: CountedCall, report: RateReport) -> None:
    """Update the limit from the headers. One above the configured limit must come from a service that counts calls."""
    gauge, limit = reading.gauge, report.limit or 0
    if limit <= reading.configured_limit:
        gauge.limit_seen = limit if limit > 0 else gauge.limit_seen
    elif report.remaining is not None and _is_plausible(reading, taken, limit - report.remaining):
        gauge.limit_seen = min(limit, 10**9)
    elif reading.limit > reading.configured_limit:
        gauge.limit_seen = None


def _reported_used(reading: GaugeReading, report: RateReport) -> int | None:
    """Return how many calls the service has counted; None if it does not report it, or reports something impossible."""
    if report.remaining is None:
        return None
    used = (report.limit or reading.limit) - report.remaining
    return used if used >= 1 else None


def _calls_after_restart(reading: GaugeReading, taken: CountedCall, used: int) -> int | None:
    """Return how many of our calls the service counts if its count clearly restarted; otherwise None."""
    gauge = reading.gauge
    if 2 * used >= taken.counted or (gauge.doubted_until is not None and gauge.doubted_until > reading.now):
        return None
    reset_has_come = gauge.reset_at is not None and gauge.reset_at <= reading.now
    has_dropped = taken.reported_used >= _MIN_USED_BEFORE_DROP and 2 * used <= taken.reported_used
    return used + gauge.taken - taken.number if reset_has_come or has_dropped else None


def _update_usage(
    reading: GaugeReading, taken: CountedCall, used: int, ends: datetime | None, anew: int | None
) -> None:
    gauge = reading.gauge
    gauge.answered, gauge.answered_used = taken.number, min(used, 10**9)
    # Later calls of ours may have arrived before this one. The service counted them, so they are not others' calls.
    later_calls = max(gauge.taken - taken.number, 0)
    gauge.others = 0 if anew is not None else min(max(used - taken.counted - later_calls, 0), 10**9)
    gauge.others_until = ends or reading.now + timedelta(seconds=reading.window)
    if anew is not None or ends is not None or (gauge.reset_at is not None and gauge.reset_at <= reading.now):
        gauge.reset_at = ends


def _update_block(reading: GaugeReading, taken: CountedCall, report: RateReport, ends: datetime | None) -> None:
    """Block calls until the reported reset, or for a minute if there is none and the count does not contradict."""
    gauge = reading.gauge
    is_exhausted = report.refused or (report.remaining == 0 and (ends is not None or gauge.others > 0))
    if is_exhausted:
        until = ends or reading.now + DEFAULT_BLOCK
        late = gauge.limited_at is not None and taken.number <= gauge.limited_at
        if late and gauge.blocked_until is not None and gauge.blocked_until >= until:
            return
        gauge.limited_at, gauge.blocked_until, gauge.guessed, gauge.tried_at = gauge.taken, until, ends is None, None
        gauge.others_until = until
    elif gauge.limited_at is not None and taken.number > gauge.limited_at:
        gauge.limited_at = gauge.blocked_until = gauge.tried_at = None
        gauge.guessed = False
