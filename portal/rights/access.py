"""The member whose rights are looked at, of the tenant in scope, and the line to the service."""

import hashlib
from collections.abc import Iterable

from django.http import Http404

from portal.core.mirror.models import Member
from tenants.models import Connection

_LONGEST = 120


def get_member(member_id: str) -> Member:
    """The member that the service still has, or 404 exactly as for another tenant's."""
    member = find_member(member_id)
    if member is None:
        raise Http404
    return member


def find_member(member_id: str) -> Member | None:
    if "\x00" in member_id or not member_id:
        return None
    return Member.objects.filter(member_id=member_id, gone_at__isnull=True).first()


def find_members(member_ids: Iterable[str]) -> list[Member]:
    """Those of them that the service still has, in one query."""
    sound = [member_id for member_id in member_ids if "\x00" not in member_id]
    rows = Member.objects.filter(member_id__in=sound, gone_at__isnull=True)
    return list(rows.defer("card_data", "qrcode", "extra"))


def target_of(member_id: str) -> str:
    """What intents and the audit trail call a member. An id of absurd length is named by its digest."""
    name = member_id if len(member_id) <= _LONGEST else hashlib.sha256(member_id.encode()).hexdigest()
    return f"member:{name}"


def connection() -> Connection | None:
    return Connection.objects.select_related("tenant__environment").first()
