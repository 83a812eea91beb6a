"""Sending mails to accounts (`tenants/mails.py`), and forgetting what happened to them. They belong to no tenant.

Nobody rings for mails: the timer looks every two seconds, so that a page that writes one waits for nothing, and takes
the same time whether it has written one or not.
"""

import structlog
from django.db import transaction
from django.db.models import F, QuerySet

from portal.core.mirror.log_partitions import RETENTION
from portal.core.notifications import delivery_outcomes, mailing, sending
from portal.core.notifications.delivery_outcomes import DeliveryOutcome
from portal.core.notifications.models import State
from portal.core.timers import rounds, timer_registry
from portal.core.timers.clock import ClockTime
from portal.core.timers.scaled_pauses import scaled_seconds
from tenants import mails
from tenants.models import AccountEvent, AccountMail

log = structlog.get_logger(__name__)

# As with what alerts send, without the last try: hours later nobody waits for a link or a warning any more.
RETRY_PAUSES = sending.RETRY_PAUSES[:-1]


def due_mails() -> QuerySet[AccountMail]:
    return AccountMail.objects.filter(due_at__lte=ClockTime()).order_by("due_at")


def send_due() -> None:
    """Send what is due, until the mail server does not take one."""
    may_go_on = timer_registry.start_time_limit()
    while may_go_on():
        mail = _claim()
        if mail is None or not _save_outcome(mail, _try_to_send(mail)):
            return


def _old_events() -> list[QuerySet[AccountEvent]]:
    """What happened to accounts before what the log keeps."""
    return [AccountEvent.objects.filter(at__lt=ClockTime() - RETENTION)]


def _claim() -> AccountMail | None:
    """Take the mail that waits the longest for this process alone. Return it as it was: claimed if its sender died."""
    with transaction.atomic():
        rows = due_mails().select_related("user").select_for_update(of=("self",), skip_locked=True)
        mail = rows.first()
        if mail is not None:
            now = ClockTime()
            AccountMail.objects.filter(pk=mail.pk).update(
                claimed_at=now, due_at=now + sending.LEASE, attempts=F("attempts") + 1
            )
    return mail


def _try_to_send(mail: AccountMail) -> DeliveryOutcome:
    """Return how this try ended. Of one whose sender died nobody knows whether it arrived."""
    if mail.claimed_at is not None and mail.kind not in mails.RESENDABLE_KINDS:
        return delivery_outcomes.uncertain("")
    if not mail.user.is_active or mail.attempts > len(RETRY_PAUSES):
        return delivery_outcomes.failed("account not active" if not mail.user.is_active else "no more tries")
    return mailing.send(mails.build_message(mail))


def _save_outcome(mail: AccountMail, outcome: DeliveryOutcome) -> bool:
    """Delete what has ended, or set the next try. Return whether the mail server took it or refused it for good."""
    again = outcome.should_retry or (outcome.state == State.UNCERTAIN and mail.kind in mails.RESENDABLE_KINDS)
    row = AccountMail.objects.filter(pk=mail.pk, attempts=mail.attempts + 1)
    if again and mail.attempts < len(RETRY_PAUSES):
        row.update(claimed_at=None, due_at=ClockTime() + RETRY_PAUSES[mail.attempts])
        return False
    row.delete()
    if outcome.state != State.TOLD:
        said = {"kind": mail.kind, "user_id": mail.user_id, "answer": outcome.answer}
        log.warning("account_mail_not_sent", state=str(outcome.state), **said)
    return not again


def register() -> None:
    timer_registry.register(
        "account_mails", send_due, every=scaled_seconds(2), queue="sync", due_rows=lambda: [due_mails()], seconds=60
    )
    rounds.register("account_events", rounds.delete_steps(_old_events), every=12 * 3600.0, queue="sync", seconds=60)
