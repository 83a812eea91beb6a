"""Checks against a second active code by accident: visits of the same name with overlapping hours.

The checks run under a lock, so that two forms cannot both pass.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Case, Q, When
from django.utils import timezone

from portal.domain.intents.nonces import NotSubmitted
from portal.domain.visits.models import Stage, Visit
from tenants.scope import current_tenant_id


@dataclass(frozen=True)
class NamedHours:
    """A guest's name (folded) and the hours of the code to be issued."""

    name_key: str
    start: datetime
    end: datetime


class CodeClash(NotSubmitted):
    """The error raised for codes of the same name with overlapping hours.

    `pending`: visits whose creation is under way or uncertain. Nothing can be issued until the result is known.

    `active`: visits whose code works in these hours. Staff can confirm that the new guest is another person.

    `duplicate_names`: names that the form contains twice. Staff can confirm that these are two people.
    """

    def __init__(self, pending: Sequence[Visit], living: Sequence[Visit], doubled: Sequence[str]) -> None:
        self.pending, self.active, self.duplicate_names = list(pending), list(living), list(doubled)
        super().__init__("codes of the same name for overlapping hours")

    def add_to(self, form: Any) -> None:
        form.clash = self

    @property
    def confirmation_values(self) -> list[str]:
        """Return the values of exactly the clashes to be confirmed. Later clashes are not covered by them."""
        return [*(str(visit.pk) for visit in self.active), *(f"x{name}" for name in self.duplicate_names)]


def lock_names(names: Iterable[str]) -> None:
    """Lock these (folded) names of the tenant until the transaction ends, so that no one else issues codes for them."""
    tenant_id = current_tenant_id()
    with connection.cursor() as cursor:
        for name in sorted(set(names)):
            digest = hashlib.sha256(f"guests:{tenant_id}:{name}".encode()).digest()
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], "big", signed=True)])


def check_clashes(wanted: Sequence[NamedHours], confirmed: Collection[str] = ()) -> None:
    """Raise CodeClash unless `confirmed` contains every clash (see `CodeClash.confirmation_values`).

    Call `lock_names` first.
    """
    found = list(overlapping_visits(wanted))
    pending = [visit for visit in found if visit.stage == Stage.ASKED]
    living = [visit for visit in found if visit.stage == Stage.ISSUED]
    clash = CodeClash(pending, living, _doubled_names(wanted))
    if pending or not set(clash.confirmation_values) <= set(confirmed):
        raise clash


def overlapping_visits(wanted: Sequence[NamedHours]) -> Iterable[Visit]:
    """Return visits of these names whose code works, or may work, in these hours and has not ended."""
    if not wanted:
        return []
    meets = Q()
    for hours in wanted:
        meets |= Q(name_key=hours.name_key, use_date_start__lt=hours.end, use_date_end__gt=hours.start)
    rows = Visit.objects.filter(meets, use_date_end__gt=timezone.now(), gone_at__isnull=True)
    rows = rows.exclude(stage=Stage.NOT_ISSUED).annotate(is_known=Case(When(stage=Stage.ASKED, then=0), default=1))
    # Pending visits come first: they block issuing, so the limit must not cut them off.
    return rows.order_by("is_known", "use_date_end", "pk")[:50]


def _doubled_names(wanted: Sequence[NamedHours]) -> list[str]:
    """Return names that occur twice in `wanted` with overlapping hours."""
    twice = set()
    for place, one in enumerate(wanted):
        for other in wanted[place + 1 :]:
            if one.name_key == other.name_key and one.start < other.end and other.start < one.end:
                twice.add(one.name_key)
    return sorted(twice)
