"""The list of groups, and the members of one."""

from typing import Any

from django.db.models import QuerySet, Value
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.files.writing import KINDS
from portal.core.jobs.lists import selection_actions
from portal.core.mirror import freshness, queries, search
from portal.core.mirror.fields.members import CODE, END, NAME
from portal.core.mirror.folding import fold
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Group, Member, MirrorState
from portal.core.rights import reading
from portal.core.ui.addresses import ServiceId
from portal.core.ui.chips import Chip
from portal.core.ui.tables import Column, Empty, Table
from portal.core.ui.tables.filters import Address
from portal.groups.alike import Alike
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
    def empty(self) -> Empty | None:
        usual = Empty(_("No groups yet"), _("Every member belongs to a group."), "users-group")
        return freshness.empty(self.request, usual, Kind.GROUPS)

    exports = KINDS

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(name_key__contains=fold(text))

    def row_href(self, row: Group) -> str:
        return reverse("groups:group", args=[self.request.tenant.slug, row.membergroup_id])


def how_many() -> int:
    """How many groups the tenant has, without counting them."""
    return MirrorState.objects.filter(kind=Kind.GROUPS).values_list("total", flat=True).first() or 0


def _group_of(request: Any) -> str:
    return urlencode({"group": request.resolver_match.kwargs["membergroup_id"]})


def _compared(row: Any) -> Chip | str:
    """How a member's rights compare with those of most in the group. The rule stays quiet, what differs stands out."""
    if row.rights is None:
        return _t("Not loaded yet")
    return _t("Same as most") if reading.digest(row.rights) == row.main else Chip("change", _t("Differs"))


class GroupMembers(Table):
    """The members of one group, each compared with the rights that most of them have."""

    name = "group-members"
    caption = _("Members of the group")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    columns = (
        NAME.column(phone="title", fixed=True),
        CODE.column(),
        END.column(),
        Column("rights", _("Rights"), value=_compared),
    )
    actions = selection_actions(_group_of)

    def __init__(self, request: TenantRequest, group: Group, rights: Alike | None) -> None:
        base = queries.in_groups(queries.members(), [group.membergroup_id])
        base = base.defer(None).defer("card_data", "qrcode", "extra")
        total = rights.looked_at if rights and rights.everybody else None
        super().__init__(request, base.annotate(main=Value(rights.main if rights else "")), total=total)
        slug = request.tenant.slug
        self.group = group
        self.address = Address(reverse("groups:group", args=[slug, group.membergroup_id]), request.GET)
        self._index = reverse("members:index", args=[slug])

    @property
    def empty(self) -> Empty | None:
        usual = Empty(_t("This group has no members."), icon="users-group")
        return freshness.empty(self.request, usual, Kind.MEMBERS)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return search.members(queryset, text, reveal=False)

    def row_href(self, row: Member) -> str:
        return f"{self._index}{_ids.to_url(row.member_id)}/"

    @property
    def files(self) -> list[tuple[str, str]]:
        """The members list gives the files, with its columns and its entry in the audit trail."""
        if not self.may(Permission.MEMBERS_EXPORT):
            return []
        match = {"group": self.group.membergroup_id, **({"q": self.text} if self.text else {})}
        return [(kind, f"{self._index}?{urlencode({**match, 'export': kind})}") for kind in KINDS]
