"""What surrounds an alert: who was at its door at that time, and similar alerts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from portal.domain.alerts.models import Alert
from portal.domain.history import visibility
from portal.domain.history.lists import Links
from portal.domain.history.models import History
from tenants.access import TenantRequest

# The most records and the most similar alerts to show.
_MAX_RECORDS, _MAX_SIMILAR = 20, 10
# The records of ten minutes are shown: so long before and after the alert began.
_AROUND = timedelta(minutes=5)
_SIMILAR_FOR = timedelta(days=30)


@dataclass(frozen=True)
class Passages:
    """The log records of people at an alert's door in the ten minutes around its beginning."""

    request: TenantRequest
    alert: Alert

    @property
    def is_shown(self) -> bool:
        """Return True if the alert has a door and the person may view the log of that time."""
        since = visibility.visible_since(self.request.access)
        may_view = visibility.may_view_log(self.request.access) and (since is None or self.until > since)
        return bool(self.alert.door_id) and may_view

    @property
    def since(self) -> datetime:
        return self.alert.began_at - _AROUND

    @property
    def until(self) -> datetime:
        return self.alert.began_at + _AROUND

    @cached_property
    def records(self) -> list[History]:
        if not self.is_shown:
            return []
        rows = visibility.visible_records(self.request.access).filter(
            Q(member_id__gt="") | Q(member_name__gt=""), device_id=self.alert.door_id, at__gte=self.since
        )
        return list(rows.filter(at__lte=self.until).order_by("at", "pk")[: _MAX_RECORDS + 1])

    @property
    def rows(self) -> list[tuple[History, str]]:
        """Return each record, oldest first, with the address of its person."""
        links = Links(self.request, self.records[:_MAX_RECORDS], people=True, places=False)
        return [(record, links.person(record)) for record in self.records[:_MAX_RECORDS]]

    @property
    def has_more(self) -> bool:
        return len(self.records) > _MAX_RECORDS


def similar_alerts(alert: Alert) -> QuerySet[Alert]:
    """Return the alerts of the same kind and subject in the 30 days before this one, newest first."""
    rows = Alert.objects.filter(kind=alert.kind, subject=alert.subject, began_at__gte=alert.began_at - _SIMILAR_FOR)
    earlier = rows.filter(began_at__lte=alert.began_at).exclude(pk=alert.pk)
    return earlier.select_related("taken_by", "closed_by").order_by("-pk")[:_MAX_SIMILAR]
