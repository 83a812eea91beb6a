"""The list of groups."""

from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.mirror.folding import fold
from portal.mirror.models import Group
from portal.ui.tables import Column, Empty, Table


class Groups(Table):
    name = "groups"
    caption = _("Member groups")
    search_label = _("Find a group")
    default_sort = "name_key"
    columns = (
        Column("name", _("Name"), value=str, sort="name_key", phone="title", fixed=True),
        Column(
            "members",
            _("Members"),
            value="member_count",
            kind="number",
            sort="member_count",
            help=_("As the service counted them when the list of groups was read"),
        ),
        Column("membergroup_id", _("Group ID"), value="membergroup_id", kind="mono", phone="hide"),
    )
    empty = Empty(
        _("No groups yet"),
        _("Every member belongs to a group. Groups appear here once the service's list was read."),
        "users-group",
    )

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(name_key__contains=fold(text))

    def row_href(self, row: Group) -> str:
        return reverse("groups:group", args=[self.request.tenant.slug, row.membergroup_id])
