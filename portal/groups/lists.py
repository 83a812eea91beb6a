"""The list of groups, and the members of one."""

from typing import Any

from django.db.models import QuerySet, Value
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.files.writing import KINDS
from portal.base.ui.chips import Chip
from portal.base.ui.tables import Column, EmptyState, Table
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.url_lookup import ServiceId
from portal.domain.events import MirrorKind
from portal.domain.jobs.lists import selection_actions
from portal.domain.people import queries
from portal.domain.people.member_fields import CODE, END, NAME
from portal.domain.people.models import Group, Member
from portal.domain.rights import member_rights
from portal.domain.sync import freshness
from portal.domain.sync.models import MirrorState
from portal.groups.rights_comparison import RightsComparison
from tenants.access import TenantRequest
from tenants.roles import Permission

_ids = ServiceId()


class Groups(Table):
    name = "groups"
    caption = _("Member groups")
    search_label = _("Find a group")
    default_sort = "name_key"
    columns = (
        Column("name", pgettext_lazy("group", "Name"), value=str, sort="name_key", phone="title", fixed=True),
        Column(
            "members",
            _("Members"),
            value="member_count",
            kind="number",
            sort="member_count",
            help=_("Member count from the service when groups were loaded"),
        ),
        Column("membergroup_id", _("Group ID"), value="membergroup_id", kind="mono", phone="hide"),
    )

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_("No groups yet"), _("Every member belongs to a group."), "users-group")
        return freshness.empty_state(self.request, usual, MirrorKind.GROUPS)

    exports = KINDS

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(queries.contains_folded("name_key", text))

    def row_href(self, row: Group) -> str:
        return reverse("groups:group", args=[self.request.tenant.slug, row.membergroup_id])


def group_count() -> int:
    """Return the number of the tenant's groups from the last reading, without counting them."""
    return MirrorState.objects.filter(kind=MirrorKind.GROUPS).values_list("total", flat=True).first() or 0


def _group_query(request: Any) -> str:
    return urlencode({"group": request.resolver_match.kwargs["membergroup_id"]})


def _comparison_cell(row: Any) -> Chip | str:
    """Return how a member's rights compare with those of most members. Only differences are highlighted."""
    if row.rights is None:
        return _t("Not loaded yet")
    return _t("Same as most") if member_rights.digest(row.rights) == row.main else Chip("change", _t("Differs"))


class GroupMembers(Table):
    """The members of one group, each compared with the rights that most of them have."""

    name = "group-members"
    caption = _("Members of the group")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    columns = (
        NAME.list_column(phone="title", fixed=True),
        CODE.list_column(),
        END.list_column(),
        Column("rights", _("Rights"), value=_comparison_cell),
    )
    actions = selection_actions(_group_query)

    def __init__(self, request: TenantRequest, group: Group, rights: RightsComparison | None) -> None:
        base = queries.filter_by_groups(queries.members(), [group.membergroup_id])
        base = base.defer(None).defer("card_data", "qrcode", "extra")
        total = rights.compared_count if rights and rights.is_complete else None
        super().__init__(request, base.annotate(main=Value(rights.main_digest if rights else "")), total=total)
        slug = request.tenant.slug
        self.group = group
        self.address = ListAddress(reverse("groups:group", args=[slug, group.membergroup_id]), request.GET)
        self._index = reverse("members:index", args=[slug])

    @property
    def empty(self) -> EmptyState | None:
        usual = EmptyState(_t("This group has no members."), icon="users-group")
        return freshness.empty_state(self.request, usual, MirrorKind.MEMBERS)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queries.search_members(queryset, text, may_see_cards=False)

    def row_href(self, row: Member) -> str:
        return f"{self._index}{_ids.to_url(row.member_id)}/"

    @property
    def export_links(self) -> list[tuple[str, str]]:
        """Return links to the members list's exports, which have its columns and its audit entry."""
        if not self.may(Permission.MEMBERS_EXPORT):
            return []
        match = {"group": self.group.membergroup_id, **({"q": self.search_text} if self.search_text else {})}
        return [(kind, f"{self._index}?{urlencode({**match, 'export': kind})}") for kind in KINDS]
