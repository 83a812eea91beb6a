"""The days that a tenant counts as holidays.

Specification: resource "Tenant", settings.holiday. It does not define the priority of the lists, so this is assumed: a
date in exclude_date is never a holiday. Otherwise include_date, the public holidays (if included) and the weekly days
are holidays.

It does not define either whether an item for a weekday applies on a holiday on that day. Assumed: it does not, since
`*` is described as "every day including holidays", so the seven weekdays do not include them. For a service that
differs, set `weekdays_apply=True`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from accessapi.permissions.passes import WEEKDAYS
from accessapi.resources.tenants import HolidaySettings


@dataclass(frozen=True, slots=True)
class Holidays:
    """A tenant's holidays. The maps go from a date to its name ("" without one)."""

    public: Mapping[date, str] = field(default_factory=dict)
    included: Mapping[date, str] = field(default_factory=dict)
    excluded: frozenset[date] = frozenset()
    weekly: frozenset[str] = frozenset()
    includes_public: bool = False
    are_weekdays_applied: bool = False

    @classmethod
    def from_settings(cls, settings: HolidaySettings | None, *, weekdays_apply: bool = False) -> Holidays:
        """Return the holidays of the tenant record; entries that are not a date or weekday are left out."""
        if settings is None:
            return cls(are_weekdays_applied=weekdays_apply)
        return cls(
            public=_read_dates(settings.public_holiday),
            included=_read_dates(settings.include_date),
            excluded=frozenset(_read_dates(settings.exclude_date)),
            weekly=_read_weekdays(settings.weekly or ()),
            includes_public=settings.is_include_public_holiday is True,
            are_weekdays_applied=weekdays_apply,
        )

    def name_of(self, day: date) -> str | None:
        """Return the name of the holiday, "" for one without a name, None for an ordinary day."""
        if day in self.excluded:
            return None
        if day in self.included:
            return self.included[day]
        if self.includes_public and day in self.public:
            return self.public[day]
        return "" if WEEKDAYS[day.weekday()] in self.weekly else None

    def is_holiday(self, day: date) -> bool:
        return self.name_of(day) is not None


NO_HOLIDAYS = Holidays()


def _read_dates(named: Mapping[str, Any] | None) -> dict[date, str]:
    found: dict[date, str] = {}
    for text, name in (named or {}).items():
        try:
            found[date.fromisoformat(text)] = name if isinstance(name, str) else ""
        except ValueError:
            continue
    return found


def _read_weekdays(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if name in WEEKDAYS)
