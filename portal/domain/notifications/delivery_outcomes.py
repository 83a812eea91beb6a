"""The possible results of one try to deliver a notification."""

from dataclasses import dataclass

from portal.domain.notifications.models import State


@dataclass(frozen=True)
class DeliveryOutcome:
    """The state, a short text of the answer, and whether to try again.

    Only notifications that certainly did not arrive are tried again.
    """

    state: State
    answer: str = ""
    should_retry: bool = False


def sent(answer: str) -> DeliveryOutcome:
    return DeliveryOutcome(State.TOLD, answer)


def uncertain(answer: str) -> DeliveryOutcome:
    """Return the result of a notification that may have arrived. It is not sent again."""
    return DeliveryOutcome(State.UNCERTAIN, answer)


def failed(answer: str) -> DeliveryOutcome:
    """Return the result of a notification that did not arrive and never will."""
    return DeliveryOutcome(State.FAILED, answer)


def failed_for_now(answer: str) -> DeliveryOutcome:
    """Return the result of a notification that did not arrive but may at the next try."""
    return DeliveryOutcome(State.FAILED, answer, should_retry=True)
