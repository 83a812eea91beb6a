"""Send one mail, and return whether it arrived."""

import contextlib
from dataclasses import dataclass
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.core.mail import EmailMessage, get_connection

from portal.domain.notifications.models import State


@dataclass(frozen=True)
class DeliveryOutcome:
    """The state, a short text of the answer, and whether to try again.

    Only messages that certainly did not arrive are tried again.
    """

    state: State
    answer: str = ""
    should_retry: bool = False

    @classmethod
    def sent(cls, answer: str) -> "DeliveryOutcome":
        return cls(State.SENT, answer)

    @classmethod
    def uncertain(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a message that may have arrived. It is not sent again."""
        return cls(State.UNCERTAIN, answer)

    @classmethod
    def failed(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a message that did not arrive and never will."""
        return cls(State.FAILED, answer)

    @classmethod
    def failed_for_now(cls, answer: str) -> "DeliveryOutcome":
        """Return the result of a message that did not arrive but may at the next try."""
        return cls(State.FAILED, answer, should_retry=True)


# How long the mail server may take to answer.
_SECONDS = 10


def send(message: EmailMessage) -> DeliveryOutcome:
    """Send a mail over a separate connection. An error before the handover means that it certainly did not arrive."""
    connection = get_connection(timeout=_SECONDS)
    try:
        connection.open()
    except (SMTPException, OSError) as error:
        return DeliveryOutcome.failed_for_now(type(error).__name__)
    try:
        connection.send_messages([message])
    except SMTPRecipientsRefused as error:
        return _outcome_of_refusal(max((code for code, _text in error.recipients.values()), default=550))
    except SMTPResponseException as error:
        return _outcome_of_refusal(error.smtp_code)
    except (SMTPException, OSError) as error:
        return DeliveryOutcome.uncertain(type(error).__name__)
    finally:
        with contextlib.suppress(SMTPException, OSError):
            connection.close()
    return DeliveryOutcome.sent("")


def _outcome_of_refusal(code: int) -> DeliveryOutcome:
    """Return the result of an SMTP refusal: 4xx is temporary, 5xx is permanent."""
    return (
        DeliveryOutcome.failed_for_now(f"SMTP {code}") if 400 <= code < 500 else DeliveryOutcome.failed(f"SMTP {code}")
    )
