"""Suspended members: their end of use was set by a suspension in the portal, and has not changed since.

The service stores an end of use but no reason for it. The portal stores the end that it set, with the person and the
reason. A member is suspended as long as the service returns exactly this end. If the end is changed, here or in the
member site, the member is no longer suspended. If it is changed back, the member is suspended again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.domain.jobs.models import Job, Row, Suspension
from portal.domain.people.models import Member
from portal.domain.people.queries import Validity, validity_condition

SUSPENDED = "suspended"
# The validity choices of lists: "suspended" follows "expired", which excludes suspended members.
VALIDITY_CHOICES: list[tuple[str, str | Promise]] = [
    (value, label)
    for choice in Validity.choices
    for value, label in ([choice, (SUSPENDED, _("Suspended"))] if choice[0] == Validity.EXPIRED else [choice])
]


def is_suspended() -> Exists:
    """Return the condition that a suspension set the member's end of use."""
    return Exists(Suspension.objects.filter(member_id=OuterRef("pk"), ends_at=OuterRef("use_date_end")))


def with_suspended_flag(members: QuerySet[Member]) -> QuerySet[Member]:
    """Return the members with a flag whether a suspension set their end of use (`suspended`)."""
    return members.annotate(suspended=is_suspended())


def without_suspended(members: QuerySet[Member]) -> QuerySet[Member]:
    """Return the members without the suspended ones."""
    return members.filter(~Q(is_suspended()))


def filter_by_validity(
    members: QuerySet[Member], values: Iterable[str], now: datetime | None = None
) -> QuerySet[Member]:
    """Return members in any of these states (`VALIDITY_CHOICES`), at `now`."""
    now = now or timezone.now()
    condition = Q()
    for value in values:
        condition |= _condition_for(value, now)
    return members.filter(condition)


def _condition_for(value: str, now: datetime) -> Q:
    if value == SUSPENDED:
        # The service admits people until the end of this second, but here it already counts as suspended.
        return Q(use_end_key__lte=int(now.timestamp())) & Q(is_suspended())
    state = validity_condition(Validity(value), now)
    return state & ~Q(is_suspended()) if value == Validity.EXPIRED else state


def suspension_of(member: Member) -> Suspension | None:
    """Return the suspension that set the member's end of use, also before that end."""
    if member.use_date_end is None:
        return None
    return Suspension.objects.select_related("by").filter(member=member, ends_at=member.use_date_end).first()


def former_ends(members: Iterable[Member]) -> dict[str, datetime | None]:
    """Return the end of use before the suspension, by member ID, for suspended members only."""
    ends = {member.pk: member for member in members if member.use_date_end is not None}
    rows = Suspension.objects.filter(member_id__in=ends).values_list("member_id", "ends_at", "former_end")
    return {ends[pk].member_id: former for pk, ours, former in rows if ends[pk].use_date_end == ours}


def save_suspensions(job: Job, rows: Sequence[Row]) -> None:
    """Store the ends of use that a suspension sets, in the transaction that records its request.

    If the service never applies one, no member has this end of use, and the stored row has no effect.
    """
    ends = {row.member_id: row.content for row in rows if row.content["body"].get("use_date_end")}
    known = Member.objects.filter(member_id__in=ends).values_list("pk", "member_id")
    suspensions = [_suspension(job, pk, ends[member_id]) for pk, member_id in known]
    Suspension.objects.bulk_create(
        suspensions,
        update_conflicts=True,
        unique_fields=["member", "ends_at"],
        update_fields=["former_end", "by", "at", "why"],
        batch_size=500,
    )


def _suspension(job: Job, member_pk: int, content: dict[str, Any]) -> Suspension:
    former = content["old"].get("use_date_end")
    return Suspension(
        tenant_id=job.tenant_id,
        member_id=member_pk,
        ends_at=datetime.fromisoformat(content["body"]["use_date_end"]),
        former_end=datetime.fromisoformat(former) if former else None,
        by_id=job.by_id,
        at=timezone.now(),
        why=str(job.options.get("why", ""))[:200],
    )
