"""A tenant's rules: the default ones, with the tenant's changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from portal.base.ui.times import local
from portal.domain.alerts.kinds import KINDS, AlertKind
from portal.domain.alerts.models import Rule, Severity

_DAY = 24 * 60


@dataclass(frozen=True)
class Hours:
    """Hours of the week: on these days (0: Monday), from one time until another, which may be on the next day."""

    days: tuple[int, ...]
    begin: time
    end: time

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Hours | None":
        """Return the hours of a rule's JSON; None for always."""
        if not kept:
            return None
        return cls(tuple(kept["days"]), time.fromisoformat(kept["begin"]), time.fromisoformat(kept["end"]))

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
        there = local(at)
        day, clock = there.weekday(), there.time()
        if self.begin < self.end:
            return day in self.days and self.begin <= clock < self.end
        yesterday = (there - timedelta(days=1)).weekday()
        return (day in self.days and clock >= self.begin) or (yesterday in self.days and clock < self.end)


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
