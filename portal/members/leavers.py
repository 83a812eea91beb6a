"""People whose access should be looked at: lists that somebody goes through once a month."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import IntegerField, OuterRef, QuerySet, Subquery, TextChoices
from django.http import Http404, HttpRequest, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.jobs import lists, suspensions
from portal.core.mirror import absence, queries
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Member
from portal.core.ui.tables import Column, Empty, Filter
from portal.core.ui.times import ago
from portal.members.lists import Members
from tenants.models import Tenant

SOON = (7, 30, 90)
COUNTED = 10_000


class Which(TextChoices):
    ENDING = "ending", _("Ends soon")
    ENDED = "ended", _("Expired, not deleted")
    NEVER = "never", _("Never used")
    NONE = "none", _("No credential")
    TWICE = "twice", _("Shared cards")


PURPOSES = {
    Which.ENDING: _("Their access ends within 90 days. Extend it in time, or collect what they have."),
    Which.ENDED: _("Their access has ended, but their card, QR code and face are still registered."),
    Which.NEVER: _("No activity in the loaded log."),
    Which.NONE: _("No card, QR code or face, so they cannot open any door."),
    Which.TWICE: _("Two or more members have the same card number, so the log cannot tell who entered."),
}
# Which word of an empty list is good news.
NOBODY = {
    Which.ENDING: _("No access ends within 90 days"),
    Which.ENDED: _("No expired members"),
    Which.NEVER: _("Every member has been seen"),
    Which.NONE: _("Every member has a credential"),
    Which.TWICE: _("No shared cards"),
}


def of(which: Which) -> QuerySet[Member]:
    """The members of one list."""
    now = timezone.now()
    second = int(now.timestamp())
    rows = suspensions.noted(queries.members())
    match which:
        case Which.ENDING:
            return rows.filter(use_end_key__gte=second, use_end_key__lte=_end(SOON[-1]))
        case Which.ENDED:
            return suspensions.without(rows.filter(use_end_key__lt=second))
        case Which.NEVER:
            return queries.never_seen()
        case Which.NONE:
            return rows.filter(has_card=False, has_qr=False, has_face=False)
        case Which.TWICE:
            return queries.sharing_a_card()


def _end(days: int) -> int:
    return int((timezone.now() + timedelta(days=days)).timestamp())


def _with_others(rows: QuerySet[Member]) -> QuerySet[Member]:
    """Each with the names of others who have the same card, as `others`."""
    same = queries.members().filter(has_card=True, card_fingerprint=OuterRef("card_fingerprint"))
    names = same.exclude(pk=OuterRef("pk")).order_by("name_key").values("member_name")
    return rows.annotate(others=ArraySubquery(names[:5]))


class _Counted(Subquery):
    """How many rows a query gives, as a column."""

    template = "(SELECT count(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def counts(tenant: Tenant) -> dict[str, int]:
    """How many members each list has, up to 10,001, in one query."""
    columns = {which.value: _Counted(of(which).order_by().values("pk")[: COUNTED + 1]) for which in Which}
    return Tenant.objects.filter(pk=tenant.pk).values(**columns).get()


def within(queryset: QuerySet[Any], values: Iterable[str]) -> QuerySet[Any]:
    """Those whose period ends within so many days."""
    return queryset.filter(use_end_key__lte=_end(max(int(value) for value in values)))


def _days(request: HttpRequest) -> list[tuple[str, str]]:
    return [(str(days), _t("%(n)d days") % {"n": days}) for days in SOON]


_GROUP = next(each for each in Members.filters if each.name == "group")
_WITHIN = Filter("within", _("Within"), _days, within, single=True)
_COLUMNS = {column.name: column for column in Members.columns}


class Leavers(Members):
    """One of the lists, with what matters there."""

    name = "leavers"
    steady = None  # which members these are follows from the moment, too
    caption = _("Members to review")
    columns = (
        *(_COLUMNS[name] for name in ("name", "code", "group", "credentials", "validity", "end")),
        Column("when", pgettext_lazy("end of use", "When"), lambda row: ago(row.use_date_end)),
        Column("others", _("Same card as"), lambda row: ", ".join(row.others)),
        _COLUMNS["member_id"],
    )

    def __init__(self, request: HttpRequest, which: Which, *, query: QueryDict | None = None) -> None:
        super().__init__(request, query=query)
        # What is done with "all that match" must mean this list, and never all members.
        self.actions = lists.actions(lambda _request: f"leavers={which}")
        self.which, self.known_total = which, None
        self.base = _with_others(of(which)) if which == Which.TWICE else of(which)
        self.default_sort = {Which.ENDING: "use_end_key", Which.ENDED: "-use_end_key"}.get(which, "name_key")
        self.filters = {Which.ENDING: (_GROUP, _WITHIN), Which.TWICE: ()}.get(which, (_GROUP,))
        timed = which in (Which.ENDING, Which.ENDED)
        away = {"validity"} if timed else {"when"}
        away |= set() if which == Which.TWICE else {"others"}
        kept = [column for column in type(self).columns if column.name not in away]
        self.columns = tuple(kept)

    @classmethod
    def selecting(cls, request: HttpRequest, which: str, query: QueryDict) -> "Leavers":
        """The list by its name, for whoever acts on what was selected in it. Raises Http404."""
        if which not in Which.values:
            raise Http404
        return cls(request, Which(which), query=query)

    @property
    def empty(self) -> Empty | None:  # type: ignore[override]
        usual = Empty(NOBODY[self.which], "", "circle-check")
        return absence.empty(usual, Kind.MEMBERS, known(self.request)[Kind.MEMBERS])

    @property
    def file_pages(self) -> list[tuple[str, str]]:
        return []
