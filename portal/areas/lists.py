"""The list of areas: where they are entered, how many may, and when somebody last did."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.areas import loading, queries, rolls
from portal.core.jobs.lists import DETAIL, WHO, Rows
from portal.core.jobs.models import Job, Row
from portal.core.log import visible
from portal.core.mirror import freshness
from portal.core.mirror.freshness import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Area
from portal.core.ui.tables import Column, Empty, Filter, Table
from portal.core.ui.vocabulary import beside, joined
from tenants.access import TenantRequest
from tenants.roles import Permission

_FLAGS = (("outside", _("Outside")), ("management", _("Management area")))


def _by_flag(rows: QuerySet[Area], values: list[str]) -> QuerySet[Area]:
    wanted = rows.none()
    for value in values:
        wanted = wanted | rows.filter(**{f"is_{value}": True})
    return wanted


class Areas(Table):
    name = "areas"
    caption = _("Areas")
    search_label = _("Find an area")
    default_sort = "area_name"
    columns: Sequence[Column] = (
        Column("name", _("Area"), str, sort="name_order", phone="title", fixed=True),
        Column("doors", _("Doors")),
        Column("flags", _("Kind")),
        Column("may", _("May enter"), kind="number", help=_("Of the members whose rights are loaded")),
        Column("always", _("At any time"), kind="number", phone="hide"),
        Column("schedule", _("By a schedule"), kind="number", phone="hide"),
        Column("everywhere", _("Every area"), kind="number", phone="hide", shown=False),
        Column("last", _("Last used"), kind="time"),
        Column("area_id", _("Area ID"), "area_id", kind="mono", shown=False, phone="hide"),
    )  # fmt: skip
    filters = (Filter("kind", _("Kind"), _FLAGS, _by_flag),)
    exports = ("csv", "xlsx")
    export_permission = Permission.AREAS_VIEW

    @property
    def empty(self) -> Empty | None:
        usual = Empty(_("No areas yet"), _("Areas are set up on the member site."), "map-pin")
        return freshness.empty(self.request, usual, Kind.AREAS)

    def __init__(self, request: TenantRequest, queryset: QuerySet[Area]) -> None:
        super().__init__(request, queryset, total=lambda: known(request)[Kind.AREAS].total)
        self.complete(
            doors={"value": self._doors},
            flags={"value": self._flags},
            may={"value": self._may, "cell": self._drawn_may},
            **{name: {"value": self._count(name)} for name in ("always", "schedule", "everywhere")},
            last={"value": self._last} | ({"label": _("Last used today")} if visible.since(request.access) else {}),
        )
        if not visible.may_look(request.access):
            self.columns = [column for column in self.columns if column.name != "last"]

    @cached_property
    def _all(self) -> Sequence[Area]:
        """What the file holds, or the page."""
        return list(self.matching) if self.wanted_file else self.page.rows

    @cached_property
    def _places(self) -> dict[str, list[queries.Door]]:
        return queries.doors_of(self._all, self._controllers)

    @cached_property
    def _controllers(self) -> dict[str, Any]:
        return queries.controllers()

    @cached_property
    def _told(self) -> rolls.Rolls:
        return rolls.of_all(area.area_id for area in self._all)

    @property
    def loaded(self) -> loading.Loaded:
        return queries.loaded(self.request, self._told.known)

    @property
    def file_note(self) -> str:
        return self.loaded.sentence()

    @property
    def _rolls(self) -> dict[str, rolls.Roll]:
        return self._told.areas

    def _doors(self, row: Area) -> str:
        return joined(beside(str(door), door.side) for door in self._places[row.area_id])

    def _flags(self, row: Area) -> str:
        words = [(row.is_outside, _t("Outside")), (row.is_management, _t("Management area"))]
        return ", ".join(word for flag, word in words if flag)

    def _count(self, name: str) -> Callable[[Area], int | str]:
        """Return what reads a number of an area's roll with its doubt."""
        return lambda row: self.loaded.cell(getattr(self._rolls[row.area_id], name))

    def _may(self, row: Area) -> int | str:
        roll = self._rolls[row.area_id]
        return self.loaded.cell(roll.may_enter, is_doubtful=roll.unknown > 0)

    def _drawn_may(self, row: Area) -> SafeString:
        told = self._may(row)
        return format_html("<b>{}</b>", told if isinstance(told, str) else self.loaded.count(told))

    def _last(self, row: Area) -> datetime | None:
        used = [getattr(door.door, "last_at", None) for door in self._places[row.area_id]]
        since = visible.since(self.request.access)
        return max((at for at in used if at and (since is None or at >= since)), default=None)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(area_name__icontains=text)

    def row_href(self, row: Area) -> str:
        return reverse("areas:area", args=[self.request.tenant.slug, row.area_id])


class Preview(Rows):
    name = "area-edit-rows"
    caption = _("Members to change")
    columns = (WHO, DETAIL)

    def __init__(self, request: Any, queryset: QuerySet[Row], *, job: Job) -> None:
        super().__init__(request, queryset, job=job, groups={})
