"""How one try of a telling ended."""

from dataclasses import dataclass

from portal.core.telling.models import State


@dataclass(frozen=True)
class Outcome:
    """The state, in short what was answered, and whether to try again: only what surely did not arrive."""

    state: State
    answer: str = ""
    again: bool = False


def told(answer: str) -> Outcome:
    return Outcome(State.TOLD, answer)


def uncertain(answer: str) -> Outcome:
    """It may have arrived: not sent again."""
    return Outcome(State.UNCERTAIN, answer)


def failed(answer: str) -> Outcome:
    """It did not arrive, and would not if it were sent again."""
    return Outcome(State.FAILED, answer)


def later(answer: str) -> Outcome:
    """It did not arrive; the next try may."""
    return Outcome(State.FAILED, answer, again=True)
