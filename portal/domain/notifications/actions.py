"""Settings of notifications by people. In the audit log, addresses are masked and secrets are left out.

Recipients and web addresses are safety rules: fewer roles, people or web addresses are looser.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.value_words import join_values
from portal.domain.alerts.kinds import AlertKind
from portal.domain.alerts.rules import Hours
from portal.domain.intents.recording import Requester
from portal.domain.notifications import outbox
from portal.domain.notifications.alert_messages import ALERT
from portal.domain.notifications.models import AlertRecipients, NotificationSettings, OutgoingMessage, WebAddress
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues
from tenants import audit
from tenants.models import Staff
from tenants.roles import TENANT_ROLES, Permission, find_role
from tenants.sentences import Sentence, coded_sentence
from tenants.staff.throttle import SignInLimit


def mask_url(url: str) -> str:
    """Return the masked address: its host, and the last characters."""
    parts = urlsplit(url)
    return f"https://{parts.hostname}/…{url[-4:]}"


def audit_change(address: WebAddress, by: Requester, action: str) -> None:
    """Record a change of an address in the audit log."""
    after = {"url": mask_url(address.url), "least": address.get_least_display()}
    target = f"alert_address:{address.pk}"
    audit.record(
        **by.audit_author, action=action, target=target, summary=coded_sentence(action, name=address.name), after=after
    )


_ROLES_THAT_SEE_ALERTS = frozenset(each.name for each in TENANT_ROLES if Permission.ALERTS_VIEW in each.permissions)


def _read_recipients(kind: str) -> Mapping[str, Any]:
    row = AlertRecipients.objects.filter(kind=kind).first() or AlertRecipients()
    return {"roles": sorted(row.roles), "people": sorted(row.people)}


def _is_looser(_kind: str, before: SettingValues, after: SettingValues) -> bool:
    """Return True if a role, or a person who may view alerts, is no longer notified. An empty list means all roles."""
    roles = _notified_roles(after)
    if _notified_roles(before) - roles:
        return True
    lost = set(before["people"]) - set(after["people"])
    rows = Staff.objects.filter(
        user__in=lost, is_active=True, user__is_active=True, role__in=_ROLES_THAT_SEE_ALERTS - roles
    )
    return bool(lost) and rows.exists()


def _notified_roles(values: SettingValues) -> frozenset[str]:
    return frozenset(values["roles"]) if values["roles"] or values["people"] else _ROLES_THAT_SEE_ALERTS


def _save_recipients(kind: str, after: SettingValues, by: Requester) -> None:
    if after["roles"] or after["people"]:
        AlertRecipients.objects.update_or_create(kind=kind, defaults=dict(after))
    else:
        AlertRecipients.objects.filter(kind=kind).delete()
    audit.record(
        **by.audit_author,
        action="alert_rule.notify",
        target=f"alert_rule:{kind}",
        summary=coded_sentence("alert_rule.notify", kind=coded_sentence(f"alert_kind.{kind}")),
        after=dict(after),
    )


def _describe_recipients(_kind: str, values: SettingValues) -> Mapping[str, str]:
    staff = Staff.objects.filter(user__in=values["people"]).select_related("user").order_by("user__name", "pk")
    return {
        _("Roles"): join_values(str(find_role(name).title) for name in values["roles"]),
        _("People"): join_values(str(each.user) for each in staff),
    }


def _recipients_title(kind: str) -> Sentence:
    return coded_sentence("safety_rule.alert_recipients", kind=coded_sentence(f"alert_kind.{kind}"))


RECIPIENTS = SafetyRule(
    name="alert_recipients",
    permission=Permission.ALERTS_MANAGE,
    title=_recipients_title,
    read=_read_recipients,
    is_looser=_is_looser,
    save=_save_recipients,
    describe=_describe_recipients,
    page_route=lambda kind: ("alerts:rule", kind),
)


def _find_address(pk: str) -> WebAddress | None:
    return WebAddress.objects.filter(pk=pk).first()


def _delete_address(pk: str, _after: SettingValues, by: Requester) -> None:
    row = _find_address(pk)
    if row is not None:
        audit_change(row, by, "alert_address.remove")
        row.delete()


def _address_title(pk: str) -> Sentence:
    return coded_sentence("safety_rule.alert_address", name=str(_find_address(pk) or pk))


ADDRESS = SafetyRule(
    name="alert_address",
    permission=Permission.ALERTS_MANAGE,
    title=_address_title,
    read=lambda pk: {"is_kept": _find_address(pk) is not None},
    is_looser=lambda _pk, _before, after: not after["is_kept"],
    save=_delete_address,
    describe=lambda _pk, values: {
        _("Web address"): pgettext("web address", "Notified")
        if values["is_kept"]
        else pgettext("web address", "Removed")
    },
    page_route=lambda _pk: ("alerts:addresses",),
)


MAX_ADDRESSES = 10
# Tests of all addresses of a tenant within so many seconds. More would allow scanning for open ports.
MAX_TESTS, TEST_SECONDS = 5, 600


class AddressNotSaved(ValueError):
    """The name is in use, or the tenant has the maximum number of addresses."""


def save_preferences(*, min_severity: int, hours: Hours | None, by: Requester) -> None:
    """Save from which severity on, and when, a person gets e-mail."""
    preferences = {"least": min_severity, "hours": hours.as_json if hours else {}}
    NotificationSettings.objects.update_or_create(user=by.user, defaults=preferences)


def change_recipients(*, kind: AlertKind, roles: Sequence[str], people: Sequence[int], by: Requester) -> ChangeResult:
    """Change who is notified of a rule's alerts. Raises NotChanged.

    Without any role or person, everyone who may view alerts is notified.
    """
    recipients = {"roles": sorted(roles), "people": sorted(people)}
    return changing.change(RECIPIENTS, recipients, by=by, subject=kind.name)


def add_address(*, values: Mapping[str, Any], by: Requester) -> WebAddress:
    """Save a new web address with a new secret. Raises AddressNotSaved."""
    if WebAddress.objects.count() >= MAX_ADDRESSES:
        raise AddressNotSaved
    try:
        with transaction.atomic():
            made = WebAddress.objects.create(secret=_new_secret(), **values)
            audit_change(made, by, "alert_address.add")
    except IntegrityError:
        raise AddressNotSaved from None
    return made


def renew_secret(*, address: WebAddress, by: Requester) -> WebAddress:
    """Give an address a new secret. The previous one is no longer used for signatures."""
    address.secret = _new_secret()
    with transaction.atomic():
        address.save(update_fields=["secret"])
        audit_change(address, by, "alert_address.renew")
    return address


def remove_address(*, address: WebAddress, by: Requester) -> ChangeResult:
    """Remove an address with the messages that were sent to it. Raises NotChanged."""
    return changing.change(ADDRESS, {"is_kept": False}, by=by, subject=str(address.pk))


class TooManyTests(ValueError):
    """The tenant has sent the maximum number of tests within TEST_SECONDS."""


def send_test(*, address: WebAddress, by: Requester) -> None:
    """Send a test message to an address. Raises TooManyTests."""
    if not SignInLimit(f"alert-test:{by.tenant.pk}", MAX_TESTS, TEST_SECONDS).count_one():
        raise TooManyTests
    with transaction.atomic():
        outbox.queue([OutgoingMessage(kind=ALERT.name, address=address)])
        audit_change(address, by, "alert_address.test")


def _new_secret() -> str:
    return secrets.token_urlsafe(32)
