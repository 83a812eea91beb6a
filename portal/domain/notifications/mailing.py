"""Send mails: an alert as an e-mail, in the person's language, with what they may see of it now."""

import contextlib
from dataclasses import dataclass
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import override

from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.words import AlertTexts
from portal.domain.notifications.models import State, Telling
from tenants.access import Access, access_to
from tenants.models import Tenant, current_tenant
from tenants.roles import Permission


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


# How long the mail server may take to answer.
_SECONDS = 10


def send_alert(telling: Telling) -> DeliveryOutcome:
    """Send an e-mail of an alert if the person may still see it."""
    tenant = current_tenant()
    access = access_to(telling.user, tenant) if telling.user is not None else None
    if telling.alert is None or access is None or access.support_session or not access.can(Permission.ALERTS_VIEW):
        return DeliveryOutcome.failed("no permission")
    with override(access.user.language or settings.LANGUAGE_CODE):
        return send(_message(telling, telling.alert, access))


def alert_url(tenant: Tenant, alert: Alert) -> str:
    """Return the absolute address of an alert's page."""
    return settings.PORTAL_URL + reverse("alerts:alert", args=[tenant.slug, alert.pk])


def _message(telling: Telling, alert: Alert, access: Access) -> EmailMessage:
    words = AlertTexts.of(access, [alert])
    severity = Severity(alert.severity).label
    said = {
        "alert": alert,
        "severity": severity,
        "sentence": words.sentence(alert),
        "tenant": access.tenant,
        "address": alert_url(access.tenant, alert),
        "settings": settings.PORTAL_URL + reverse("alerts:notify", args=[access.tenant.slug]),
    }
    subject = f"[{access.tenant.name}] {severity}: {words.title(alert)}"
    headers = {"Auto-Submitted": "auto-generated", "X-Alert": f"{alert.pk}.{telling.pk}"}
    return EmailMessage(subject, render_to_string("telling/mail.txt", said), None, [access.user.email], headers=headers)


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
