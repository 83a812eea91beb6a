"""The rules of alerts as a safety rule. Disabled, less serious, later or with fewer hours is looser."""

from collections.abc import Mapping
from typing import Any

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.value_words import join_values
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Rule, Severity
from portal.domain.alerts.rules import EffectiveRule, Hours, rule_of
from portal.domain.intents.recording import Requester
from portal.domain.safety.rules import SafetyRule, SettingValues
from portal.domain.safety.words import on_or_off
from tenants import audit
from tenants.roles import Permission
from tenants.wording import Sentence, coded_sentence

_ALWAYS = frozenset(range(7 * 24 * 60))


def rule_to_json(rule: EffectiveRule) -> Mapping[str, Any]:
    hours = rule.hours.as_json if rule.hours else {}
    return {"is_on": rule.is_on, "severity": int(rule.severity), "values": dict(rule.values), "hours": hours}


def _read_rule(kind: str) -> Mapping[str, Any]:
    return rule_to_json(rule_of(KINDS[kind], Rule.objects.filter(kind=kind).first()))


def _is_looser(kind: str, before: SettingValues, after: SettingValues) -> bool:
    """Return True if the change causes fewer, later or less serious alerts."""
    if not before["is_on"]:
        return False
    if not after["is_on"] or after["severity"] < before["severity"]:
        return True
    was, wanted = before["values"], after["values"]
    for each in KINDS[kind].all_settings:
        least, most = sorted((was[each.name], wanted[each.name]))
        if least != most and wanted[each.name] == (least if each.is_stricter_when_larger else most):
            return True
    return not _minutes_of(before) <= _minutes_of(after)


def _minutes_of(values: SettingValues) -> set[int] | frozenset[int]:
    hours = Hours.of(values["hours"])
    return hours.minutes if hours is not None else _ALWAYS


def _save_rule(kind: str, after: SettingValues, by: Requester) -> None:
    before = _read_rule(kind)
    Rule.objects.update_or_create(kind=kind, defaults=dict(after))
    audit.record(
        **by.audit_author,
        action="alert_rule.change",
        target=f"alert_rule:{kind}",
        summary=coded_sentence("alert_rule.change", kind=coded_sentence(f"alert_kind.{kind}")),
        before=_audit_values(before),
        after=_audit_values(after),
    )


def _audit_values(values: SettingValues) -> Mapping[str, Any]:
    """Return a rule's values for the audit log."""
    severity = Severity(values["severity"]).name.lower()
    return {"is_on": values["is_on"], "severity": severity, **values["values"], "hours": values["hours"]}


def _describe_rule(kind: str, values: SettingValues) -> Mapping[str, str]:
    return {
        _("Switched on"): on_or_off(values["is_on"]),
        _("Severity"): str(Severity(values["severity"]).label),
        **{str(each.label): str(values["values"][each.name]) for each in KINDS[kind].all_settings},
        _("Days and hours"): _hours_text(Hours.of(values["hours"])),
    }


def _hours_text(hours: Hours | None) -> str:
    if hours is None:
        return pgettext("hours", "Always")
    days = join_values(str(WEEKDAYS_ABBR[day]) for day in sorted(hours.days))
    return _("%(days)s, from %(begin)s until %(end)s") % {
        "days": days, "begin": f"{hours.begin:%H:%M}", "end": f"{hours.end:%H:%M}"
    }  # fmt: skip


def _rule_title(kind: str) -> Sentence:
    return coded_sentence("safety_rule.alert_rule", kind=coded_sentence(f"alert_kind.{kind}"))


ALERT_RULE = SafetyRule(
    name="alert_rule",
    permission=Permission.ALERTS_MANAGE,
    title=_rule_title,
    read=_read_rule,
    is_looser=_is_looser,
    save=_save_rule,
    describe=_describe_rule,
    page_route=lambda kind: ("alerts:rule", kind),
)
