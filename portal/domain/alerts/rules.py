"""A tenant's rules of alerts: the default ones, with the tenant's changes.

A change is a safety rule: disabled, less serious, later or with fewer hours is looser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.base.ui.times import local
from portal.base.ui.value_words import join_values
from portal.domain.alerts.kinds import KINDS, AlertKind
from portal.domain.alerts.models import Rule, Severity
from portal.domain.intents.recording import Requester
from portal.domain.safety.rules import SafetyRule, SettingValues, on_or_off
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

_DAY = 24 * 60


@dataclass(frozen=True)
class Hours:
    """Hours of the week: on these days (0: Monday), from one time until another, which may be on the next day."""

    days: tuple[int, ...]
    begin: time
    end: time

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Hours | None":
        """Return the hours of a rule's JSON; None for always."""
        if not stored:
            return None
        return cls(tuple(stored["days"]), time.fromisoformat(stored["begin"]), time.fromisoformat(stored["end"]))

    @property
    def as_json(self) -> dict[str, Any]:
        return {"days": list(self.days), "begin": f"{self.begin:%H:%M}", "end": f"{self.end:%H:%M}"}

    @property
    def minutes(self) -> set[int]:
        """Return the minutes of the week within these hours, counted from Monday's midnight."""
        begin, end = (each.hour * 60 + each.minute for each in (self.begin, self.end))
        length = (end - begin) % _DAY
        return {(day * _DAY + begin + each) % (7 * _DAY) for day in self.days for each in range(length)}

    def includes(self, at: datetime) -> bool:
        """Return True if a moment is within these hours. Hours after midnight belong to the day on which they began."""
        local_time = local(at)
        day, clock = local_time.weekday(), local_time.time()
        if self.begin < self.end:
            return day in self.days and self.begin <= clock < self.end
        yesterday = (local_time - timedelta(days=1)).weekday()
        return (day in self.days and clock >= self.begin) or (yesterday in self.days and clock < self.end)

    def next_begin(self, after: datetime) -> datetime:
        """Return when these hours next begin after a moment."""
        today = local(after).replace(hour=self.begin.hour, minute=self.begin.minute, second=0, microsecond=0)
        days = (today + timedelta(days=number) for number in range(8))
        return next(each for each in days if each > after and each.weekday() in self.days)


@dataclass(frozen=True)
class EffectiveRule:
    """A rule with the tenant's changes."""

    kind: AlertKind
    is_on: bool
    severity: Severity
    values: Mapping[str, int]
    hours: Hours | None

    @property
    def repeat_interval(self) -> timedelta:
        return timedelta(minutes=self.values["quiet"])

    def is_active_at(self, at: datetime) -> bool:
        """Return True if the rule applies at a moment."""
        return self.hours is None or self.hours.includes(at)

    def first_active(self, since: datetime, until: datetime | None) -> datetime | None:
        """Return the first moment of a period at which the rule applies. `until` None: the period is one moment."""
        if self.is_active_at(since):
            return since
        if self.hours is None or until is None:
            return None
        begin = self.hours.next_begin(since)
        return begin if begin < until else None


def rule_of(kind: AlertKind, row: Rule | None) -> EffectiveRule:
    """Return a kind's rule with the tenant's changes."""
    values = {each.name: each.default for each in kind.all_settings}
    if row is None:
        return EffectiveRule(kind, kind.is_on, kind.severity, values, None)
    known = {name: value for name, value in row.values.items() if name in values}
    return EffectiveRule(kind, row.is_on, Severity(row.severity), values | known, Hours.of(row.hours))


def load_rules() -> list[EffectiveRule]:
    """Return the rules of the current tenant, in the order of their kinds' registration."""
    rows = {row.kind: row for row in Rule.objects.all()}
    return [rule_of(kind, rows.get(name)) for name, kind in KINDS.items()]


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
    was, now = before["values"], after["values"]
    for each in KINDS[kind].all_settings:
        least, most = sorted((was[each.name], now[each.name]))
        if least != most and now[each.name] == (least if each.is_stricter_when_larger else most):
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
    text = _("%(days)s, %(begin)s to %(end)s")
    if hours.end < hours.begin:
        text = _("%(days)s, %(begin)s to %(end)s the next day")
    return text % {"days": days, "begin": f"{hours.begin:%H:%M}", "end": f"{hours.end:%H:%M}"}


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
