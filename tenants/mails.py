"""Mails to accounts, saved in the transaction of the change and sent by a worker.

The worker is in `portal.domain.notifications.account_mails`. A kind of mail is a template,
`templates/tenants/mail/<kind>.txt`: its first line is the subject. The template gets the values, `person`, `at` (when
it was saved) and `portal` (the site's address).
"""

import re

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import get_template, render_to_string
from django.utils.translation import get_language, override

from tenants.models import AccountMail, User

RESET_LINK = "password_reset"
#: Sent again although it may have arrived: without it the person cannot continue.
RESENDABLE_KINDS = frozenset({RESET_LINK})


def queue(*, to: User, kind: str, values: dict[str, str]) -> None:
    """Save a mail to a person. Raises TemplateDoesNotExist for an unknown kind."""
    get_template(_template(kind))
    AccountMail.objects.create(user=to, kind=kind, values=values, language=get_language() or settings.LANGUAGE_CODE)


def build_message(mail: AccountMail) -> EmailMessage:
    """Return a mail in the person's language."""
    given = {"person": mail.user, "at": mail.written_at, "portal": settings.PORTAL_URL}
    with override(mail.user.language or mail.language):
        subject, _end, text = render_to_string(_template(mail.kind), mail.values | given).strip().partition("\n")
    text = re.sub(r"\n{3,}", "\n\n", text.strip())  # blank lines where the template leaves something out
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(" ".join(subject.split()), f"{text}\n", None, [mail.user.email], headers=headers)


def _template(kind: str) -> str:
    return f"tenants/mail/{kind}.txt"
