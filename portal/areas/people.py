"""Members beside an area: the list of those who hold a right to it, and the list to choose from."""

from collections.abc import Callable, Sequence
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

from portal.areas import rolls
from portal.areas.loading import Loaded
from portal.areas.rolls import AreaAt
from portal.core.files.writing import KINDS
from portal.core.jobs import suspensions
from portal.core.mirror import freshness, queries, search
from portal.core.mirror.fields.members import CODE, END, GROUP, MEMBER_ID, NAME
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.core.rights import words
from portal.core.ui import together
from portal.core.ui.addresses import ServiceId
from portal.core.ui.chips import Chip
from portal.core.ui.tables import BulkAction, Column, Empty, Filter, Table
from tenants.access import TenantRequest
from tenants.roles import Permission

_ids = ServiceId()
_ENTRY = (("yes", _("Access at that time")), ("no", _("No access at that time")), ("unknown", _("Unknown")))
_HOURS = (
    ("always", _("At any time")),
    ("schedule", _("By a schedule")),
    ("everywhere", _("Every area")),
    ("unknown", _("Unknown value")),
)
_ACCESS = (("holds", _("Has access here")), ("none", _("No access here")), ("unread", _("Rights not loaded yet")))
_OF_MEMBERS = (
    Filter("group", _("Group"), lambda request: together.told(request, "groups"), queries.in_groups),
    Filter("credential", _("Credential"), queries.Credential.choices, queries.with_credentials),
    Filter("validity", pgettext_lazy("member", "Status"), suspensions.CHOICES, suspensions.with_standing),
)


class People(Table):
    """Members that hold a right to an area; `look` says to which and at which moment."""

    name = "area-people"
    caption = _("Members of this area")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    # Beyond it people are only said to be more: each is looked up, of the tens of thousands that may hold a right.
    counted_most = 2_000
    columns = (
        NAME.column(phone="title", fixed=True),
        CODE.column(),
        GROUP.column(),
        Column("when", _("Right here")),
        Column("then", _("Access")),
        END.column(phone="hide"),
        MEMBER_ID.column(),
    )
    exports: Sequence[str] = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(
        self,
        request: TenantRequest,
        queryset: QuerySet[Any],
        *,
        look: AreaAt,
        query: QueryDict | None = None,
        total: int | Callable[[], int] | None = None,
        loaded: Loaded | None = None,
    ) -> None:
        together.want(request, "groups")
        super().__init__(request, queryset, total=total, query=query)
        self.look, self.passes = look, {held.id: held for held in look.passes}
        self.loaded = loaded
        self.complete(
            when={"value": self._when, "cell": self._drawn_when},
            then={"value": self._state, "cell": self._drawn_state},
        )
        self.filters = [*self.narrowing(), *_OF_MEMBERS]
        self.actions = _actions(look, self.name)

    @cached_property
    def total(self) -> int:
        """How many hold a right of one kind stands in the tallies: nobody needs to be counted."""
        chosen = {each.name: each.values for each in self.bound if each.active}
        kinds = chosen.get("hours", [])
        if list(chosen) == ["hours"] and len(kinds) == 1 and kinds[0] in dict(_HOURS) and not self.text:
            return int(getattr(self.look.roll, kinds[0]))
        return super().total

    @property
    def counted(self) -> QuerySet[Any]:
        look = self.look.gathered()
        chosen = {each.name: each.values for each in self.bound if each.active}
        # Who may enter, or holds something of a kind, holds something: it need not be looked for twice.
        is_said = "hours" in chosen or chosen.get("entry") == ["yes"]
        everybody = queries.members() if is_said else self.everybody(look)
        return type(self)(self.request, everybody, look=look, query=self.address.query).matching

    @staticmethod
    def everybody(look: AreaAt) -> QuerySet[Member]:
        """Whom the list narrows."""
        return look.holders()

    def narrowing(self) -> list[Filter]:
        return [
            Filter("entry", _("Access"), _ENTRY, self.look.by_entry),
            Filter("hours", _("Right here"), _HOURS, self.look.by_hours),
        ]

    def _when(self, row: Any) -> str:
        held = self._held(row)
        if held is None:
            return _t("Not loaded yet") if row.rights_read_at is None else _t("None")
        return _t("Every area") if held.everywhere and held.kind == rolls.Kind.ALWAYS else words.when(held.body)

    def _drawn_when(self, row: Any) -> SafeString:
        held = self._held(row)
        css = "none fine" if held is None else "is-doubt" if held.kind == rolls.Kind.UNKNOWN else "when"
        return format_html('<span class="{}">{}</span>', css, self._when(row))

    def _held(self, row: Any) -> rolls.Held | None:
        return self.passes.get(row.held_id) if row.held_id else None

    def _answer(self, row: Any) -> str:
        return self.look.state(row) if row.held_id or row.rights_read_at else "unknown"

    def _state(self, row: Any) -> str:
        said = {
            "yes": pgettext("entry", "Yes"),
            "no": pgettext("entry", "No"),
            "period": _t("No: use period"),
            "credential": _t("No: no credential"),
            "unknown": _t("Unknown"),
        }
        return said[self._answer(row)]

    def _drawn_state(self, row: Any) -> SafeString:
        answer, word = self._answer(row), self._state(row)
        if answer in ("yes", "unknown"):
            return Chip("valid" if answer == "yes" else "unknown", word).__html__()
        return format_html('<span class="none fine">{}</span>', word)

    @property
    def file_note(self) -> str:
        return self.loaded.sentence(self.look.roll.may_enter) if self.loaded is not None else ""

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return search.members(queryset, text, reveal=self.may(Permission.SECRETS_REVEAL))

    def row_href(self, row: Any) -> str:
        return f"/t/{self.request.tenant.slug}/members/{_ids.to_url(row.member_id)}/"

    @property
    def empty(self) -> Empty | None:
        usual = Empty(
            _t("No member with access here yet"),
            _t("Rights load one member at a time in the background. Members not loaded yet may have access."),
            "users",
        )
        return freshness.empty(self.request, usual, Kind.MEMBERS, "read_member")


class Choice(People):
    """All members of the tenant, to choose from whose access to an area shall change."""

    name = "area-choice"
    caption = _("Members")
    exports = ()

    @staticmethod
    def everybody(look: AreaAt) -> QuerySet[Member]:
        return look.noted(queries.members())

    @property
    def empty(self) -> Empty | None:
        usual = Empty(_t("No members yet"), "", "users")
        return freshness.empty(self.request, usual, Kind.MEMBERS)

    def narrowing(self) -> list[Filter]:
        return [
            Filter("access", _("This area"), _ACCESS, self._by_access),
            Filter("hours", _("Right here"), _HOURS, self.look.by_hours),
        ]

    def _by_access(self, rows: QuerySet[Member], values: list[str]) -> QuerySet[Member]:
        holds = Q(self.look.grants())
        meaning = {
            "holds": holds,
            "none": ~holds & Q(rights_read_at__isnull=False),
            "unread": Q(rights_read_at__isnull=True),
        }
        return rows.filter(reduce(or_, (meaning[value] for value in values)))


def _actions(look: AreaAt, listed: str) -> list[BulkAction]:
    """What can be done with a selection; the address names the list that it was made in."""
    area_id = look.area.area_id

    def to(name: str) -> Callable[[Any], str]:
        return lambda request: f"{reverse(f'areas:{name}', args=[request.tenant.slug, area_id])}?list={listed}"

    edit = Permission.RIGHTS_EDIT
    return [
        BulkAction("grant", _("Give access…"), to("grant"), icon="lock-open", permission=edit),
        BulkAction("withdraw", _("Remove access…"), to("withdraw"), icon="lock", permission=edit),
    ]
