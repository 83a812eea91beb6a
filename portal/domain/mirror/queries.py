"""Queries for lists and pages: members with their filters, groups and guests."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _

from portal.base.ui.url_lookup import RowLookup
from portal.domain.mirror.models import NEVER, UNREADABLE, Group, Guest, Member


class Credential(TextChoices):
    """The credentials of a member, as values of a filter. They appear in URLs."""

    CARD = "card", _("Card")
    QR = "qr", _("QR code")
    FACE = "face", _("Face")
    NONE = "none", _("None")


class Validity(TextChoices):
    """The state of a member's use period, as values of a filter. They appear in URLs."""

    VALID = "valid", _("Active")
    EXPIRED = "expired", _("Expired")
    FUTURE = "future", _("Not started")
    NEVER_ENDING = "never", _("No end date")
    UNREADABLE = "unreadable", _("End date unreadable")


_CREDENTIAL_CONDITIONS = {
    Credential.CARD: Q(has_card=True),
    Credential.QR: Q(has_qr=True),
    Credential.FACE: Q(has_face=True),
    Credential.NONE: Q(has_card=False, has_qr=False, has_face=False),
}

# Look-ups for the identifiers in URLs. For members, there is one that includes gone members.
_members = RowLookup(lambda: Member.objects.filter(gone_at__isnull=True), member_id="")
_members_and_gone = RowLookup(Member.objects.all, member_id="")
_groups = RowLookup(Group.objects.all, membergroup_id="")


class _IsOneOf(Func):
    """The condition that an ID is among the results of a query, checked with one index scan.

    With IN, PostgreSQL would choose a join by estimated counts, which takes two to four times as long. Use IN inside
    NOT and OR: there, this condition would compare each row with all IDs.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def members_with_ids(members: QuerySet[Member], ids: QuerySet[Any, Any]) -> QuerySet[Member]:
    """Return the members whose IDs a query returns. PostgreSQL looks these up before it applies other conditions."""
    return members.filter(_IsOneOf(F("pk"), ArraySubquery(ids)))


def members() -> QuerySet[Member]:
    """Return the entered tenant's members that the service still has, without their secrets."""
    return Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode", "rights", "extra")


def members_never_seen() -> QuerySet[Member]:
    """Return the members without any log record in the time that was read (`coverage`)."""
    return members().filter(last_seen_at__isnull=True)


def members_sharing_card() -> QuerySet[Member]:
    """Return the members whose card another member has, too."""
    same = Member.objects.filter(has_card=True, gone_at__isnull=True, card_fingerprint=OuterRef("card_fingerprint"))
    return members().filter(Exists(same.exclude(pk=OuterRef("pk"))), shares_card=True, has_card=True)


def filter_by_groups(queryset: QuerySet[Member], membergroup_ids: Iterable[str]) -> QuerySet[Member]:
    """Return the members of any of the groups."""
    return queryset.filter(membergroup_id__in=list(membergroup_ids))


def filter_by_credentials(queryset: QuerySet[Member], values: Iterable[str]) -> QuerySet[Member]:
    """Return the members with any of the credentials."""
    wanted = Q()
    for value in values:
        wanted |= _CREDENTIAL_CONDITIONS[Credential(value)]
    return queryset.filter(wanted)


def validity_condition(value: Validity, now: datetime) -> Q:
    """Return the condition on members for a state of their use period at `now`."""
    second = int(now.timestamp())
    started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=now)
    meaning = {
        Validity.VALID: Q(use_end_key__gte=second) & started,
        Validity.EXPIRED: Q(use_end_key__lt=second),
        Validity.FUTURE: Q(use_date_start__gt=now),
        Validity.NEVER_ENDING: Q(use_end_key=NEVER),
        Validity.UNREADABLE: Q(use_end_key=UNREADABLE),
    }
    return meaning[value]


def groups() -> QuerySet[Group]:
    """Return the entered tenant's groups, sorted by name."""
    return Group.objects.order_by("name_key", "pk")


def guests() -> QuerySet[Guest]:
    """Return the entered tenant's guests that the service still has, without their secrets."""
    return Guest.objects.filter(gone_at__isnull=True).defer("email", "qrcode_data", "detail", "extra")


def get_member(member_id: str, *, include_gone: bool = False) -> Member:
    """Return the member, or raise Http404. `include_gone`: also one that is marked as gone."""
    return (_members_and_gone if include_gone else _members).get_or_404(member_id=member_id)


def find_members(member_ids: Iterable[str]) -> list[Member]:
    """Return those of these members that the service still has, without their secrets, in one query."""
    sound = [member_id for member_id in member_ids if "\x00" not in member_id]
    rows = Member.objects.filter(member_id__in=sound, gone_at__isnull=True)
    return list(rows.defer("card_data", "qrcode", "extra"))


def get_group(membergroup_id: str) -> Group:
    return _groups.get_or_404(membergroup_id=membergroup_id)
