"""The table of lockdowns and rehearsals, the newest first."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui.tables import Column, EmptyState, Table
from portal.lockdown.lockdown_page import LockdownPage
from portal.lockdown.models import Lockdown
from tenants.access import TenantRequest


def doors_text(row: Lockdown) -> str:
    """Return the doors of the order as text."""
    return row.area_name or str(row.get_scope_display())


class Lockdowns(Table):
    name = "lockdowns"
    caption = gettext_lazy("Lockdowns")
    default_sort = "-started_at"
    columns = (
        Column("started_at", pgettext_lazy("lockdown", "Started"), kind="time", sort="started_at", phone="title"),
        Column("kind", pgettext_lazy("lockdown", "Order"), value=lambda row: str(row.get_kind_display())),
        Column("doors", gettext_lazy("Doors"), value=doors_text),
        Column("started_by", pgettext_lazy("lockdown", "By")),
        Column("state", pgettext_lazy("lockdown", "State"), value=lambda row: LockdownPage(row).state),
        Column("ended_at", pgettext_lazy("lockdown", "Ended"), kind="time"),
    )

    def __init__(self, request: TenantRequest, **more: Any) -> None:
        super().__init__(request, Lockdown.objects.select_related("started_by"), **more)

    @property
    def empty(self) -> EmptyState | None:
        return EmptyState(_("No lockdowns yet"), _("Locks many doors at once. A rehearsal sends nothing."), "lock")

    def row_href(self, row: Lockdown) -> str:
        return reverse("lockdown:page", args=[self.request.tenant.slug, row.pk])
