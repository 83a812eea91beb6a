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

Values = Mapping[str, int]
Where = Callable[[Mapping[int, Values]], Iterable[int]]


@dataclass(frozen=True)
class Value:
    """A number of a rule with its bounds. The larger, the fewer alerts, unless `larger_alerts_more`."""

    name: str
    label: str | Promise
    default: int
    least: int
    most: int
    larger_alerts_more: bool = False


# Of every kind: after so many minutes what ended and begins again is another alert.
QUIET = Value("quiet", _("Minutes until a repeat is a new alert"), 15, 1, 1440)


@dataclass(frozen=True)
class Seen:
    """Something was the case at a moment, by these records of the log, if it was they who told. `over`: it ended."""

    subject: str
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    records: Sequence[History] = ()
    over: bool = False


@dataclass(frozen=True, kw_only=True)
class AlertKind:
    """One kind of alert, with its ready rule.

    `said` words an alert's facts, with `subject` and `place` named for the reader. `heard` finds it in new records, in
    their transaction; `look` tells all that is the case now, so that what is missing has ended. `past` finds it in the
    log of a time, the newest `MOST` records at most; None where the log cannot tell. With `by_hours` it is what happens
    within the rule's hours, and has to have some. `of_door`: a door's own state, of which the door's banner tells.

    `tells` returns, of the records of the alert's device around its time (oldest first), those that tell of it: for
    what a look found, of which the log may have a record from before anybody watched.

    `where` is given the rules' values by tenant, and returns the tenants in which a look may find something. It asks
    for all of them at once, by `reachable_objects`, so that thousands of calm tenants cost no look of their own.
    """

    name: str
    said: str | Promise
    severity: Severity
    is_on: bool = True
    values: tuple[Value, ...] = ()
    heard: Callable[[Tenant, Sequence[History], Values], Iterable[Seen]] | None = None
    look: Callable[[Tenant, Values], Iterable[Seen]] | None = None
    where: Where | None = None
    past: Callable[[Tenant, datetime, datetime, Values], Iterable[Seen]] | None = None
    tells: Callable[[Tenant, Alert, Iterable[History]], list[History]] | None = None
    by_hours: bool = False
    of_door: bool = False

    @property
    def title(self) -> str | Promise:
        """What alerts of this kind are called."""
        return TEXTS[f"alert_kind.{self.name}"]

    @property
    def all_values(self) -> tuple[Value, ...]:
        return (*self.values, QUIET)


def having(rows: Callable[[Collection[Values]], QuerySet[Any]]) -> Where:
    """Return a `where` of the tenants that have such rows, by the values of all rules."""
    return lambda values: (
        rows(values.values()).filter(tenant_id__in=values).values_list("tenant_id", flat=True).distinct()
    )


KINDS: dict[str, AlertKind] = {}


def register(kind: AlertKind) -> None:
    """Add a kind; a second registration of its name replaces the first."""
    KINDS[kind.name] = kind
