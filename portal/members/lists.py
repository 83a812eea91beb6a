"""The table of members, the lists of members to review, and their exports."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery, TextChoices
from django.db.models.functions import JSONObject
from django.http import Http404, HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.files.writing import KINDS
from portal.base.ui import batching
from portal.base.ui.tables import Column, EmptyState, Filter, Table, file_response
from portal.base.ui.times import moment_text, relative_words
from portal.base.ui.url_lookup import ServiceId, url_in_tenant
from portal.base.ui.value_words import add_brackets, join_sentences, join_values
from portal.domain.events import MirrorKind
from portal.domain.history import gaps
from portal.domain.intents.recording import Requester
from portal.domain.jobs import lists as jobs
from portal.domain.jobs import suspensions
from portal.domain.people import queries
from portal.domain.people.member_fields import GROUP, MEMBER, MEMBER_ID, NAME
from portal.domain.people.models import Member
from portal.domain.people.queries import SearchPieces
from portal.domain.sync import freshness
from portal.domain.sync.freshness import Freshness, KindFreshness, freshness_for
from portal.members import actions, status
from tenants.access import Access, TenantRequest
from tenants.models import Tenant
from tenants.roles import Permission

SOON_DAYS = (7, 30, 90)
MAX_COUNTED = 10_000


class CleanupList(TextChoices):
    ENDING = "ending", _("Ends soon")
    ENDED = "ended", _("Expired, not deleted")
    NEVER = "never", _("Never used")
    NONE = "none", _("No credential")
    TWICE = "twice", _("Shared cards")


REVIEW_PURPOSES = {
    CleanupList.ENDING: _("Their access ends within 90 days. Extend it in time, or collect what they have."),
    CleanupList.ENDED: _("Their access has ended, but their card, QR code and face are still registered."),
    CleanupList.NEVER: _("No activity in the loaded log."),
    CleanupList.NONE: _("No card, QR code or face, so they cannot open any door."),
    CleanupList.TWICE: _("Two or more members have the same card number, so the log cannot show who entered."),
}
# Texts for empty lists. Here an empty list is good news.
REVIEW_EMPTY_TEXTS = {
    CleanupList.ENDING: _("No access ends within 90 days"),
    CleanupList.ENDED: _("No expired members"),
    CleanupList.NEVER: _("Every member has been seen"),
    CleanupList.NONE: _("Every member has a credential"),
    CleanupList.TWICE: _("No shared cards"),
}


# Extra permissions: who never came is derived from the whole log.
REVIEW_PERMISSIONS = {CleanupList.NEVER: Permission.LOGS_VIEW}


def review_lists_for(access: Access) -> list[CleanupList]:
    """Return the lists that a person may see."""
    return [which for which in CleanupList if which not in REVIEW_PERMISSIONS or access.can(REVIEW_PERMISSIONS[which])]


def members_to_review(which: CleanupList) -> QuerySet[Member]:
    """Return the members of one list. For shared cards, `others` has the name and code of the other holders."""
    second = int(timezone.now().timestamp())
    rows = suspensions.with_suspended_flag(queries.members())
    match which:
        case CleanupList.ENDING:
            return rows.filter(use_end_key__gte=second, use_end_key__lte=_end(SOON_DAYS[-1]))
        case CleanupList.ENDED:
            return suspensions.without_suspended(rows.filter(use_end_key__lt=second))
        case CleanupList.NEVER:
            return queries.members_never_seen()
        case CleanupList.NONE:
            return rows.filter(has_card=False, has_qr=False, has_face=False)
        case CleanupList.TWICE:
            same = queries.members().filter(has_card=True, card_fingerprint=OuterRef("card_fingerprint"))
            others = same.exclude(pk=OuterRef("pk")).order_by("name_key")
            named = others.values(who=JSONObject(name=F("member_name"), code=F("member_code")))
            return queries.members_sharing_card().annotate(others=ArraySubquery(named[:5]))


def _end(days: int) -> int:
    return int((timezone.now() + timedelta(days=days)).timestamp())


class CountedRows(Subquery):
    """A subquery that counts the rows of a queryset, as a column."""

    template = "(SELECT count(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def count_members_to_review(tenant: Tenant, lists: Iterable[CleanupList], fresh: Freshness) -> dict[str, int]:
    """Count the members of each list in one query, up to 10,001. Lists that cannot be known are left out."""
    if fresh[MirrorKind.MEMBERS].as_of is None:
        return {}
    lists = [which for which in lists if which != CleanupList.NEVER or fresh[MirrorKind.HISTORIES].as_of]
    columns = {
        which.value: CountedRows(members_to_review(which).order_by().values("pk")[: MAX_COUNTED + 1]) for which in lists
    }
    counted: dict[str, Any] = dict(Tenant.objects.filter(pk=tenant.pk).values(**columns).get())
    return counted


def log_period_text(log: KindFreshness) -> str:
    """Return a text about the loaded period of the log. The list of members who never came is based on it."""
    if log.as_of is None or log.known_from is None:
        return _t("The activity log is not loaded yet, so every member is listed.")
    times = {"since": moment_text(log.known_from), "at": moment_text(log.as_of)}
    loaded = _t("The activity log is loaded from %(since)s to %(at)s. Earlier entries are not counted.") % times
    return join_sentences([loaded, gaps.paused_text(log)])


def ending_within(queryset: QuerySet[Any], values: Iterable[str]) -> QuerySet[Any]:
    """Return the members whose use period ends within the chosen number of days."""
    return queryset.filter(use_end_key__lte=_end(max(int(value) for value in values)))


def day_choices(_request: HttpRequest) -> list[tuple[str, str]]:
    """Return the choices of the filter `ending_within`."""
    return [(str(number), _t("%(n)d days") % {"n": number}) for number in SOON_DAYS]


def review_tabs(current: str, lists: Sequence[CleanupList], counted: dict[str, int]) -> list[dict[str, object]]:
    """Return these lists as tabs, each with its number of members if it was counted."""
    return [
        {
            "value": which.value,
            "label": which.label,
            "current": which.value == current,
            "count": counted.get(which.value),
            "many": counted.get(which.value, 0) > MAX_COUNTED,
        }
        for which in lists
    ]


_ids = ServiceId()


def _all_members() -> QuerySet[Member]:
    return suspensions.with_suspended_flag(queries.members())


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
    cached_query: ClassVar[Callable[[], QuerySet[Any]] | None] = staticmethod(_all_members)
    row_fields = ("member_id", *(each.name for each in MEMBER if each.section), "membergroup_name", "has_card",
    "has_qr",
                  "has_face", "use_end_key")  # fmt: skip
    columns: Sequence[Column] = (
        NAME.list_column(phone="title", fixed=True),
        *(each.list_column() for each in MEMBER.in_section("who") if each is not NAME),
        Column(
            "credentials",
            _("Credentials"),
            lambda row: join_values(status.credential_words(row)),
            kind="cred",
            drawer=status.credential_drawer,
        ),
        Column("validity", pgettext_lazy("member", "Status"), status.validity_of, drawer=status.validity_drawer),
        *(each.list_column() for each in MEMBER.in_section("period")),
        MEMBER_ID.list_column(),
    )
    filters: Sequence[Filter] = (
        Filter("group", GROUP.label, lambda request: batching.load_rows(request, "groups"), queries.filter_by_groups),
        Filter("credential", _("Credential"), queries.Credential.choices, queries.filter_by_credentials),
        Filter(
            "validity", pgettext_lazy("member", "Status"), suspensions.VALIDITY_CHOICES, suspensions.filter_by_validity
        ),
        jobs.FROM_IMPORT,
    )
    actions = jobs.selection_actions()
    exports = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(self, request: TenantRequest, *, query: QueryDict | None = None) -> None:
        batching.prefetch(request, "groups")
        super().__init__(
            request, _all_members, total=lambda: freshness_for(request)[MirrorKind.MEMBERS].total, query=query
        )

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queries.search_members(queryset, text, may_see_cards=self.may(Permission.SECRETS_REVEAL))

    @property
    def search_pieces(self) -> SearchPieces | None:
        """Return the search pieces; None for searches without prepared SQL, and for possible card numbers."""
        pieces = queries.search_pieces(self.search_text)
        other = queries.needs_separate_query(self.search_text, may_see_cards=self.may(Permission.SECRETS_REVEAL))
        return None if other or len(pieces.are_long) > 2 else pieces

    @property
    def search_hint(self) -> str:
        return queries.scanner_hint(self.search_text, may_see_cards=self.may(Permission.SECRETS_REVEAL))

    @classmethod
    def filter_by_pieces(cls, rows: QuerySet[Any], long: tuple[bool, ...], values: dict[str, str]) -> QuerySet[Any]:
        return queries.filter_members(rows, SearchPieces(long, values))

    def row_href(self, row: Member) -> str:
        return f"{self._index}{_ids.to_url(row.member_id)}/"

    def row_class(self, row: Member) -> str:
        return "quiet" if status.state_of(row, self._now) in ("ended", "suspended") else ""

    @cached_property
    def _now(self) -> datetime:
        return timezone.now()

    @cached_property
    def _index(self) -> str:
        return url_in_tenant("members:index", self.request.tenant.slug)

    @property
    def empty(self) -> EmptyState | None:
        """Return the text for an empty list. It depends on whether the list was ever loaded, and on the person."""
        return freshness.empty_state(self.request, self._empty_text, MirrorKind.MEMBERS)

    @property
    def _empty_text(self) -> EmptyState:
        if not self.may(Permission.MEMBERS_EDIT):
            words = _t("Members appear here once they are created or imported.")
            return EmptyState(_t("No members yet"), words, "users")
        return EmptyState(
            _t("No members yet"),
            _t("Create the first one here, or import members from a spreadsheet under “Imports”."),
            "users",
            _t("New member"),
            lambda request: reverse("members:new", args=[request.tenant.slug]),
        )

    def export(self, kind: str, *, secrets: bool = False) -> HttpResponseBase:
        """Return all members that match, in the list's order, as CSV or XLSX. The export is recorded first.

        With `secrets`, the caller has checked that the person may see them.
        """
        count = self.matching_rows.order_by().count()
        if secrets:
            self.all_rows = self.all_rows.defer(None).defer("rights", "extra")
            self.columns = (*self.columns, *_SECRETS)

        def record() -> None:
            by, match = Requester.from_request(self.request), self.address.match_query
            actions.record_export(by=by, count=count, match=match, kind=kind, secrets=secrets)

        return file_response(self, kind, record=record)

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        """Return exports that need confirmation, as (label, address)."""
        if not (self.may(self.export_permission) and self.may(Permission.SECRETS_REVEAL)):
            return []
        address = url_in_tenant("members:export", self.request.tenant.slug)
        match = self.address.with_().partition("?")[2]
        return [(_t("Export with card numbers…"), f"{address}?{match}" if match else address)]


_GROUP = next(each for each in Members.filters if each.name == "group")
_WITHIN = Filter("within", _("Within"), day_choices, ending_within, is_single=True)
_COLUMNS = {column.name: column for column in Members.columns}


def _name_and_code(person: dict[str, str]) -> str:
    """Return a person's name and code. The code distinguishes people with the same name."""
    return f"{person['name']} {add_brackets(person['code'])}" if person["code"] else person["name"]


class CleanupMembers(Members):
    """The table of one list to review, with its columns."""

    name = "leavers"
    cached_query = None  # which members these are follows from the moment, too
    caption = _("Members to review")
    columns = (
        *(_COLUMNS[name] for name in ("name", "code", "group", "credentials", "validity", "end")),
        Column("when", pgettext_lazy("end of use", "When"), lambda row: relative_words(row.use_date_end)),
        Column("others", _("Same card as"), lambda row: join_values(map(_name_and_code, row.others))),
        _COLUMNS["member_id"],
    )

    def __init__(self, request: TenantRequest, which: CleanupList, *, query: QueryDict | None = None) -> None:
        if which in REVIEW_PERMISSIONS:
            request.access.check(REVIEW_PERMISSIONS[which])
        super().__init__(request, query=query)
        # So "all that match" means this list and never all members.
        self.actions = jobs.selection_actions(lambda _request: f"leavers={which}")
        self.which, self.known_total = which, None
        self.all_rows = members_to_review(which)
        self.default_sort = {CleanupList.ENDING: "use_end_key", CleanupList.ENDED: "-use_end_key"}.get(
            which, "name_key"
        )
        self.filters = {CleanupList.ENDING: (_GROUP, _WITHIN), CleanupList.TWICE: ()}.get(which, (_GROUP,))
        away = {"validity"} if which in (CleanupList.ENDING, CleanupList.ENDED) else {"when"}
        away |= set() if which == CleanupList.TWICE else {"others"}
        self.columns = tuple(column for column in type(self).columns if column.name not in away)

    @classmethod
    def selecting(cls, request: TenantRequest, which: str, query: QueryDict) -> "CleanupMembers":
        """Return the table of a list by its name, for actions on selected rows. Raises Http404 and AccessDenied."""
        if which not in CleanupList.values:
            raise Http404
        return cls(request, CleanupList(which), query=query)

    @property
    def _empty_text(self) -> EmptyState:
        return EmptyState(REVIEW_EMPTY_TEXTS[self.which], "", "circle-check")

    @property
    def file_note(self) -> str:
        """Return a note for the file, if the list of members or the log is not completely loaded."""
        of_log = (
            log_period_text(freshness_for(self.request)[MirrorKind.HISTORIES])
            if self.which == CleanupList.NEVER
            else ""
        )
        return join_sentences([freshness.describe_unread(self.request, MirrorKind.MEMBERS), of_log])

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        return []
