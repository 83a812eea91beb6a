"""The recipients of alerts as safety rules. Fewer roles, people or web addresses are looser."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.value_words import join_values
from portal.domain.intents.recording import Requester
from portal.domain.notifications.models import Audience, WebAddress
from portal.domain.notifications.web_addresses import audit_change
from portal.domain.safety.rules import SafetyRule, SettingValues
from tenants import audit
from tenants.models import Staff
from tenants.roles import TENANT_ROLES, Permission, find_role
from tenants.wording import Sentence, coded_sentence

_ROLES_THAT_SEE_ALERTS = frozenset(each.name for each in TENANT_ROLES if Permission.ALERTS_VIEW in each.permissions)


def _read_recipients(kind: str) -> Mapping[str, Any]:
    row = Audience.objects.filter(kind=kind).first() or Audience()
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
        Audience.objects.update_or_create(kind=kind, defaults=dict(after))
    else:
        Audience.objects.filter(kind=kind).delete()
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
