"""The list of members, straight from the mirror; the lists to review; and what they hold as files."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import Http404, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.files.writing import KINDS
from portal.core.intents.record import Asker
from portal.core.jobs import lists as jobs
from portal.core.jobs import suspensions
from portal.core.mirror import freshness, queries, search
from portal.core.mirror.fields.members import GROUP, MEMBER, MEMBER_ID, NAME
from portal.core.mirror.freshness import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.core.mirror.search import Needles
from portal.core.ui import together
from portal.core.ui.addresses import ServiceId, within
from portal.core.ui.tables import Column, Empty, Filter, Table, file_response
from portal.core.ui.times import ago
from portal.core.ui.vocabulary import bracketed, join_sentences, joined
from portal.members import actions, leavers, standing
from portal.members.leavers import Which
from tenants.access import TenantRequest
from tenants.roles import Permission

_ids = ServiceId()


def _everybody() -> QuerySet[Member]:
    return suspensions.noted(queries.members())


def _of_qr(name: str) -> Callable[[Member], str]:
    return lambda row: str(row.qrcode.get(name) or "") if isinstance(row.qrcode, dict) else ""


_SECRETS = (
    Column("card_data", _("Card number"), lambda row: row.card_data or ""),
    Column("qr_data", _("QR data"), _of_qr("data")),
    Column("qr_email", _("QR e-mail"), _of_qr("email")),
)


class Members(Table):
    request: TenantRequest
    name = "members"
    caption = _("Members")
    search_label = _("Find by name or code")
    default_sort = "name_key"
    steady: ClassVar[Callable[[], QuerySet[Any]] | None] = staticmethod(_everybody)
    drawn_from = ("member_id", *(each.name for each in MEMBER if each.part), "membergroup_name", "has_card", "has_qr",
                  "has_face", "use_end_key")  # fmt: skip
    columns: Sequence[Column] = (
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
    filters: Sequence[Filter] = (
        Filter("group", GROUP.label, lambda request: together.told(request, "groups"), queries.in_groups),
        Filter("credential", _("Credential"), queries.Credential.choices, queries.with_credentials),
        Filter("validity", pgettext_lazy("member", "Status"), suspensions.CHOICES, suspensions.with_standing),
    )
    actions = jobs.selection_actions()
    exports = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(self, request: TenantRequest, *, query: QueryDict | None = None) -> None:
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
    def empty(self) -> Empty | None:
        """Nobody yet: what comes next depends on whether the list was ever read, and on the person."""
        return freshness.empty(self.request, self._nobody, Kind.MEMBERS)

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

    def export(self, kind: str, *, secrets: bool = False) -> HttpResponseBase:
        """Return all members that match, in the list's order, as CSV or XLSX; written into the audit trail first.

        Whoever lets `secrets` in has checked that the person may see them.
        """
        count = self.matching.order_by().count()
        if secrets:
            self.base = self.base.defer(None).defer("rights", "extra")
            self.columns = (*self.columns, *_SECRETS)

        def record() -> None:
            by, match = Asker.of(self.request), self.address.match
            actions.exported(by=by, count=count, match=match, kind=kind, secrets=secrets)

        return file_response(self, kind, record=record)

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        """Exports that ask before they give: (label, address)."""
        if not (self.may(self.export_permission) and self.may(Permission.SECRETS_REVEAL)):
            return []
        address = within("members:export", self.request.tenant.slug)
        match = self.address.with_().partition("?")[2]
        return [(_t("Export with card numbers…"), f"{address}?{match}" if match else address)]


_GROUP = next(each for each in Members.filters if each.name == "group")
_WITHIN = Filter("within", _("Within"), leavers.days, leavers.within, single=True)
_COLUMNS = {column.name: column for column in Members.columns}


def _other(said: dict[str, str]) -> str:
    """Return somebody by name and code, which tells namesakes apart."""
    return f"{said['name']} {bracketed(said['code'])}" if said["code"] else said["name"]


class Leavers(Members):
    """One of the lists to review, with what matters there."""

    name = "leavers"
    steady = None  # which members these are follows from the moment, too
    caption = _("Members to review")
    columns = (
        *(_COLUMNS[name] for name in ("name", "code", "group", "credentials", "validity", "end")),
        Column("when", pgettext_lazy("end of use", "When"), lambda row: ago(row.use_date_end)),
        Column("others", _("Same card as"), lambda row: joined(map(_other, row.others))),
        _COLUMNS["member_id"],
    )

    def __init__(self, request: TenantRequest, which: Which, *, query: QueryDict | None = None) -> None:
        if which in leavers.NEEDS:
            request.access.check(leavers.NEEDS[which])
        super().__init__(request, query=query)
        # What is done with "all that match" must mean this list, and never all members.
        self.actions = jobs.selection_actions(lambda _request: f"leavers={which}")
        self.which, self.known_total = which, None
        self.base = leavers.rows_of(which)
        self.default_sort = {Which.ENDING: "use_end_key", Which.ENDED: "-use_end_key"}.get(which, "name_key")
        self.filters = {Which.ENDING: (_GROUP, _WITHIN), Which.TWICE: ()}.get(which, (_GROUP,))
        away = {"validity"} if which in (Which.ENDING, Which.ENDED) else {"when"}
        away |= set() if which == Which.TWICE else {"others"}
        self.columns = tuple(column for column in type(self).columns if column.name not in away)

    @classmethod
    def selecting(cls, request: TenantRequest, which: str, query: QueryDict) -> "Leavers":
        """The list by its name, for whoever acts on what was selected in it. Raises Http404, and Refused."""
        if which not in Which.values:
            raise Http404
        return cls(request, Which(which), query=query)

    @property
    def _nobody(self) -> Empty:
        return Empty(leavers.NOBODY[self.which], "", "circle-check")

    @property
    def file_note(self) -> str:
        """Without the list of members, or without the log, a file of nobody or of everybody tells nothing."""
        of_log = leavers.of_log(known(self.request)[Kind.HISTORIES]) if self.which == Which.NEVER else ""
        return join_sentences([freshness.unread(self.request, Kind.MEMBERS), of_log])

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        return []
