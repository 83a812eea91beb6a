"""Messages about alerts: who gets one, and its text with what the reader may see of the alert now."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.base.restore.models import Restore
from portal.base.timers.clock import database_now
from portal.base.ui.value_words import add_label
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.rules import Hours
from portal.domain.alerts.words import AlertTexts
from portal.domain.notifications import outbox
from portal.domain.notifications.models import AlertRecipients, NotificationSettings, OutgoingMessage, WebAddress
from portal.domain.notifications.outbox import MessageKind, MessageText
from tenants import roles
from tenants.access import Access
from tenants.models import Staff
from tenants.roles import Permission


def default_min_severity(role: str) -> int:
    """Return from which severity on a role gets e-mail if the person has not chosen one; 0: none."""
    return Severity.ALARM if roles.find_role(role).permissions >= {Permission.ALERTS_TAKE} else 0


def on_new_alerts(alerts: Sequence[Alert]) -> None:
    """Queue the messages of new alerts. Alerts from before a restore may have been sent already."""
    now = database_now()
    restored_at = Restore.objects.order_by("-found_at").values_list("found_at", flat=True).first()
    staff = [each for each in _active_staff() if Permission.ALERTS_VIEW in roles.find_role(each.role).permissions]
    wishes = {
        each.user_id: each for each in NotificationSettings.objects.filter(user__in=[each.user_id for each in staff])
    }
    audiences = {each.kind: each for each in AlertRecipients.objects.all()}
    addresses = list(WebAddress.objects.only("pk", "tenant_id", "least"))
    rows: list[OutgoingMessage] = []
    for alert in alerts:
        is_old = restored_at is not None and alert.began_at < restored_at
        values = {"kind": ALERT.name, "subject": alert.pk}
        recipients = (each for each in staff if _is_recipient(each, audiences.get(alert.kind)))
        people = (each for each in recipients if _wants_mail(each, wishes.get(each.user_id), alert, now))
        new = [OutgoingMessage(user_id=each.user_id, **values) for each in people]
        new += [OutgoingMessage(address=each, **values) for each in addresses if alert.severity >= each.least]
        rows += map(outbox.as_restored, new) if is_old else new
    outbox.queue(rows)


def _active_staff() -> Iterator[Staff]:
    return Staff.objects.filter(is_active=True, user__is_active=True).order_by("pk").iterator()


def _is_recipient(staff: Staff, audience: AlertRecipients | None) -> bool:
    return audience is None or staff.role in audience.roles or staff.user_id in audience.people


def _wants_mail(staff: Staff, wish: NotificationSettings | None, alert: Alert, now: datetime) -> bool:
    """Return True if a person wants e-mail of an alert now."""
    least = wish.least if wish is not None else default_min_severity(staff.role)
    hours = Hours.of(wish.hours) if wish is not None else None
    return 0 < least <= alert.severity and not (hours is not None and hours.includes(now))


def _may_receive(_alert_id: int, access: Access) -> bool:
    return access.can(Permission.ALERTS_VIEW)


def _write(alert_id: int, access: Access | None) -> MessageText | None:
    alert = Alert.objects.filter(pk=alert_id).first()
    if alert is None:
        return None
    texts = AlertTexts.of(access, [alert]) if access is not None else AlertTexts(None, {})
    severity, sentence = str(Severity(alert.severity).label), texts.sentence(alert)
    if access is None:
        return MessageText(add_label(sentence, severity))
    values = {
        "alert": alert,
        "headline": add_label(sentence, severity),
        "tenant": access.tenant,
        "address": outbox.page_url(ALERT.route, alert.pk),
        "settings": settings.PORTAL_URL + reverse("alerts:notify", args=[access.tenant.slug]),
    }
    return MessageText(add_label(texts.title(alert), severity), render_to_string("notifications/mail.txt", values))


ALERT = MessageKind(
    name="alert",
    route="alerts:alert",
    may_receive=_may_receive,
    write=_write,
    test_text=_("Test from %(tenant)s: alerts arrive here."),
)
