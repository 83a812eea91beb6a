"""A gauge at one moment: which calls are left, for which priority, and when more are."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from portal.domain.budget.models import Gauge
from portal.domain.budget.priorities import MARGIN_SECONDS, STAGGER_SECONDS, STEP_SECONDS, Priority, may_spend

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
