"""The kinds of alerts. Each app registers the kinds that it can detect in `signals.py`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.past_log import PastLog
from portal.domain.alerts.scopes import Scope
from portal.domain.history.models import History
from portal.domain.places.models import DoorState
from tenants.models import Tenant
from tenants.sentences import TEXTS

RuleValues = Mapping[str, int]
RecordMatcher = Callable[[Tenant, Alert, Iterable[History]], list[History]]
TenantFilter = Callable[[Mapping[int, RuleValues]], Iterable[int]]


@dataclass(frozen=True)
class RuleSetting:
    """A number of a rule with its bounds. A larger number means fewer alerts, unless `is_stricter_when_larger`."""

    name: str
    label: str | Promise
    default: int
    minimum: int
    maximum: int
    is_stricter_when_larger: bool = False


# For every kind: if it begins again after so many minutes, it is a new alert.
REPEAT_MINUTES = RuleSetting("quiet", _("Minutes until a repeat is a new alert"), 15, 1, 1440)


@dataclass(frozen=True)
class Observation:
    """A fact at a moment, with the log records that report it, if any.

    `has_ended`: the fact ended then. `over_at`: when a fact of the past that lasted was over.
    """

    subject: str
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    records: Sequence[History] = ()
    has_ended: bool = False
    over_at: datetime | None = None


RecordFinder = Callable[[Tenant, Sequence[History], RuleValues, Scope], Iterable[Observation]]


@dataclass(frozen=True, kw_only=True)
class AlertKind:
    """One kind of alert, with its default rule.

    `message`: the sentence for an alert's facts, with `subject` and `place` named for the reader. `past_message`: the
        sentence once it has ended, if that differs.
    `find_in_new_records`: finds the kind in new records of a rule's scope, in their transaction.
    `find_current`: returns everything that is the case now. What it does not return has ended.
    `find_in_past`: finds the kind in the records of a past period. None if the log cannot show it.
    `matching_records`: returns which records of the alert's device around its time (oldest first) belong to the alert.
        Needed for alerts from `find_current`, because the log may have an older record of them.
    `tenants_to_check`: gets the rules' values by tenant and returns the tenants in which a check may find something.
        It queries all tenants at once with `reachable_objects`, so that tenants without anything to check cost nothing.
    `has_hours`: the rule must have hours.
    `has_scope`: rules of the kind can be limited to areas and doors, and a tenant can add more of them.
    `is_about_door`: the alert is about a door's own state, which the door's banner shows.
    `door_states`: the states of the door while the alert's fact lasts, for kinds about a state of a door.
    """

    name: str
    message: str | Promise
    severity: Severity
    past_message: str | Promise = ""
    is_on: bool = True
    settings: tuple[RuleSetting, ...] = ()
    find_in_new_records: RecordFinder | None = None
    find_current: Callable[[Tenant, RuleValues], Iterable[Observation]] | None = None
    tenants_to_check: TenantFilter | None = None
    find_in_past: Callable[[PastLog, RuleValues], Iterable[Observation]] | None = None
    matching_records: RecordMatcher | None = None
    has_hours: bool = False
    has_scope: bool = False
    is_about_door: bool = False
    door_states: tuple[DoorState, ...] = ()

    @property
    def title(self) -> str | Promise:
        """Return the name of this kind."""
        return TEXTS[f"alert_kind.{self.name}"]

    @property
    def all_settings(self) -> tuple[RuleSetting, ...]:
        return (*self.settings, REPEAT_MINUTES)


def tenants_having(rows: Callable[[Collection[RuleValues]], QuerySet[Any]]) -> TenantFilter:
    """Return a `tenants_to_check` for tenants that have such rows, given the values of all rules."""
    return lambda values: (
        rows(values.values()).filter(tenant_id__in=values).values_list("tenant_id", flat=True).distinct()
    )


KINDS: dict[str, AlertKind] = {}


def register(kind: AlertKind) -> None:
    """Add a kind; a second registration of its name replaces the first."""
    KINDS[kind.name] = kind
