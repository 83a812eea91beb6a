"""The list of areas: their doors, the number of members with access, and the last use."""

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

from portal.areas import access_counts, queries, rights_loading
from portal.base.ui.tables import Column, EmptyState, Filter, Table
from portal.base.ui.value_words import add_side, join_values
from portal.domain.jobs.lists import DETAIL_COLUMN, MEMBER_COLUMN, JobRows
from portal.domain.jobs.models import Job, Row
from portal.domain.log import visibility
from portal.domain.mirror import freshness
from portal.domain.mirror.freshness import freshness_for
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import Area
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
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_("No areas yet"), _("Areas are set up on the member site."), "map-pin")
        return freshness.empty_state(self.request, usual, MirrorKind.AREAS)

    def __init__(self, request: TenantRequest, queryset: QuerySet[Area]) -> None:
        super().__init__(request, queryset, total=lambda: freshness_for(request)[MirrorKind.AREAS].total)
        self.complete_columns(
            doors={"value": self._doors},
            flags={"value": self._flags},
            may={"value": self._may, "cell": self._may_cell},
            **{name: {"value": self._count(name)} for name in ("always", "schedule", "everywhere")},
            last={"value": self._last}
            | ({"label": _("Last used today")} if visibility.visible_since(request.access) else {}),
        )
        if not visibility.may_view_log(request.access):
            self.columns = [column for column in self.columns if column.name != "last"]

    @cached_property
    def _listed_areas(self) -> Sequence[Area]:
        """Return the areas of the file or of the page."""
        return list(self.matching_rows) if self.requested_file else self.page.rows

    @cached_property
    def _places(self) -> dict[str, list[queries.AreaDoor]]:
        return queries.doors_of(self._listed_areas, self._controllers)

    @cached_property
    def _controllers(self) -> dict[str, Any]:
        return queries.doors_by_id()

    @cached_property
    def _access_counts(self) -> access_counts.AccessCounts:
        return access_counts.count_all(area.area_id for area in self._listed_areas)

    @property
    def loaded(self) -> rights_loading.LoadedRights:
        return queries.loaded_rights(self.request, self._access_counts.members_known)

    @property
    def file_note(self) -> str:
        return self.loaded.summary()

    @property
    def _counts_by_area(self) -> dict[str, access_counts.AccessCount]:
        return self._access_counts.areas

    def _doors(self, row: Area) -> str:
        return join_values(add_side(str(door), door.side) for door in self._places[row.area_id])

    def _flags(self, row: Area) -> str:
        words = [(row.is_outside, _t("Outside")), (row.is_management, _t("Management area"))]
        return ", ".join(word for flag, word in words if flag)

    def _count(self, name: str) -> Callable[[Area], int | str]:
        """Return the function that reads one of an area's numbers, marked if it is incomplete."""
        return lambda row: self.loaded.cell_value(getattr(self._counts_by_area[row.area_id], name))

    def _may(self, row: Area) -> int | str:
        roll = self._counts_by_area[row.area_id]
        return self.loaded.cell_value(roll.with_access, is_doubtful=roll.unknown > 0)

    def _may_cell(self, row: Area) -> SafeString:
        told = self._may(row)
        return format_html("<b>{}</b>", told if isinstance(told, str) else self.loaded.count_text(told))

    def _last(self, row: Area) -> datetime | None:
        used = [getattr(door.door, "last_at", None) for door in self._places[row.area_id]]
        since = visibility.visible_since(self.request.access)
        return max((at for at in used if at and (since is None or at >= since)), default=None)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(area_name__icontains=text)

    def row_href(self, row: Area) -> str:
        return reverse("areas:area", args=[self.request.tenant.slug, row.area_id])


class AreaEditRows(JobRows):
    name = "area-edit-rows"
    caption = _("Members to change")
    columns = (MEMBER_COLUMN, DETAIL_COLUMN)

    def __init__(self, request: Any, queryset: QuerySet[Row], *, job: Job) -> None:
        super().__init__(request, queryset, job=job, groups={})
