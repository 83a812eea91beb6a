"""Never two live codes by accident: who of the same name has a code for overlapping hours, looked at under a lock."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Case, Q, When
from django.utils import timezone

from portal.core.intents.nonces import NotSubmitted
from portal.core.visits.models import Stage, Visit
from tenants.scope import current_tenant_id


@dataclass(frozen=True)
class NamedHours:
    """A name (folded) and the hours for which somebody wants a code."""

    name_key: str
    start: datetime
    end: datetime


class CodeClash(NotSubmitted):
    """Codes of the same name for overlapping hours.

    `pending`: visits whose creation is under way or uncertain; until that is known, nothing may be issued.
    `active`: visits whose code works in these hours; a person may say that another one is meant.
    `duplicate_names`: names that the same form holds twice; a person may say that two people are meant.
    """

    def __init__(self, pending: Sequence[Visit], living: Sequence[Visit], doubled: Sequence[str]) -> None:
        self.pending, self.active, self.duplicate_names = list(pending), list(living), list(doubled)
        super().__init__("codes of the same name for overlapping hours")

    def add_to(self, form: Any) -> None:
        form.clash = self

    @property
    def confirmation_values(self) -> list[str]:
        """What a person confirms: exactly these, and none that came since."""
        return [*(str(visit.pk) for visit in self.active), *(f"x{name}" for name in self.duplicate_names)]


def lock_names(names: Iterable[str]) -> None:
    """Until this transaction ends, nobody else issues a code for these (folded) names of the tenant."""
    tenant_id = current_tenant_id()
    with connection.cursor() as cursor:
        for name in sorted(set(names)):
            digest = hashlib.sha256(f"guests:{tenant_id}:{name}".encode()).digest()
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], "big", signed=True)])


def check_clashes(wanted: Sequence[NamedHours], confirmed: Collection[str] = ()) -> None:
    """Raise Clash unless all that stands against `wanted` is in `confirmed` (`CodeClash.confirmation_values`). Call
    `lock_names` first."""
    found = list(overlapping_visits(wanted))
    pending = [visit for visit in found if visit.stage == Stage.ASKED]
    living = [visit for visit in found if visit.stage == Stage.ISSUED]
    clash = CodeClash(pending, living, _doubled_names(wanted))
    if pending or not set(clash.confirmation_values) <= set(confirmed):
        raise clash


def overlapping_visits(wanted: Sequence[NamedHours]) -> Iterable[Visit]:
    """Visits of these names whose code works, or may work, in these hours, and has not ended yet."""
    if not wanted:
        return []
    meets = Q()
    for hours in wanted:
        meets |= Q(name_key=hours.name_key, use_date_start__lt=hours.end, use_date_end__gt=hours.start)
    rows = Visit.objects.filter(meets, use_date_end__gt=timezone.now(), gone_at__isnull=True)
    rows = rows.exclude(stage=Stage.NOT_ISSUED).annotate(is_known=Case(When(stage=Stage.ASKED, then=0), default=1))
    # What nobody knows yet comes first: it forbids issuing, and must not be cut off by namesakes.
    return rows.order_by("is_known", "use_date_end", "pk")[:50]


def _doubled_names(wanted: Sequence[NamedHours]) -> list[str]:
    """Names that stand twice among `wanted` for overlapping hours."""
    twice = set()
    for place, one in enumerate(wanted):
        for other in wanted[place + 1 :]:
            if one.name_key == other.name_key and one.start < other.end and other.start < one.end:
                twice.add(one.name_key)
    return sorted(twice)
