"""The members as lists show them: filters whose names stay in the address, and what they mean."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q, QuerySet, TextChoices
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.mirror.kinds import Kind
from portal.mirror.models import NEVER, UNREADABLE, Area, Group, KeyBox, Member, MirrorState, PassController


class Credential(TextChoices):
    """What a member opens doors with."""

    CARD = "card", _("Card")
    QR = "qr", _("QR code")
    FACE = "face", _("Face")
    NONE = "none", _("None")


class Validity(TextChoices):
    """Where now lies in a member's use period."""

    VALID = "valid", _("Valid now")
    EXPIRED = "expired", _("Expired")
    FUTURE = "future", _("Not yet valid")
    NEVER_ENDING = "never", _("Never ending")
    UNREADABLE = "unreadable", _("End not readable")


# The columns that lists can be sorted by, each with an index of its own.
SORTS = ("name_key", "code_key", "group_key", "use_end_key")
_HOLDS = {
    Credential.CARD: Q(has_card=True),
    Credential.QR: Q(has_qr=True),
    Credential.FACE: Q(has_face=True),
    Credential.NONE: Q(has_card=False, has_qr=False, has_face=False),
}


def members() -> QuerySet[Member]:
    """The entered tenant's members that the service still has, without their secrets."""
    return Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode", "rights", "extra")


def gone_members() -> QuerySet[Member]:
    """Members that the service no longer knows and that no complete list has confirmed yet."""
    return Member.objects.filter(gone_at__isnull=False).defer("card_data", "qrcode", "rights", "extra")


def total() -> int:
    """How many members the entered tenant has, without counting them."""
    return MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("total", flat=True).first() or 0


def in_groups(queryset: QuerySet[Member], membergroup_ids: Iterable[str]) -> QuerySet[Member]:
    """Members of any of the groups."""
    return queryset.filter(membergroup_id__in=list(membergroup_ids))


def with_credentials(queryset: QuerySet[Member], values: Iterable[str]) -> QuerySet[Member]:
    """Members with any of the credentials."""
    wanted = Q()
    for value in values:
        wanted |= _HOLDS[Credential(value)]
    return queryset.filter(wanted)


def with_validity(queryset: QuerySet[Member], values: Iterable[str], now: datetime | None = None) -> QuerySet[Member]:
    """Members in any of the states of validity, at `now`."""
    now = now or timezone.now()
    second = int(now.timestamp())
    started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=now)
    meaning = {
        Validity.VALID: Q(use_end_key__gte=second) & started,
        Validity.EXPIRED: Q(use_end_key__lt=second),
        Validity.FUTURE: Q(use_date_start__gt=now),
        Validity.NEVER_ENDING: Q(use_end_key=NEVER),
        Validity.UNREADABLE: Q(use_end_key=UNREADABLE),
    }
    wanted = Q()
    for value in values:
        wanted |= meaning[Validity(value)]
    return queryset.filter(wanted)


def groups() -> QuerySet[Group]:
    """The entered tenant's groups by name."""
    return Group.objects.order_by("name_key", "pk")


def areas() -> QuerySet[Area]:
    return Area.objects.order_by("area_name", "pk")


def pass_controllers() -> QuerySet[PassController]:
    return PassController.objects.order_by("device_name", "pk")


def key_boxes() -> QuerySet[KeyBox]:
    return KeyBox.objects.order_by("key_device_name", "pk")
