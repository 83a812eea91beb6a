"""One worker at a time for each kind of a tenant: claimed by one UPDATE, fenced by a token.

A lease ends by itself when its worker dies. A worker that was only slow finds its token gone and stops: `hold` is
called in every transaction that writes.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, Value

from portal.core.mirror.kinds import EVERY, Kind
from portal.core.mirror.models import MirrorState
from portal.core.timers.clock import ClockTime

LEASE = timedelta(seconds=60)
_LONGEST_PAUSE = timedelta(hours=1)
_SECONDS_A_PAGE = 75


class LeaseLost(Exception):
    """Another worker took over; nothing more may be written by this one."""


@dataclass(frozen=True)
class Lease:
    """A claimed kind of the entered tenant."""

    state_id: int
    kind: Kind
    token: uuid.UUID

    def hold(self) -> None:
        """Prolong the lease and lock its row until the transaction ends. Raises LeaseLost."""
        held = MirrorState.objects.filter(pk=self.state_id, lease=self.token)
        if not held.update(lease_until=ClockTime() + Value(LEASE)):
            raise LeaseLost(self.kind)

    def done(self, *, as_of: datetime, total: int | None = None, pages: int = 1) -> None:
        """The kind is complete as of a moment: due again after its interval, give or take a tenth.

        A list of many pages is read less often, so that it never takes more than some fifty calls an hour.
        """
        spread = random.uniform(0.9, 1.1)  # noqa: S311 - spreads tenants over time
        wait = spread * max(EVERY[self.kind], pages * _SECONDS_A_PAGE)
        counted = {} if total is None else {"total": total}
        self._finish(timedelta(seconds=wait), as_of=as_of, error="", error_at=None, failures=0, **counted)

    def pause(self, until: datetime) -> None:
        """Nothing went wrong: go on at `until`."""
        held = MirrorState.objects.filter(pk=self.state_id, lease=self.token)
        held.update(lease=None, lease_until=None, due_at=until, rung_at=None)

    def failed(self, reason: str, *, wait: timedelta | None = None) -> None:
        """Say why, and try again later: after `wait`, else after 1, 2, 4, … minutes, at most an hour."""
        failures = MirrorState.objects.values_list("failures", flat=True).get(pk=self.state_id)
        wait = wait or min(timedelta(minutes=2 ** min(failures, 6)), _LONGEST_PAUSE)
        self._finish(wait, error=reason[:60], error_at=ClockTime(), failures=F("failures") + 1)

    def _finish(self, wait: timedelta, **values: object) -> None:
        held = MirrorState.objects.filter(pk=self.state_id, lease=self.token)
        if not held.update(lease=None, lease_until=None, due_at=ClockTime() + Value(wait), rung_at=None, **values):
            raise LeaseLost(self.kind)


def claim(kind: Kind) -> Lease | None:
    """The lease of a kind of the entered tenant that is due and that nobody holds; None otherwise."""
    token = uuid.uuid4()
    free = MirrorState.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=ClockTime()), kind=kind, due_at__lte=ClockTime()
    )
    if not free.update(lease=token, lease_until=ClockTime() + Value(LEASE)):
        return None
    return Lease(MirrorState.objects.values_list("pk", flat=True).get(lease=token), kind, token)
