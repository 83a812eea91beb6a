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

    @classmethod
    def sent(cls, answer: str) -> "DeliveryOutcome":
        return cls(State.TOLD, answer)

    @classmethod
    def uncertain(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a notification that may have arrived. It is not sent again."""
        return cls(State.UNCERTAIN, answer)

    @classmethod
    def failed(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a notification that did not arrive and never will."""
        return cls(State.FAILED, answer)

    @classmethod
    def failed_for_now(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a notification that did not arrive but may at the next try."""
        return cls(State.FAILED, answer, should_retry=True)
