"""Today's visitors, host by host."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Case, Count, Max, Min, Q, When, Window
from django.db.models.functions import RowNumber

from portal.core.visits.days import Day
from portal.core.visits.rows import Row, row_of
from portal.core.visits.standing import Standing
from portal.today import queries

MOST, EACH = 100, 20
# Whoever visits nobody in particular comes last.
_UNNAMED = Case(When(host_key="", then=1), default=0)
_HERE = Q(standing__in=[Standing.HERE, Standing.OVERDUE])


@dataclass
class Host:
    """One host's day. `name` is empty for visits that name nobody."""

    key: str
    name: str
    total: int
    here: int
    expected: int
    rows: list[Row] = field(default_factory=list)

    @property
    def unlisted(self) -> int:
        return self.total - len(self.rows)


def hosts(slug: str, day: Day, text: str, now: datetime, page: int = 1) -> tuple[list[Host], int]:
    """A page of hosts, those first whose visitor comes next, each with some of the visitors; and how many there are."""
    visits = queries.matching(queries.of_day(day, now), text).exclude(standing=Standing.NOT_ISSUED)
    grouped = visits.order_by().values("host_key").annotate(
        name=Max("host_name"),
        total=Count("pk"),
        here=Count("pk", filter=_HERE),
        expected=Count("pk", filter=Q(standing=Standing.EXPECTED)),
        first=Min("use_date_start"),
        others=Window(Count("*")),
    )  # fmt: skip
    first = (page - 1) * MOST
    found = list(grouped.order_by(_UNNAMED.asc(), "-here", "first", "host_key")[first : first + MOST])
    made = {row["host_key"]: _host(row) for row in found}
    place = Window(RowNumber(), partition_by=["host_key"], order_by=["use_date_start", "pk"])
    listed = visits.filter(host_key__in=list(made)).annotate(place=place).filter(place__lte=EACH)
    for visit in listed.order_by("host_key", "place"):
        made[visit.host_key].rows.append(row_of(slug, visit, day, may_act=False))
    return list(made.values()), found[0]["others"] if found else 0


def _host(row: dict[str, object]) -> Host:
    return Host(*(row[name] for name in ("host_key", "name", "total", "here", "expected")))  # type: ignore[arg-type]
