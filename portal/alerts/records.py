"""The log records behind an alert, limited to those that the person has access to."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.functional import cached_property

from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, AlertRecord
from portal.domain.log import visibility
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import History
from tenants.access import TenantRequest

# The most records to show, and the most records of one device to search.
_MAX_RECORDS, _MAX_SEARCHED = 50, 1_000
# Alerts found by checking a state may have older records, up to this long before.
_SEARCHED_BEFORE = timedelta(days=7)


@dataclass(frozen=True)
class AlertRecords:
    """The newest records that caused an alert, or the records that describe it if it was found by checking a state."""

    request: TenantRequest
    alert: Alert

    @cached_property
    def count(self) -> int:
        """Return the number of records, also for a person who has no access to them."""
        return self.alert.records.count() or len(self.rows)

    @cached_property
    def rows(self) -> list[History]:
        if not self.may_see_records:
            return []
        return self._triggering_records() or self._describing_records()

    @property
    def may_see_records(self) -> bool:
        return visibility.may_view_log(self.request.access)

    @property
    def searched_from(self) -> datetime | None:
        """Return the start of a search without results; None if there was no search or it had results."""
        if self.count or not self.may_see_records or not self._has_describing_records:
            return None
        return self._since

    @property
    def complete_until(self) -> datetime | None:
        """Return the time up to which the log is complete."""
        return freshness.freshness_for(self.request)[MirrorKind.HISTORIES].as_of

    def _triggering_records(self) -> list[History]:
        behind = AlertRecord.objects.filter(alert=self.alert).order_by("-at", "-pk")
        named = dict(behind.values_list("history_id", "at")[:_MAX_RECORDS])
        if not named:
            return []
        rows = visibility.visible_records(self.request.access).filter(history_id__in=named, at__gte=min(named.values()))
        return list(rows.filter(at__lte=max(named.values())).order_by("-at", "-pk"))

    @property
    def _has_describing_records(self) -> bool:
        kind = KINDS.get(self.alert.kind)
        return kind is not None and kind.matching_records is not None and bool(self.alert.facts.get("device"))

    @property
    def _since(self) -> datetime:
        first = visibility.visible_since(self.request.access)
        return max(filter(None, (first, self.alert.began_at - _SEARCHED_BEFORE)))

    def _describing_records(self) -> list[History]:
        kind = KINDS.get(self.alert.kind)
        if (
            kind is None
            or kind.matching_records is None
            or not self._has_describing_records
            or self.alert.records.exists()
        ):
            return []
        rows = visibility.visible_records(self.request.access).filter(
            device_id=self.alert.facts["device"], at__gte=self._since
        )
        around = rows.filter(at__lte=self.alert.ended_at or timezone.now()).order_by("-at", "-pk")[:_MAX_SEARCHED]
        return kind.matching_records(self.request.tenant, self.alert, reversed(around))[: -_MAX_RECORDS - 1 : -1]
