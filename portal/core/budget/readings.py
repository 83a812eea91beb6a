"""A gauge as it stood at one moment: what is left, for whom, and from when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from portal.core.budget.models import Gauge
from portal.core.budget.priorities import MARGIN_SECONDS, STEP_SECONDS, TURN_SECONDS, Priority, may_spend

# A call that was let through to see whether a limit has ended, and of which nothing was heard for so long, was lost.
_LOST = {Priority.DOORS: timedelta(seconds=3)}
_LOST_OTHERWISE = timedelta(seconds=15)

Steps = tuple[tuple[int, int, int], ...]  # (step, priority, calls that count), oldest first


@dataclass(frozen=True)
class Reading:
    """What counts at `now`. `configured` is the limit of the overrides file, `limit` the one that holds."""

    gauge: Gauge
    now: datetime
    configured: int
    window: int
    by_step: Steps

    @property
    def limit(self) -> int:
        return self.gauge.limit_seen or self.configured

    @property
    def counted(self) -> int:
        """Our own calls that count."""
        return sum(calls for _, _, calls in self.by_step)

    @property
    def others(self) -> int:
        until = self.gauge.others_until
        return self.gauge.others if until is not None and until > self.now else 0

    @property
    def used(self) -> int:
        return self.counted + self.others

    @property
    def limited(self) -> bool:
        """Whether the service said that no call is left, and nothing else since."""
        return self.gauge.limited_at is not None

    @property
    def step(self) -> int:
        return int(self.now.timestamp()) // STEP_SECONDS

    def used_by(self, priority: Priority) -> int:
        if priority == Priority.OTHERS:
            return self.others
        return sum(calls for _, who, calls in self.by_step if who == priority)

    def leaves_at(self, step: int) -> datetime:
        """When calls of this step stop counting."""
        return datetime.fromtimestamp((step + 1) * STEP_SECONDS + self.window + MARGIN_SECONDS, UTC)

    def fits(self, priority: Priority) -> bool:
        """Whether the count has room for a call of this priority."""
        used_by_sync = self.used_by(Priority.SYNC)
        return not self.limited and may_spend(priority, limit=self.limit, used=self.used, used_by_sync=used_by_sync)

    def allows(self, priority: Priority) -> bool:
        turn = self._turn_of(priority)
        return self.fits(priority) or (turn is not None and turn <= self.now)

    def allows_at(self, priority: Priority) -> datetime:
        """The first moment at which a call of this priority is expected to fit."""
        soon = self.now + timedelta(seconds=TURN_SECONDS)
        turn = self._turn_of(priority)
        if turn is not None:
            turn = max(min(turn, self._told_by()), soon)
        if self.limited and turn is not None:
            return turn
        used, by_sync, at = self.used, self.used_by(Priority.SYNC), soon
        for moment, calls, of_sync in self._leaving():
            if may_spend(priority, limit=self.limit, used=used, used_by_sync=by_sync):
                break
            used, by_sync, at = used - calls, by_sync - of_sync, max(at, moment)
        return min(at, turn) if turn is not None else at

    def refills_at(self) -> datetime | None:
        """When calls come free next; None while none is used."""
        return next((moment for moment, _, _ in self._leaving()), None)

    def _leaving(self) -> Iterator[tuple[datetime, int, int]]:
        """(when, how many calls, of them sync's) stop counting, soonest first."""
        leaving = [
            (self.leaves_at(step), calls, calls if who == Priority.SYNC else 0) for step, who, calls in self.by_step
        ]
        if self.others and self.gauge.others_until is not None:
            leaving.append((self.gauge.others_until, self.others, 0))
        return iter(sorted(leaving))

    def _ends(self) -> datetime | None:
        """When the service said that calls come back, as long as nothing else was heard."""
        return (self.gauge.blocked_until or self.now) if self.limited else self.gauge.reset_at

    def _told_by(self) -> datetime:
        """When it is worth asking again because somebody's call is about to tell whether they have."""
        return max(self._ends() or self.now, self.now) + timedelta(seconds=4 * TURN_SECONDS)

    def _turn_of(self, priority: Priority) -> datetime | None:
        """When one call may be made to see whether calls have come back, whatever the count says.

        A door does not wait for what the service did not say.
        """
        ends, tried_at = self._ends(), self.gauge.tried_at
        if ends is None:
            return None
        if self.gauge.guessed and priority == Priority.DOORS:
            return self.now
        turn = ends + timedelta(seconds=TURN_SECONDS * priority.turn)
        if tried_at is not None and tried_at >= ends:
            turn = max(turn, tried_at + _LOST.get(priority, _LOST_OTHERWISE))
        return turn
