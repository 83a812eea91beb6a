"""What can become an alert: each kind is registered from `AppConfig.ready()` by whoever knows the fact."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.core.alerts.models import Alert, Severity
from portal.core.mirror.models import History
from tenants.models import Tenant
from tenants.sentences import TEXTS

RuleValues = Mapping[str, int]
TenantFilter = Callable[[Mapping[int, RuleValues]], Iterable[int]]


@dataclass(frozen=True)
class RuleSetting:
    """A number of a rule with its bounds. The larger, the fewer alerts, unless `is_stricter_when_larger`."""

    name: str
    label: str | Promise
    default: int
    minimum: int
    maximum: int
    is_stricter_when_larger: bool = False


# Of every kind: after so many minutes what ended and begins again is another alert.
REPEAT_MINUTES = RuleSetting("quiet", _("Minutes until a repeat is a new alert"), 15, 1, 1440)


@dataclass(frozen=True)
class Observation:
    """Something was the case at a moment, by these records of the log, if it was they who told. `has_ended`: it
    ended."""

    subject: str
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    records: Sequence[History] = ()
    has_ended: bool = False


@dataclass(frozen=True, kw_only=True)
class AlertKind:
    """One kind of alert, with its ready rule.

    `message` words an alert's facts,
    with `subject` and `place` named for the reader. `find_in_new_records` finds it in new records, in
    their transaction; `find_current` tells all that is the case now,
    so that what is missing has ended. `find_in_past` finds it in the
    log of a time,
    the newest `MOST` records at most; None where the log cannot tell. With `has_hours` it is what happens
    within the rule's hours, and has to have some. `is_about_door`: a door's own state,
    of which the door's banner tells.

    `matching_records` returns, of the records of the alert's device around its time (oldest first),
    those that tell of it: for
    what a look found, of which the log may have a record from before anybody watched.

    `tenants_to_check` is given the rules' values by tenant,
    and returns the tenants in which a look may find something. It asks
    for all of them at once, by `reachable_objects`, so that thousands of calm tenants cost no look of their own.
    """

    name: str
    message: str | Promise
    severity: Severity
    is_on: bool = True
    settings: tuple[RuleSetting, ...] = ()
    find_in_new_records: Callable[[Tenant, Sequence[History], RuleValues], Iterable[Observation]] | None = None
    find_current: Callable[[Tenant, RuleValues], Iterable[Observation]] | None = None
    tenants_to_check: TenantFilter | None = None
    find_in_past: Callable[[Tenant, datetime, datetime, RuleValues], Iterable[Observation]] | None = None
    matching_records: Callable[[Tenant, Alert, Iterable[History]], list[History]] | None = None
    has_hours: bool = False
    is_about_door: bool = False

    @property
    def title(self) -> str | Promise:
        """What alerts of this kind are called."""
        return TEXTS[f"alert_kind.{self.name}"]

    @property
    def all_settings(self) -> tuple[RuleSetting, ...]:
        return (*self.settings, REPEAT_MINUTES)


def tenants_having(rows: Callable[[Collection[RuleValues]], QuerySet[Any]]) -> TenantFilter:
    """Return a `tenants_to_check` of the tenants that have such rows, by the values of all rules."""
    return lambda values: (
        rows(values.values()).filter(tenant_id__in=values).values_list("tenant_id", flat=True).distinct()
    )


KINDS: dict[str, AlertKind] = {}


def register(kind: AlertKind) -> None:
    """Add a kind; a second registration of its name replaces the first."""
    KINDS[kind.name] = kind
