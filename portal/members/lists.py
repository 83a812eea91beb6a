"""The list of members, straight from the mirror."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.files.writing import KINDS
from portal.core.jobs import lists, suspensions
from portal.core.mirror import absence, queries, search
from portal.core.mirror.fields.members import GROUP, MEMBER, MEMBER_ID, NAME
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.core.mirror.search import Needles
from portal.core.ui import together
from portal.core.ui.addresses import ServiceId, within
from portal.core.ui.tables import Column, Empty, Filter, Table
from portal.members import standing
from tenants.roles import Permission

_ids = ServiceId()


def _everybody() -> QuerySet[Member]:
    return suspensions.noted(queries.members())


class Members(Table):
    name = "members"
    caption = _("Members")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    steady = staticmethod(_everybody)
    drawn_from = ("member_id", *(each.name for each in MEMBER if each.part), "membergroup_name", "has_card", "has_qr",
                  "has_face", "use_end_key")  # fmt: skip
    columns = (
        NAME.column(phone="title", fixed=True),
        *(each.column() for each in MEMBER.in_part("who") if each is not NAME),
        Column(
            "credentials",
            _("Credentials"),
            lambda row: ", ".join(standing.credential_words(row)),
            kind="cred",
            drawer=standing.credential_drawer,
        ),
        Column("validity", pgettext_lazy("member", "Status"), standing.validity_of, drawer=standing.validity_drawer),
        *(each.column() for each in MEMBER.in_part("period")),
        MEMBER_ID.column(),
    )
    filters = (
        Filter("group", GROUP.label, lambda request: together.told(request, "groups"), queries.in_groups),
        Filter("credential", _("Credential"), queries.Credential.choices, queries.with_credentials),
        Filter("validity", pgettext_lazy("member", "Status"), suspensions.CHOICES, suspensions.with_standing),
    )
    actions = lists.actions()
    exports = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(self, request: HttpRequest, *, query: QueryDict | None = None) -> None:
        together.want(request, "groups")
        super().__init__(request, _everybody, total=lambda: known(request)[Kind.MEMBERS].total, query=query)

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return search.members(queryset, text, reveal=self.may(Permission.SECRETS_REVEAL))

    @property
    def needles(self) -> Needles | None:
        """None for more words than SQL is kept for, and for what may be a card's number."""
        asked = search.needles(self.text)
        follows = len(asked.long) <= 2 and not (search.may_be_a_card(self.text) and self.may(Permission.SECRETS_REVEAL))
        return asked if follows else None

    @classmethod
    def found_by(cls, rows: QuerySet[Any], long: tuple[bool, ...], values: dict[str, str]) -> QuerySet[Any]:
        return search.narrow(rows, Needles(long, values))

    def row_href(self, row: Member) -> str:
        return f"{self._index}{_ids.to_url(row.member_id)}/"

    def row_class(self, row: Member) -> str:
        return "quiet" if standing.state_of(row, self._now) in ("ended", "suspended") else ""

    @cached_property
    def _now(self) -> datetime:
        return timezone.now()

    @cached_property
    def _index(self) -> str:
        return within("members:index", self.request.tenant.slug)

    @property
    def empty(self) -> Empty | None:  # type: ignore[override]
        """Nobody yet: what comes next depends on whether the list was ever read, and on the person."""
        return absence.empty(self._nobody, Kind.MEMBERS, known(self.request)[Kind.MEMBERS])

    @property
    def _nobody(self) -> Empty:
        if not self.may(Permission.MEMBERS_EDIT):
            words = _t("Members appear here once they are created or imported.")
            return Empty(_t("No members yet"), words, "users")
        return Empty(
            _t("No members yet"),
            _t("Create the first one here, or import members from a spreadsheet under “Imports”."),
            "users",
            _t("New member"),
            lambda request: reverse("members:new", args=[request.tenant.slug]),
        )

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        """Exports that ask before they give: (label, address)."""
        if not (self.may(self.export_permission) and self.may(Permission.SECRETS_REVEAL)):
            return []
        address = reverse("members:export", args=[self.request.tenant.slug])
        match = self.address.with_().partition("?")[2]
        return [(_t("Export with card numbers…"), f"{address}?{match}" if match else address)]
