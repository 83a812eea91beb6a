"""Who is notified of alerts, as safety rules: fewer roles or people, or one web address less, loosens."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core.intents.record import Asker
from portal.core.safety import rules
from portal.core.safety.rules import SafetyRule, Values
from portal.core.telling.addresses import write_down
from portal.core.telling.models import Audience, WebAddress
from portal.core.ui.vocabulary import joined
from tenants import audit
from tenants.models import Staff
from tenants.roles import TENANT_ROLES, Permission, role
from tenants.wording import Said, say

_SEEING = frozenset(each.name for each in TENANT_ROLES if Permission.ALERTS_VIEW in each.permissions)


def _read(kind: str) -> Mapping[str, Any]:
    row = Audience.objects.filter(kind=kind).first() or Audience()
    return {"roles": sorted(row.roles), "people": sorted(row.people)}


def _loosens(_kind: str, before: Values, after: Values) -> bool:
    """Whether a role, or a person who may view alerts still, is notified no longer. Nobody named: every role is."""
    roles = _roles(after)
    if _roles(before) - roles:
        return True
    lost = set(before["people"]) - set(after["people"])
    rows = Staff.objects.filter(user__in=lost, is_active=True, user__is_active=True, role__in=_SEEING - roles)
    return bool(lost) and rows.exists()


def _roles(values: Values) -> frozenset[str]:
    return frozenset(values["roles"]) if values["roles"] or values["people"] else _SEEING


def _save(kind: str, after: Values, by: Asker) -> None:
    if after["roles"] or after["people"]:
        Audience.objects.update_or_create(kind=kind, defaults=dict(after))
    else:
        Audience.objects.filter(kind=kind).delete()
    audit.record(
        **by.author,
        action="alert_rule.notify",
        target=f"alert_rule:{kind}",
        summary=say("alert_rule.notify", kind=say(f"alert_kind.{kind}")),
        after=dict(after),
    )


def _words(_kind: str, values: Values) -> Mapping[str, str]:
    staff = Staff.objects.filter(user__in=values["people"]).select_related("user").order_by("user__name", "pk")
    return {
        _("Roles"): joined(str(role(name).title) for name in values["roles"]),
        _("People"): joined(str(each.user) for each in staff),
    }


def _title(kind: str) -> Said:
    return say("safety_rule.alert_recipients", kind=say(f"alert_kind.{kind}"))


RECIPIENTS = SafetyRule(
    name="alert_recipients",
    permission=Permission.ALERTS_MANAGE,
    title=_title,
    read=_read,
    loosens=_loosens,
    save=_save,
    words=_words,
    page=lambda kind: ("alerts:rule", kind),
)


def _address(pk: str) -> WebAddress | None:
    return WebAddress.objects.filter(pk=pk).first()


def _remove(pk: str, _after: Values, by: Asker) -> None:
    row = _address(pk)
    if row is not None:
        write_down(row, by, "alert_address.remove")
        row.delete()


def _title_of_address(pk: str) -> Said:
    return say("safety_rule.alert_address", name=str(_address(pk) or pk))


ADDRESS = SafetyRule(
    name="alert_address",
    permission=Permission.ALERTS_MANAGE,
    title=_title_of_address,
    read=lambda pk: {"is_kept": _address(pk) is not None},
    loosens=lambda _pk, _before, after: not after["is_kept"],
    save=_remove,
    words=lambda _pk, values: {
        _("Web address"): pgettext("web address", "Notified")
        if values["is_kept"]
        else pgettext("web address", "Removed")
    },
    page=lambda _pk: ("alerts:addresses",),
)


def register() -> None:
    rules.register(RECIPIENTS)
    rules.register(ADDRESS)
