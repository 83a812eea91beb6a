"""How one try of a telling ended."""

from dataclasses import dataclass

from portal.core.notifications.models import State


@dataclass(frozen=True)
class DeliveryOutcome:
    """The state, in short what was answered, and whether to try again: only what surely did not arrive."""

    state: State
    answer: str = ""
    should_retry: bool = False


def sent(answer: str) -> DeliveryOutcome:
    return DeliveryOutcome(State.TOLD, answer)


def uncertain(answer: str) -> DeliveryOutcome:
    """It may have arrived: not sent again."""
    return DeliveryOutcome(State.UNCERTAIN, answer)


def failed(answer: str) -> DeliveryOutcome:
    """It did not arrive, and would not if it were sent again."""
    return DeliveryOutcome(State.FAILED, answer)


def failed_for_now(answer: str) -> DeliveryOutcome:
    """It did not arrive; the next try may."""
    return DeliveryOutcome(State.FAILED, answer, should_retry=True)
