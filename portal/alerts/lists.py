"""The list of alerts (open ones first, the most serious on top), and the log records behind an alert."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from portal.base.ui import live_updates
from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.filters import Filter
from portal.base.ui.tables.keyset import ListPage
from portal.domain.alerts.kinds import KINDS, RecordMatcher
from portal.domain.alerts.models import Alert, AlertRecord, Severity
from portal.domain.alerts.words import AlertTexts
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.models import History
from portal.domain.sync import freshness
from tenants.access import TenantRequest

_TONES = {Severity.ALARM: "alarm", Severity.WARNING: "loud", Severity.INFO: "quiet"}
_STATES = (
    ("open", pgettext_lazy("alert", "Open")),
    ("untaken", pgettext_lazy("alert", "Unassigned")),
    ("closed", pgettext_lazy("alert", "Closed")),
)


def severity(row: Alert) -> SafeString:
    """Return the severity as a chip."""
    known = Severity(row.severity)
    return format_html('<span class="chip chip-{}"><span>{}</span></span>', _TONES[known], known.label)


def state_text(row: Alert) -> str:
    """Return the state of an alert in words: closed, assigned, over, or going on."""
    if row.closed_at is not None:
        return _("Closed by %(who)s") % {"who": row.closed_by}
    if row.taken_by is not None:
        return _("Assigned to %(who)s") % {"who": row.taken_by}
    return _("Resolved, unassigned") if row.ended_at is not None else pgettext("alert", "Unassigned")


def _by_state(rows: QuerySet[Alert], values: list[str]) -> QuerySet[Alert]:
    found = {
        "open": rows.filter(closed_at=None),
        "untaken": rows.filter(closed_at=None, taken_by=None),
        "closed": rows.filter(closed_at__isnull=False),
    }
    return found[values[0]]


class Alerts(Table):
    name = "alerts"
    caption = gettext_lazy("Alerts")
    default_sort = "-weight"
    poll_pace = "live"
    columns = (
        Column("severity", gettext_lazy("Severity"), cell=severity, sort="weight"),
        Column("what", gettext_lazy("Alert"), phone="title", fixed=True),
        Column("began_at", pgettext_lazy("alert", "Began"), kind="time"),
        Column("ended_at", pgettext_lazy("alert", "Resolved"), kind="time"),
        Column("times", pgettext_lazy("alert", "Times"), kind="number"),
        Column("state", pgettext_lazy("alert", "State"), value=state_text),
    )
    filters = (
        Filter("state", pgettext_lazy("alert", "State"), _STATES, _by_state, is_single=True),
        Filter(
            "kind",
            gettext_lazy("Rule"),
            lambda request: [(name, kind.title) for name, kind in KINDS.items()],
            lambda rows, values: rows.filter(kind__in=values),
        ),
        Filter(
            "severity",
            gettext_lazy("Severity"),
            [(str(value), label) for value, label in Severity.choices],
            lambda rows, values: rows.filter(severity__in=values),
        ),
    )

    def __init__(self, request: TenantRequest, **more: Any) -> None:
        rows = Alert.objects.select_related("taken_by", "closed_by")
        super().__init__(request, rows, **more)
        moved = Max("last_at"), Max("ended_at"), Max("taken_at"), Max("closed_at"), Max("pk")
        self.version = live_updates.version_of(*Alert.objects.aggregate(*moved).values()) if self.is_first_page else ""

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_("No alerts yet"), _("Alerts raised by your rules appear here."), "alert-triangle")
        return freshness.empty_state(self.request, usual, MirrorKind.HISTORIES)

    def complete_page(self, page: ListPage) -> ListPage:
        texts = AlertTexts.of(self.request.access, page.rows)
        self.complete_columns(what={"value": texts.sentence})
        return page

    def row_href(self, row: Alert) -> str:
        return reverse("alerts:alert", args=[self.request.tenant.slug, row.pk])

    def row_class(self, row: Alert) -> str:
        if row.closed_at is not None:
            return "quiet"
        return "loud" if row.severity == Severity.ALARM else ""


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
        if self.count or not self.may_see_records or self._matching_records is None:
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
    def _matching_records(self) -> RecordMatcher | None:
        """Return the function that finds the records of a state; None if no records describe this alert."""
        kind = KINDS.get(self.alert.kind)
        return kind.matching_records if kind is not None and self.alert.facts.get("device") else None

    @property
    def _since(self) -> datetime:
        first = visibility.visible_since(self.request.access)
        return max(filter(None, (first, self.alert.began_at - _SEARCHED_BEFORE)))

    def _describing_records(self) -> list[History]:
        matching = self._matching_records
        if matching is None or self.alert.records.exists():
            return []
        rows = visibility.visible_records(self.request.access).filter(
            device_id=self.alert.facts["device"], at__gte=self._since
        )
        around = rows.filter(at__lte=self.alert.ended_at or timezone.now()).order_by("-at", "-pk")[:_MAX_SEARCHED]
        return matching(self.request.tenant, self.alert, reversed(around))[: -_MAX_RECORDS - 1 : -1]
