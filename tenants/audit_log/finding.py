"""Find the newest actions that match a filter, in an audit log of any size, even if matches are rare.

Most filters select kinds of entries (`AuditKind`), of which there are few. The index holds the newest entry of each
kind, so these are read first. Filters on single targets search the newest entries first, then the index by target.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from tenants.models import AuditEntry, AuditKind
from tenants.scope import current_tenant_id

# An action's position in lists: its time and the ID of its first entry.
ActPosition = tuple[datetime, int]

_RECENT_ENTRIES = 2_000  # entries that are searched first for targets
_BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ActSpan:
    """The time range of a search, and the position before which actions must be; `until` is exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    before: ActPosition | None = None

    def filter(self, rows: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Return the entries whose actions are within the span."""
        if self.since:
            rows = rows.filter(act_at__gte=self.since)
        if self.until:
            rows = rows.filter(act_at__lt=self.until)
        if self.before:
            at, pk = self.before
            rows = rows.filter(Q(act_at__lt=at) | Q(act_id__lt=pk), act_at__lte=at)
        return rows


def find_by_kinds(kinds: QuerySet[AuditKind], span: ActSpan, limit: int) -> list[ActPosition]:
    """Return the newest actions with an entry of one of the kinds; at most `limit`.

    The newest entry of each kind is read first. Only kinds whose newest entry is among the newest of all are read
    further.
    """
    found = list(kinds.values_list("pk", "result"))
    if not found:
        return []
    of_kind = _BY_KIND_SQL.format(
        ends=_IS_LAST_SQL if any(result == _PROVISIONAL_RESULT for _pk, result in found) else ""
    )
    before_at, before_id = span.before or (None, None)
    given: dict[str, Any] = {"tenant": current_tenant_id(), "kinds": [pk for pk, _result in found], "most": limit,
             "since": span.since, "until": span.until, "before_at": before_at, "before_id": before_id}  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_SQL.format(of_kind=of_kind), given)
        places: list[ActPosition] = cursor.fetchall()
    return places


def find_by_targets(
    targets: Q, kinds: QuerySet[AuditKind], span: ActSpan, limit: int, *, recent_first: bool
) -> list[ActPosition]:
    """Return the newest actions with an entry of one of the kinds on one of the targets; at most `limit`.

    With `recent_first` the newest entries are searched first, as many entries may have these targets.
    """
    # "+ 0" prevents the use of an index on the kind: most entries have one of these kinds.
    rows: QuerySet[Any] = AuditEntry.objects.annotate(of=F("kind_id") + 0).filter(
        targets, of__in=list(kinds.values_list("pk", flat=True))
    )
    later: QuerySet[Any] = AuditEntry.objects.filter(
        intent_id=OuterRef("intent_id"), act_id=OuterRef("act_id"), pk__gt=OuterRef("pk")
    )
    later = later.exclude(Q(kind__result="") | Q(intent_id="")).values("pk")[:1]
    rows = span.filter(rows).alias(later=Subquery(later)).filter(Q(act_id=F("pk")) | Q(later=None))
    if recent_first:
        behind = (
            span.filter(AuditEntry.objects.all())
            .order_by("-act_at", "-act_id")
            .values("act_at")[_RECENT_ENTRIES : _RECENT_ENTRIES + 1]
        )
        of_near = rows.filter(act_at__gte=Coalesce(Subquery(behind), Value(_BEFORE_ALL)))
        found = list(of_near.order_by("-act_at", "-act_id").values_list("act_at", "act_id")[:limit])
        if len(found) == limit:
            return found
    at = ExpressionWrapper(F("act_at") + Value(timedelta(0)), output_field=DateTimeField())
    return list(rows.order_by(at.desc(), "-act_id").values_list("act_at", "act_id")[:limit])


_PROVISIONAL_RESULT = "uncertain"  # the only result that another may follow
# If a request has several outcomes, the last one counts. The subselect is compared with NULL: with EXISTS, PostgreSQL
# would join all rows.
_IS_LAST_SQL = """
AND (e.act_id = e.id OR (
    SELECT later.id FROM tenants_auditentry later JOIN tenants_auditkind kind ON kind.id = later.kind_id
    WHERE later.tenant_id = e.tenant_id AND later.intent_id = e.intent_id AND later.intent_id <> ''
        AND later.act_id = e.act_id AND later.id > e.id AND kind.result <> '' LIMIT 1) IS NULL)
"""
_BY_KIND_SQL = """
SELECT e.act_at, e.act_id FROM tenants_auditentry e
WHERE e.tenant_id = %(tenant)s AND e.kind_id = of.kind
    AND (%(since)s::timestamptz IS NULL OR e.act_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR e.act_at < %(until)s)
    AND (%(before_at)s::timestamptz IS NULL OR (e.act_at, e.act_id) < (%(before_at)s, %(before_id)s)) {ends}
ORDER BY e.act_at DESC, e.act_id DESC
"""
_NEWEST_SQL = """
WITH heads AS (
    SELECT of.kind FROM unnest(%(kinds)s::int8[]) AS of (kind) CROSS JOIN LATERAL ({of_kind} LIMIT 1) head
    ORDER BY head.act_at DESC, head.act_id DESC LIMIT %(most)s
)
SELECT act.act_at, act.act_id FROM heads AS of CROSS JOIN LATERAL ({of_kind} LIMIT %(most)s) act
ORDER BY act.act_at DESC, act.act_id DESC LIMIT %(most)s
"""
