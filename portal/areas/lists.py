"""The list of areas, the rows of an edit, and the lists of members for an area."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from portal.areas import access_counts, queries
from portal.areas.access_counts import AreaAccessAt
from portal.areas.queries import LoadedRights
from portal.base.files.writing import KINDS
from portal.base.ui import batching
from portal.base.ui.chips import Chip
from portal.base.ui.tables import BulkAction, Column, EmptyState, Filter, Table
from portal.base.ui.url_lookup import ServiceId
from portal.base.ui.value_words import add_side, join_values
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.jobs import suspensions
from portal.domain.jobs.lists import DETAIL_COLUMN, MEMBER_COLUMN, JobRows
from portal.domain.jobs.models import Job, Row
from portal.domain.people import queries as mirror
from portal.domain.people.member_fields import CODE, END, GROUP, MEMBER_ID, NAME
from portal.domain.people.models import Member
from portal.domain.people.queries import scanner_hint, search_members
from portal.domain.places.models import Area
from portal.domain.rights import words
from portal.domain.sync import freshness
from portal.domain.sync.freshness import freshness_for
from tenants.access import TenantRequest
from tenants.roles import Permission

_FLAGS = (("outside", _("Outside")), ("management", _("Management area")))


def _by_flag(rows: QuerySet[Area], values: list[str]) -> QuerySet[Area]:
    matching = rows.none()
    for value in values:
        matching = matching | rows.filter(**{f"is_{value}": True})
    return matching


class Areas(Table):
    name = "areas"
    caption = _("Areas")
    search_label = _("Find an area")
    default_sort = "area_name"
    columns: Sequence[Column] = (
        Column("name", _("Area"), str, sort="name_order", phone="title", fixed=True),
        Column("doors", _("Doors")),
        Column("flags", _("Kind")),
        Column(
            "may",
            pgettext_lazy("area", "Has access"),
            kind="number",
            help=_("Of the members whose rights are loaded"),
        ),
        Column("always", _("At any time"), kind="number", phone="hide"),
        Column("schedule", pgettext_lazy("area", "Scheduled"), kind="number", phone="hide"),
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
    def loaded(self) -> queries.LoadedRights:
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
        return join_values(word for flag, word in words if flag)

    def _count(self, name: str) -> Callable[[Area], int | str]:
        """Return the function that reads one of an area's numbers, marked if it is incomplete."""
        return lambda row: self.loaded.cell_value(getattr(self._counts_by_area[row.area_id], name))

    def _may(self, row: Area) -> int | str:
        roll = self._counts_by_area[row.area_id]
        return self.loaded.cell_value(roll.with_access, is_doubtful=roll.unknown > 0)

    def _may_cell(self, row: Area) -> SafeString:
        count = self._may(row)
        return format_html("<b>{}</b>", count if isinstance(count, str) else self.loaded.count_text(count))

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


_ids = ServiceId()
_ENTRY = (("yes", _("Access at that time")), ("no", _("No access at that time")), ("unknown", _("Unknown")))
_HOURS = (
    ("always", _("At any time")),
    ("schedule", pgettext_lazy("area", "Scheduled")),
    ("everywhere", _("Every area")),
    ("unknown", _("Unknown value")),
)
_ACCESS = (("holds", _("Has access here")), ("none", _("No access here")), ("unread", _("Rights not loaded yet")))
_MEMBER_FILTERS = (
    Filter("group", _("Group"), lambda request: batching.load_rows(request, "groups"), mirror.filter_by_groups),
    Filter("credential", _("Credential"), mirror.Credential.choices, mirror.filter_by_credentials),
    Filter("validity", pgettext_lazy("member", "Status"), suspensions.VALIDITY_CHOICES, suspensions.filter_by_validity),
)


class AreaMembers(Table):
    """Members that hold a right to an area; `access` has the area and the moment."""

    name = "area-people"
    caption = _("Members of this area")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    # Above this number, the list only shows that there are more: each of many thousand members would be looked up.
    max_counted = 2_000
    columns = (
        NAME.list_column(phone="title", fixed=True),
        CODE.list_column(),
        GROUP.list_column(),
        Column("when", _("Access to this area")),
        Column("then", _("Access")),
        END.list_column(phone="hide"),
        MEMBER_ID.list_column(),
    )
    exports: Sequence[str] = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(
        self,
        request: TenantRequest,
        queryset: QuerySet[Any],
        *,
        access: AreaAccessAt,
        query: QueryDict | None = None,
        total: int | Callable[[], int] | None = None,
        loaded: LoadedRights | None = None,
    ) -> None:
        batching.prefetch(request, "groups")
        super().__init__(request, queryset, total=total, query=query)
        self.access, self.passes = access, {held.id: held for held in access.passes}
        self.loaded = loaded
        self.complete_columns(
            when={"value": self._hours_text, "cell": self._hours_cell},
            then={"value": self._access_text, "cell": self._access_cell},
        )
        self.filters = [*self.access_filters(), *_MEMBER_FILTERS]
        self.actions = _actions(access, self.name)

    @cached_property
    def total(self) -> int:
        """Return the number of members.

        For a filter by one kind of right, it comes from the tallies without counting.
        """
        chosen = {each.name: each.values for each in self.bound_filters if each.is_active}
        kinds = chosen.get("hours", [])
        if list(chosen) == ["hours"] and len(kinds) == 1 and kinds[0] in dict(_HOURS) and not self.search_text:
            return int(getattr(self.access.count, kinds[0]))
        return super().total

    @property
    def rows_to_count(self) -> QuerySet[Any]:
        look = self.access.for_counting()
        chosen = {each.name: each.values for each in self.bound_filters if each.is_active}
        # Members with access or a kind of pass are holders anyway, so the list need not be limited to holders.
        is_limited_to_holders = "hours" in chosen or chosen.get("entry") == ["yes"]
        members = mirror.members() if is_limited_to_holders else self.base_members(look)
        return type(self)(self.request, members, access=look, query=self.address.query).matching_rows

    @staticmethod
    def base_members(look: AreaAccessAt) -> QuerySet[Member]:
        """Return the members before filters and search."""
        return look.holders()

    def access_filters(self) -> list[Filter]:
        return [
            Filter("entry", _("Access"), _ENTRY, self.access.filter_by_access),
            Filter("hours", _("Access to this area"), _HOURS, self.access.filter_by_hours),
        ]

    def _hours_text(self, row: Any) -> str:
        held = self._held_pass(row)
        if held is None:
            return _t("Not loaded yet") if row.rights_read_at is None else _t("None")
        return (
            _t("Every area")
            if held.everywhere and held.kind == access_counts.Kind.ALWAYS
            else words.pass_text(held.body)
        )

    def _hours_cell(self, row: Any) -> SafeString:
        held = self._held_pass(row)
        css = "none fine" if held is None else "is-doubt" if held.kind == access_counts.Kind.UNKNOWN else "when"
        return format_html('<span class="{}">{}</span>', css, self._hours_text(row))

    def _held_pass(self, row: Any) -> access_counts.HeldPass | None:
        return self.passes.get(row.held_id) if row.held_id else None

    def _access_state(self, row: Any) -> str:
        return self.access.access_state(row) if row.held_id or row.rights_read_at else "unknown"

    def _access_text(self, row: Any) -> str:
        texts = {
            "yes": pgettext("entry", "Yes"),
            "no": pgettext("entry", "No"),
            "period": _t("No: use period"),
            "credential": _t("No: no credential"),
            "unknown": _t("Unknown"),
        }
        return texts[self._access_state(row)]

    def _access_cell(self, row: Any) -> SafeString:
        answer, word = self._access_state(row), self._access_text(row)
        if answer in ("yes", "unknown"):
            return Chip("valid" if answer == "yes" else "unknown", word).__html__()
        return format_html('<span class="none fine">{}</span>', word)

    @property
    def file_note(self) -> str:
        return self.loaded.summary(self.access.count.with_access) if self.loaded is not None else ""

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return search_members(queryset, text, may_see_cards=self.may(Permission.SECRETS_REVEAL))

    @property
    def search_hint(self) -> str:
        return scanner_hint(self.search_text, may_see_cards=self.may(Permission.SECRETS_REVEAL))

    def row_href(self, row: Any) -> str:
        return f"/t/{self.request.tenant.slug}/members/{_ids.to_url(row.member_id)}/"

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(
            _t("No member with access here yet"),
            _t("Rights load one member at a time in the background. Members not loaded yet may have access."),
            "users",
        )
        return freshness.empty_state(self.request, usual, MirrorKind.MEMBERS, "read_member")


class AreaMemberChoice(AreaMembers):
    """All members of the tenant, to choose those whose access to an area is changed."""

    name = "area-choice"
    caption = _("Members")
    exports = ()

    @staticmethod
    def base_members(look: AreaAccessAt) -> QuerySet[Member]:
        return look.with_held_pass(mirror.members())

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_t("No members yet"), "", "users")
        return freshness.empty_state(self.request, usual, MirrorKind.MEMBERS)

    def access_filters(self) -> list[Filter]:
        return [
            Filter("access", _("This area"), _ACCESS, self._by_access),
            Filter("hours", _("Access to this area"), _HOURS, self.access.filter_by_hours),
        ]

    def _by_access(self, rows: QuerySet[Member], values: list[str]) -> QuerySet[Member]:
        holds = Q(self.access.is_holder())
        meaning = {
            "holds": holds,
            "none": ~holds & Q(rights_read_at__isnull=False),
            "unread": Q(rights_read_at__isnull=True),
        }
        return rows.filter(reduce(or_, (meaning[value] for value in values)))


def _actions(look: AreaAccessAt, listed: str) -> list[BulkAction]:
    """Return the actions for a selection. Their address names the list in which it was made."""
    area_id = look.area.area_id

    def to(name: str) -> Callable[[Any], str]:
        return lambda request: f"{reverse(f'areas:{name}', args=[request.tenant.slug, area_id])}?list={listed}"

    edit = Permission.RIGHTS_EDIT
    return [
        BulkAction("grant", _("Give access…"), to("grant"), icon="lock-open", permission=edit),
        BulkAction("withdraw", _("Remove access…"), to("withdraw"), icon="lock", permission=edit),
    ]
