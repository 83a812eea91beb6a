"""`visits.standing` in SQL: the same words for thousands of visits at once. A property test holds the two together."""

from datetime import datetime

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When

from portal.guests.models import Stage, Visit
from portal.guests.visits import Standing, day_start

# Written so that no part is ever unknown to SQL: what is turned round must be true or false.
_CUT = Q(must_end_at__isnull=False) & (Q(ended_confirmed_at__isnull=True) | Q(use_date_end__lte=F("must_end_at")))
_LIVE = Q(must_end_at__isnull=True) | Q(ended_confirmed_at__isnull=False, use_date_end__gt=F("must_end_at"))


def classified(visits: QuerySet[Visit], now: datetime) -> QuerySet[Visit]:
    """The visits, each with its `standing` at `now`."""
    over = Q(use_date_end__lt=now)
    again = Q(stage=Stage.ISSUED, use_date_end__gte=now, gone_at__isnull=True) & _LIVE
    words = Case(
        When(again, left_at__lt=day_start(now), then=Value(Standing.EXPECTED.value)),
        When(left_at__isnull=False, then=Value(Standing.LEFT.value)),
        When(over, arrived_at__isnull=False, then=Value(Standing.OVERDUE.value)),
        When(arrived_at__isnull=False, then=Value(Standing.HERE.value)),
        When(_CUT, then=Value(Standing.CUT.value)),
        When(~Q(stage=Stage.ISSUED), then=F("stage")),
        When(over | Q(gone_at__isnull=False), then=Value(Standing.NOT_COME.value)),
        default=Value(Standing.EXPECTED.value),
        output_field=CharField(),
    )
    return visits.annotate(standing=words)
