"""Send mails to accounts (`tenants/mails.py`) and delete old account events. Both belong to no tenant.

A timer looks for mails every two seconds. Pages do not start a task, so that they take the same time with or without a
mail.
"""

import structlog
from django.db import transaction
from django.db.models import F, QuerySet

from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.domain.history.partitions import RETENTION
from portal.domain.notifications import mailing, outbox
from portal.domain.notifications.mailing import DeliveryOutcome
from portal.domain.notifications.models import State
from tenants import mails
from tenants.models import AccountEvent, AccountMail

log = structlog.get_logger(__name__)

# The pauses of alerts without the last one: hours later, a link or warning is of no use.
RETRY_PAUSES = outbox.RETRY_PAUSES[:-1]


def due_mails() -> QuerySet[AccountMail]:
    return AccountMail.objects.filter(due_at__lte=ClockTime()).order_by("due_at")


def send_due() -> None:
    """Send due mails until the mail server refuses one."""
    may_go_on = timer_registry.start_time_limit()
    while may_go_on():
        mail = _claim()
        if mail is None or not _save_outcome(mail, _try_to_send(mail)):
            return


def old_events() -> list[QuerySet[AccountEvent]]:
    """Return the account events that are older than the log's retention."""
    return [AccountEvent.objects.filter(at__lt=ClockTime() - RETENTION)]


def _claim() -> AccountMail | None:
    """Claim the oldest due mail for this process and return it as it was before.

    If it already has `claimed_at`, its first sender crashed.
    """
    with transaction.atomic():
        rows = due_mails().select_related("user").select_for_update(of=("self",), skip_locked=True)
        mail = rows.first()
        if mail is not None:
            now = ClockTime()
            AccountMail.objects.filter(pk=mail.pk).update(
                claimed_at=now, due_at=now + outbox.LEASE, attempts=F("attempts") + 1
            )
    return mail


def _try_to_send(mail: AccountMail) -> DeliveryOutcome:
    """Return the result of this try. If an earlier sender crashed, it is unknown whether the mail arrived."""
    if mail.claimed_at is not None and mail.kind not in mails.RESENDABLE_KINDS:
        return DeliveryOutcome.uncertain("")
    if not mail.user.is_active or mail.attempts > len(RETRY_PAUSES):
        return DeliveryOutcome.failed("account not active" if not mail.user.is_active else "no more tries")
    return mailing.send(mails.build_message(mail))


def _save_outcome(mail: AccountMail, outcome: DeliveryOutcome) -> bool:
    """Delete a finished mail, or set its next try. Return True if the mail server gave a final answer."""
    again = outcome.should_retry or (outcome.state == State.UNCERTAIN and mail.kind in mails.RESENDABLE_KINDS)
    row = AccountMail.objects.filter(pk=mail.pk, attempts=mail.attempts + 1)
    if again and mail.attempts < len(RETRY_PAUSES):
        row.update(claimed_at=None, due_at=ClockTime() + RETRY_PAUSES[mail.attempts])
        return False
    row.delete()
    if outcome.state != State.SENT:
        facts = {"kind": mail.kind, "user_id": mail.user_id, "answer": outcome.answer}
        log.warning("account_mail_not_sent", state=str(outcome.state), **facts)
    return not again
