"""The list of incidents, the newest first."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.timers.clock import ClockTime
from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.columns import EMPTY_CELL
from portal.base.ui.tables.filters import Filter
from portal.base.ui.times import time_tag
from portal.evidence.models import Incident, Item, LegalHold
from tenants.access import TenantRequest
from tenants.roles import Permission

SOON = timedelta(days=14)
_STATES = (
    ("open", pgettext_lazy("incident", "Open")),
    ("closed", pgettext_lazy("incident", "Closed")),
    ("held", gettext_lazy("On legal hold")),
)


def state_chip(row: Incident) -> SafeString:
    """Return the incident's state, with a mark if it is on hold."""
    closed = _("Closed, kept until %(day)s") % {"day": row.keep_until}
    word = pgettext_lazy("incident", "Open") if row.is_open else closed
    hold_chip = (
        format_html(' <span class="chip chip-loud"><span>{}</span></span>', _("Legal hold")) if row.is_held else ""
    )
    return format_html('<span class="chip chip-quiet"><span>{}</span></span>{}', word, hold_chip)


def expiry_cell() -> Callable[[Any], SafeString]:
    """Return the function that draws when the service deletes unsaved media of an incident; highlighted if soon."""
    soon = timezone.now() + SOON

    def draw(row: Any) -> SafeString:
        if row.expires is None or not row.is_collecting:
            return EMPTY_CELL
        if row.expires < soon:
            return format_html('<span class="chip chip-loud"><span>{}</span></span>', time_tag(row.expires))
        return SafeString(time_tag(row.expires))

    return draw


def _by_state(rows: QuerySet[Incident], values: list[str]) -> QuerySet[Incident]:
    found = {
        "open": rows.filter(closed_at=None),
        "closed": rows.filter(closed_at__isnull=False),
        "held": rows.filter(Exists(LegalHold.objects.filter(incident=OuterRef("pk"), ended_at=None))),
    }
    return found[values[0]]


class Incidents(Table):
    name = "incidents"
    caption = gettext_lazy("Incidents")
    default_sort = "-number"
    columns = (
        Column("number", pgettext_lazy("incident", "No."), kind="number", sort="number"),
        Column("title", pgettext_lazy("incident", "What happened"), phone="title", fixed=True),
        Column("began_at", pgettext_lazy("incident", "When"), kind="time", sort="began_at"),
        Column("state", pgettext_lazy("incident", "State"), cell=state_chip),
        Column("count", pgettext_lazy("incident", "Items"), kind="number", value=lambda row: row.count),
        Column("expires", gettext_lazy("Unsaved, deleted on"), drawer=expiry_cell),
        Column("opened_by", pgettext_lazy("incident", "Created by"), value=lambda row: str(row.opened_by)),
    )
    filters = (Filter("state", pgettext_lazy("incident", "State"), _STATES, _by_state, is_single=True),)

    def __init__(self, request: TenantRequest, **more: Any) -> None:
        items = Item.objects.filter(incident=OuterRef("pk")).order_by().values("incident")
        missing = items.filter(media__in=Item.LACKING, expires_at__gt=ClockTime())
        rows = (
            Incident.objects.select_related("opened_by")
            .prefetch_related("holds")
            .annotate(
                count=Subquery(items.annotate(n=Count("pk")).values("n")),
                expires=Subquery(missing.annotate(first=Min("expires_at")).values("first")),
            )
        )
        super().__init__(request, rows, **more)

    def row_href(self, row: Incident) -> str:
        return reverse("evidence:incident", args=[self.request.tenant.slug, row.number])

    @property
    def empty(self) -> EmptyState | None:
        text = _("An incident keeps log records, video, pictures and notes together as evidence.")
        if not self.request.access.can(Permission.EVIDENCE_MAKE):
            return EmptyState(_("No incidents yet"), text, "folder")
        return EmptyState(
            _("No incidents yet"),
            text,
            "folder",
            _("New incident"),
            lambda request: reverse("evidence:new", args=[request.tenant.slug]),
        )
