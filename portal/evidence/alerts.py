"""The alert about video that the service will delete soon and that an open incident has not saved yet."""

from collections.abc import Collection, Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.base.timers.clock import ClockTime, database_now
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.models import Severity
from portal.evidence import fetching
from portal.evidence.models import Item
from tenants.models import Tenant


def _expiring_incidents(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    now = database_now()
    for key, number in fetching.expiring_incidents(timedelta(days=values["left"])):
        yield Observation(f"incident:{key}", now, {"number": number, "days": values["left"]})


def _unsaved_items(rules: Collection[RuleValues]) -> QuerySet[Item]:
    """Return unsaved items that the service deletes within the longest time of these rules."""
    before = ClockTime() + timedelta(days=max(each["left"] for each in rules))
    rows = Item.reachable_objects.filter(media__in=Item.LACKING)
    return rows.filter(expires_at__gt=ClockTime(), expires_at__lt=before)


EXPIRING_EVIDENCE = AlertKind(
    name="evidence",
    message=_(
        "Incident %(number)s has video or pictures that are not saved yet. The service deletes them within"
        " %(days)s days."
    ),
    severity=Severity.WARNING,
    settings=(RuleSetting("left", _("Days before"), 14, 1, 60, is_stricter_when_larger=True),),
    find_current=_expiring_incidents,
    tenants_to_check=tenants_having(_unsaved_items),
)
