"""Lists of members whose access should be reviewed, for example once a month."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery, TextChoices
from django.db.models.functions import JSONObject
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences
from portal.domain.jobs import suspensions
from portal.domain.log import gaps
from portal.domain.mirror import queries
from portal.domain.mirror.freshness import Freshness, KindFreshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import Member
from tenants.access import Access
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
    CleanupList.TWICE: _("Two or more members have the same card number, so the log cannot tell who entered."),
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
    times = {"since": f"{local(log.known_from):%Y-%m-%d %H:%M}", "at": f"{local(log.as_of):%Y-%m-%d %H:%M}"}
    loaded = _t("The activity log is loaded from %(since)s to %(at)s. Earlier entries are not counted.") % times
    return join_sentences([loaded, gaps.paused_text(log)])


def ending_within(queryset: QuerySet[Any], values: Iterable[str]) -> QuerySet[Any]:
    """Return the members whose use period ends within the chosen number of days."""
    return queryset.filter(use_end_key__lte=_end(max(int(value) for value in values)))


def day_choices(_request: HttpRequest) -> list[tuple[str, str]]:
    """Return the choices of the filter `ending_within`."""
    return [(str(number), _t("%(n)d days") % {"n": number}) for number in SOON_DAYS]


def review_tabs(here: str, lists: Sequence[CleanupList], counted: dict[str, int]) -> list[dict[str, object]]:
    """Return these lists as tabs, each with its number of members if it was counted."""
    return [
        {
            "value": which.value,
            "label": which.label,
            "current": which.value == here,
            "count": counted.get(which.value),
            "many": counted.get(which.value, 0) > MAX_COUNTED,
        }
        for which in lists
    ]
