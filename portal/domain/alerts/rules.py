"""A tenant's rules of alerts: the default ones, with the tenant's changes.

A change is a safety rule: disabled, less serious, later or with fewer hours is looser.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from portal.domain.alerts.scopes import EVERYWHERE, Scope, describe_scopes, load_scopes
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
    """A kind's default rule with the tenant's changes, or a rule that it added (`pk`)."""

    kind: AlertKind
    is_on: bool
    severity: Severity
    values: Mapping[str, int]
    hours: Hours | None
    scope: Scope = EVERYWHERE
    pk: int | None = None

    @property
    def subject(self) -> str:
        """Return the name of the rule as a setting: the kind's for its default rule."""
        return self.kind.name if self.pk is None else f"{self.kind.name}:{self.pk}"

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


def rule_of(kind: AlertKind, row: Rule | None, scope: Scope = EVERYWHERE) -> EffectiveRule:
    """Return a kind's default rule with the tenant's changes, or an added rule."""
    values = {each.name: each.default for each in kind.all_settings}
    if row is None:
        return EffectiveRule(kind, kind.is_on, kind.severity, values, None)
    known = {name: value for name, value in row.values.items() if name in values}
    pk = row.pk if row.is_added else None
    return EffectiveRule(kind, row.is_on, Severity(row.severity), values | known, Hours.of(row.hours), scope, pk)


def rules_of(kind: AlertKind, rows: Sequence[Rule], scopes: Mapping[int, Scope]) -> list[EffectiveRule]:
    """Return all rules of a kind, from its rows: the default rule first, then added ones. `scopes` are by row."""
    default = next((row for row in rows if not row.is_added), None)
    every = [default, *(row for row in rows if row.is_added)]
    return [rule_of(kind, row, scopes.get(row.pk, EVERYWHERE) if row else EVERYWHERE) for row in every]


def load_rules() -> list[EffectiveRule]:
    """Return the rules of the current tenant, in the order of their kinds' registration."""
    rows = list(Rule.objects.order_by("pk"))
    scopes = dict(zip((row.pk for row in rows), load_scopes([(row.areas, row.doors) for row in rows]), strict=True))
    by_kind: dict[str, list[Rule]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    return [rule for name, kind in KINDS.items() for rule in rules_of(kind, by_kind[name], scopes)]


def load_active_rules() -> list[tuple[AlertKind, list[EffectiveRule]]]:
    """Return each kind with its rules that are on, the most serious first."""
    found: dict[str, list[EffectiveRule]] = {name: [] for name in KINDS}
    for rule in load_rules():
        if rule.is_on:
            found[rule.kind.name].append(rule)
    return [(KINDS[name], sorted(rules, key=lambda each: -each.severity)) for name, rules in found.items()]


def strictest_values(kind: AlertKind, rules: Sequence[EffectiveRule]) -> Mapping[str, int]:
    """Return the values that find the most among these rules."""
    return {
        each.name: (max if each.is_stricter_when_larger else min)(rule.values[each.name] for rule in rules)
        for each in kind.all_settings
    }


_ALWAYS = frozenset(range(7 * 24 * 60))


def rule_to_json(rule: EffectiveRule) -> Mapping[str, Any]:
    return {
        "is_on": rule.is_on,
        "severity": int(rule.severity),
        "values": dict(rule.values),
        "hours": rule.hours.as_json if rule.hours else {},
        "areas": list(rule.scope.areas),
        "doors": list(rule.scope.doors),
    }


def find_rule(subject: str) -> EffectiveRule | None:
    """Return a rule by its name as a setting; None for an added rule that was removed."""
    name, _colon, pk = subject.partition(":")
    rows = Rule.objects.filter(kind=name, is_added=bool(pk), **({"pk": pk} if pk else {}))
    row = rows.first()
    if row is None:
        return None if pk else rule_of(KINDS[name], None)
    return rule_of(KINDS[name], row, load_scopes([(row.areas, row.doors)])[0])


def _read_rule(subject: str) -> Mapping[str, Any]:
    """Return the stored values; none for an added rule that was removed."""
    rule = find_rule(subject)
    return rule_to_json(rule) if rule is not None else {}


def _kind_of(subject: str) -> AlertKind:
    return KINDS[subject.partition(":")[0]]


def _is_looser(subject: str, before: SettingValues, after: SettingValues) -> bool:
    """Return True if the change causes fewer, later or less serious alerts."""
    if not before or not before["is_on"]:
        return False
    if not after or not after["is_on"] or after["severity"] < before["severity"]:
        return True
    if _scope_of(after).is_narrower(_scope_of(before)):
        return True
    was, now = before["values"], after["values"]
    for each in _kind_of(subject).all_settings:
        least, most = sorted((was[each.name], now[each.name]))
        if least != most and now[each.name] == (least if each.is_stricter_when_larger else most):
            return True
    return not _minutes_of(before) <= _minutes_of(after)


def _minutes_of(values: SettingValues) -> set[int] | frozenset[int]:
    hours = Hours.of(values["hours"])
    return hours.minutes if hours is not None else _ALWAYS


def _scope_of(values: SettingValues) -> Scope:
    return Scope(tuple(values["areas"]), tuple(values["doors"]))


def _save_rule(subject: str, after: SettingValues, by: Requester) -> None:
    before = _read_rule(subject)
    name, _colon, pk = subject.partition(":")
    if not after:
        Rule.objects.filter(kind=name, is_added=True, pk=pk).delete()
        record_rule(subject, before, after, by, "alert_rule.remove")
        return
    if pk:
        Rule.objects.filter(kind=name, is_added=True, pk=pk).update(**after)
    else:
        Rule.objects.update_or_create(kind=name, is_added=False, defaults=dict(after))
    record_rule(subject, before, after, by, "alert_rule.change")


def record_rule(subject: str, before: SettingValues, after: SettingValues, by: Requester, action: str) -> None:
    """Record in the audit log that a rule was changed, added or removed."""
    audit.record(
        **by.audit_author,
        action=action,
        target=f"alert_rule:{subject}",
        summary=coded_sentence(action, kind=coded_sentence(f"alert_kind.{_kind_of(subject).name}")),
        before=_audit_values(before),
        after=_audit_values(after),
    )


def _audit_values(values: SettingValues) -> Mapping[str, Any]:
    """Return a rule's values for the audit log."""
    if not values:
        return {}
    severity, where = Severity(values["severity"]).name.lower(), {}
    if not _scope_of(values).is_everywhere:
        where = {"areas": values["areas"], "doors": values["doors"]}
    return {"is_on": values["is_on"], "severity": severity, **values["values"], "hours": values["hours"], **where}


def _describe_rule(subject: str, values: SettingValues) -> Mapping[str, str]:
    kind = _kind_of(subject)
    if not values:
        return {_("Rule"): pgettext("alert rule", "Removed")}
    where = {pgettext("alert rule", "Where"): describe_scopes([_scope_of(values)])[0]} if kind.has_scope else {}
    return {
        _("Switched on"): on_or_off(values["is_on"]),
        _("Severity"): str(Severity(values["severity"]).label),
        **{str(each.label): str(values["values"][each.name]) for each in kind.all_settings},
        **where,
        _("Days and hours"): hours_text(Hours.of(values["hours"])),
    }


def hours_text(hours: Hours | None) -> str:
    """Return hours in words."""
    if hours is None:
        return pgettext("hours", "Always")
    days = join_values(str(WEEKDAYS_ABBR[day]) for day in sorted(hours.days))
    text = _("%(days)s, %(begin)s to %(end)s")
    if hours.end < hours.begin:
        text = _("%(days)s, %(begin)s to %(end)s the next day")
    return text % {"days": days, "begin": f"{hours.begin:%H:%M}", "end": f"{hours.end:%H:%M}"}


def _rule_title(subject: str) -> Sentence:
    return coded_sentence("safety_rule.alert_rule", kind=coded_sentence(f"alert_kind.{_kind_of(subject).name}"))


def rule_route(subject: str) -> tuple[Any, ...]:
    """Return the URL name and arguments of a rule's page; the list for an added rule that was removed."""
    name, _colon, pk = subject.partition(":")
    if not pk:
        return "alerts:rule", name
    return ("alerts:added_rule", name, int(pk)) if find_rule(subject) else ("alerts:rules",)


ALERT_RULE = SafetyRule(
    name="alert_rule",
    permission=Permission.ALERTS_MANAGE,
    title=_rule_title,
    read=_read_rule,
    is_looser=_is_looser,
    save=_save_rule,
    describe=_describe_rule,
    page_route=rule_route,
)
