"""Data of two components: the outcome of a request to the service, and the progress of long work.

An area turns its row into an `OutcomeLine` for `{% outcome %}`. The template `components/outcome.html` draws it and
polls `poll_url` until it is final.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

Text = str | Promise

#: Every state with its label, icon and tone (a class of the same name).
STATES: dict[str, tuple[Text, str, str]] = {
    "recorded": (_("Recorded"), "clock", "going"),
    "sending": (_("Sending"), "arrow-up", "going"),
    "sent": (_("Sent"), "arrow-up", "going"),
    "accepted": (_("Accepted"), "arrow-up-right", "going"),
    "done": (_("Done"), "check", "good"),
    "refused": (_("Refused"), "x", "bad"),
    "uncertain": (_("Uncertain"), "question-mark", "doubt"),
    "expired": (pgettext_lazy("request", "Expired"), "clock-x", "quiet"),
    "cancelled": (_("Cancelled"), "ban", "quiet"),
}
FINAL = frozenset({"done", "refused", "uncertain", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class OutcomeStep:
    """One step: `label`, when it was reached (`at`), and `state`: done, now, ahead or broken."""

    label: Text
    state: str = "ahead"
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """Everything that the outcome line shows. Only `state` and `title` are required.

    - `state`: a key of STATES. `final`: stop polling; by default it depends on the state.
    - `title`: the request in the person's words: "Unlock: Main entrance".
    - `message`: what happened, in plain words. `service_code`, `service_detail`: the service's own text, shown as such.
    - `applied`, `not_applied`: what was and was not changed, one line each.
    - `next_steps`: what a person can do now. `actions`: `(label, url)` links for it.
    - `steps`: the steps so far; none are drawn if empty. `at`: when the state was reached; `by`: the requester.
    - `audit_url`: the audit entry. `poll_url`: returns this component again.
    """

    state: str
    title: Text
    id: str = ""
    message: Text = ""
    service_code: str = ""
    service_detail: str = ""
    applied: Sequence[Text] = ()
    not_applied: Sequence[Text] = ()
    next_steps: Sequence[Text] = ()
    actions: Sequence[tuple[Text, str]] = ()
    steps: Sequence[OutcomeStep] = ()
    at: datetime | None = None
    by: str = ""
    audit_url: str = ""
    poll_url: str = ""
    final: bool | None = None
    poll_seconds: float = 1
    details: Sequence[tuple[Text, Text]] = field(default_factory=tuple)

    @property
    def is_final(self) -> bool:
        return self.state in FINAL if self.final is None else self.final

    @property
    def word(self) -> Text:
        return STATES[self.state][0]

    @property
    def icon(self) -> str:
        return STATES[self.state][1]

    @property
    def tone(self) -> str:
        return STATES[self.state][2]


def outcome_steps(state: str, *, is_asynchronous: bool, at: dict[str, datetime] | None = None) -> list[OutcomeStep]:
    """Return the usual steps for `state`: recorded, sent, (accepted,) done. `at` has the times of those reached."""
    names = ["recorded", "sent", *(["accepted"] if is_asynchronous else []), "done"]
    times = at or {}
    broken = state in {"refused", "uncertain", "expired", "cancelled"}
    reached = names.index({"sending": "recorded"}.get(state, state)) if not broken else _furthest(names, times)
    steps = []
    for place, name in enumerate(names):
        last = place == len(names) - 1
        label = STATES[state][0] if broken and place == reached + 1 else STATES[name][0]
        mark = "done" if place <= reached else "broken" if broken and place == reached + 1 else "ahead"
        if not broken and place == reached + 1 and not last:
            mark = "now"
        if not broken and last and reached == place - 1:
            mark = "now"
        if broken and place > reached + 1:
            break
        steps.append(OutcomeStep(label, mark, times.get(name) or (times.get(state) if mark == "broken" else None)))
    return steps


def _furthest(names: list[str], times: dict[str, datetime]) -> int:
    return max((place for place, name in enumerate(names[:-1]) if name in times), default=0)


@dataclass(frozen=True, slots=True)
class Progress:
    """The data of `{% progress %}`. All counts are of the same thing, named by `unit` ("rows", "members").

    - `done` of `total`, of which `failed` and `uncertain`; `state` is a chip's (running, waiting, done, stopped …).
    - `calls_left`: API calls that the rest will need; `seconds_left`: an estimate; `rate`: per minute.
    - `poll_url` returns this component again while not `final`; `stop_url` receives a POST.
    - `notes`: plain lines below ("Waiting for calls until 10:12").
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
    seconds_left: int | None = None
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
    def succeeded(self) -> int:
        return max(0, self.done - self.failed - self.uncertain)

    @property
    def bar_parts(self) -> list[tuple[str, float, float]]:
        """Return (tone, x, width) of the parts of the bar, in percent."""
        at, drawn = 0.0, []
        for tone, count in (("good", self.succeeded), ("bad", self.failed), ("doubt", self.uncertain)):
            width = round(100 * count / self.total, 3) if self.total > 0 else 0
            if width:
                drawn.append((tone, round(at, 3), width))
                at += width
        return drawn
