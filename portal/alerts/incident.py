"""What surrounds an alert: its timeline, who was at its door at that time, and similar alerts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.domain.alerts.models import Alert
from portal.domain.history import visibility
from portal.domain.history.lists import Links
from portal.domain.history.models import History
from tenants.access import TenantRequest
from tenants.models import AuditEntry

# The most records, similar alerts, notes and changes of the assignment to show.
_MAX_RECORDS, _MAX_SIMILAR, _MAX_STEPS = 20, 10, 50
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


@dataclass(frozen=True)
class TimelineEntry:
    """A step of an alert, or a person's note with its author."""

    at: datetime
    text: str
    author: str = ""


def load_timeline(alert: Alert) -> list[TimelineEntry]:
    """Return what happened to an alert, oldest first: beginning and end, assignments, notes and closing."""
    return sorted([*_own_steps(alert), *_assignments(alert), *_notes(alert)], key=lambda each: each.at)


def _own_steps(alert: Alert) -> Iterator[TimelineEntry]:
    yield TimelineEntry(alert.began_at, pgettext("alert", "Began"))
    if alert.times > 1:
        yield TimelineEntry(alert.last_at, pgettext("alert", "Last occurrence"))
    if alert.ended_at is not None:
        yield TimelineEntry(alert.ended_at, pgettext("alert", "Resolved"))
    if alert.closed_at is not None:
        closed = _("Closed by %(who)s") % {"who": alert.closed_by}
        yield TimelineEntry(alert.closed_at, closed)


def _assignments(alert: Alert) -> Iterator[TimelineEntry]:
    """Yield who was assigned and unassigned, from the audit log: the alert has only its present assignee."""
    texts = {"alert.take": _("Assigned to %(who)s"), "alert.give_back": _("Unassigned by %(who)s")}
    rows = AuditEntry.objects.filter(target=f"alert:{alert.pk}", action__in=texts).select_related("by")
    for each in rows.order_by("-at")[:_MAX_STEPS]:
        yield TimelineEntry(each.at, texts[each.action] % {"who": each.who})


def _notes(alert: Alert) -> Iterator[TimelineEntry]:
    for each in alert.notes.select_related("by").order_by("-pk")[:_MAX_STEPS]:
        yield TimelineEntry(each.at, each.text, str(each.by))


def similar_alerts(alert: Alert) -> QuerySet[Alert]:
    """Return the alerts of the same kind and subject in the 30 days before this one, newest first."""
    rows = Alert.objects.filter(kind=alert.kind, subject=alert.subject, began_at__gte=alert.began_at - _SIMILAR_FOR)
    earlier = rows.filter(began_at__lte=alert.began_at).exclude(pk=alert.pk)
    return earlier.select_related("taken_by", "closed_by").order_by("-pk")[:_MAX_SIMILAR]
