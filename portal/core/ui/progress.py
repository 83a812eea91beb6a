"""Long work while it runs: counts, rate, what is left, what failed so far, and stopping it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Progress:
    """What `{% progress %}` shows. Counts are of the same thing, named by `unit` ("rows", "members").

    - `done` of `total`, of which `failed` and `uncertain`; `state` is a chip's (running, waiting, done, stopped …).
    - `calls_left`: calls that the rest will cost; `minutes_left`: an estimate; `rate`: per minute.
    - `poll_url` answers with this component again while not `final`; `stop_url` is posted to.
    - `notes`: plain lines beneath ("Waiting for calls until 10:12").
    """

    title: Text
    unit: Text
    done: int
    total: int
    state: str = "running"
    failed: int = 0
    uncertain: int = 0
    rate: float | None = None
    calls_left: int | None = None
    minutes_left: int | None = None
    started_at: datetime | None = None
    notes: Sequence[Text] = ()
    failures_url: str = ""
    poll_url: str = ""
    stop_url: str = ""
    final: bool = False
    id: str = "progress"
    poll_seconds: int = 2

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // self.total) if self.total > 0 else 100 if self.final else 0

    @property
    def good(self) -> int:
        return max(0, self.done - self.failed - self.uncertain)

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """(tone, x, width) of the bar's stretches, in percent."""
        at, drawn = 0.0, []
        for tone, count in (("good", self.good), ("bad", self.failed), ("doubt", self.uncertain)):
            width = round(100 * count / self.total, 3) if self.total > 0 else 0
            if width:
                drawn.append((tone, round(at, 3), width))
                at += width
        return drawn
