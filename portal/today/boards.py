"""The desk's day, put together for the screen: in groups with what can be done to each visit, and host by host."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Case, Count, F, Max, Min, Q, When, Window
from django.db.models.functions import Extract, RowNumber
from django.utils.functional import Promise

from portal.core.visits.days import Day
from portal.core.visits.rows import Row, row_of
from portal.core.visits.standing import HINTS, ICONS, LABELS, Standing
from portal.today import queries

if TYPE_CHECKING:
    from portal.core.visits.standing import Classified

NOW = (Standing.OVERDUE, Standing.EXPECTED, Standing.HERE, Standing.ASKED)
SHOWN = ("now", "all", *(str(standing) for standing in Standing))
FEW, PAGE = 40, 100
# Beside others, those who are overdue must not push the ones who are coming out of sight.
_FEWER = {Standing.OVERDUE: 8}
_LONGEST = 80
HOSTS, EACH = 100, 20
# Whoever visits nobody in particular comes last.
_UNNAMED = Case(When(host_key="", then=1), default=0)
_HERE = Q(standing__in=[Standing.HERE, Standing.OVERDUE])


@dataclass(frozen=True)
class State:
    """What a person chose to see, as the address keeps it."""

    day: Day
    show: str = "now"
    text: str = ""
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "State":
        """From an address or a form; whatever makes no sense counts as not given."""
        show = given.get("show", "")
        page = given.get("page", "")
        return cls(
            Day.named(given.get("day", "")),
            show if show in SHOWN else "now",
            given.get("q", "").replace("\x00", "")[:_LONGEST].strip(),
            min(int(page), 10_000) if page.isdecimal() and len(page) < 6 and int(page) else 1,
        )

    def query(self, **changed: Any) -> str:
        """The address's query of this state with these changes; the first page unless one is given."""
        day = changed.get("day", self.day)
        values = {
            "day": "" if day.is_today else day.date.isoformat(),
            "show": changed.get("show", self.show),
            "q": changed.get("text", self.text),
            "page": str(changed.get("page", 1)),
        }
        usual = {"show": "now", "page": "1"}
        said = urlencode({name: value for name, value in values.items() if value and value != usual.get(name)})
        return f"?{said}" if said else ""

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Those that are listed: a search looks at all, a day that is over or to come has no "now"."""
        if self.show == "all" or (self.show == "now" and (self.text or not self.day.is_today)):
            return tuple(LABELS)
        return NOW if self.show == "now" else (Standing(self.show),)


@dataclass(frozen=True)
class Group:
    """Visits of one standing; `total` is how many there are, also of those that are not listed."""

    standing: Standing
    total: int
    rows: list[Row]
    more: str = ""

    @property
    def label(self) -> Promise:
        return LABELS[self.standing]

    @property
    def hint(self) -> Promise | str:
        return HINTS.get(self.standing, "")

    @property
    def has_old(self) -> bool:
        """Whether somebody was overdue before today began: they come first."""
        first = self.rows[0].visit if self.rows and self.standing == Standing.OVERDUE else None
        return first is not None and first.use_date_end < Day.today().start


@dataclass(frozen=True)
class Choice:
    """A filter with its count, drawn large."""

    name: str
    label: Promise | str
    count: int
    query: str
    current: bool
    icon: str = ""


@dataclass(frozen=True)
class Board:
    state: State
    now: datetime
    choices: list[Choice]
    groups: list[Group]
    total: int
    elsewhere: list[Row] = field(default_factory=list)
    before: str = ""
    after: str = ""


def board(slug: str, state: State, now: datetime, *, may_act: bool) -> Board:
    """The board of a day, in two queries (a third for what a search finds on other days)."""
    visits = queries.matching(queries.of_day(state.day, now), state.text)
    found = queries.counts(visits)
    groups = _groups(slug, state, visits, found, now, may_act)
    shown = state.standings[0] if len(state.standings) == 1 else None
    pages = -(-found.get(shown, 0) // PAGE) if shown else 1
    return Board(
        state,
        now,
        _choices(state, found),
        groups,
        sum(found.values()),
        [row_of(slug, visit, state.day, may_act=False) for visit in queries.around(state.day, state.text, now)],
        (state.query(page=state.page - 1) or "?") if state.page > 1 else "",
        state.query(page=state.page + 1) if state.page < pages else "",
    )


def _choices(state: State, found: dict[Standing, int]) -> list[Choice]:
    rare = (Standing.ASKED, Standing.CUT, Standing.NOT_ISSUED, Standing.OVERDUE)
    shown = [one for one in LABELS if found.get(one) or one not in rare or state.show == one]
    return [
        Choice(
            str(one),
            LABELS[one],
            found.get(one, 0),
            state.query(show=str(one)),
            state.show == one,
            ICONS[one],
        )
        for one in shown
    ]


def _groups(
    slug: str, state: State, visits: "Classified", found: dict[Standing, int], now: datetime, may_act: bool
) -> list[Group]:
    wanted = [one for one in state.standings if found.get(one)]
    alone = len(state.standings) == 1
    first = (state.page - 1) * PAGE if alone else 0
    rows: dict[Standing, list[Row]] = {one: [] for one in wanted}
    for visit in _listed(visits, wanted, first, PAGE if alone else FEW) if wanted else []:
        row = row_of(slug, visit, state.day, may_act=may_act)
        if alone or len(rows[row.standing]) < _most(row.standing):
            rows[row.standing].append(row)
    coming = [row.visit for each in rows.values() for row in each if "arrived" in row.steps]
    awaited = queries.awaited_of(coming, now)
    return [
        Group(
            one,
            found[one],
            [_with_party(row, awaited) for row in rows[one]],
            "" if alone or found[one] <= _most(one) else state.query(show=str(one)),
        )
        for one in wanted
    ]


def _with_party(row: Row, awaited: Mapping[uuid.UUID | None, int]) -> Row:
    together = awaited.get(row.visit.party, 0) if "arrived" in row.steps else 0
    return replace(row, together=together) if together > 1 else row


def _most(standing: Standing) -> int:
    return _FEWER.get(standing, FEW)


def _listed(visits: "Classified", wanted: list[Standing], first: int, most: int) -> "Classified":
    """At most `most` of each standing after the `first`, in the order in which the desk needs them."""
    order = Case(
        When(standing=Standing.HERE, then=-Extract("arrived_at", "epoch")),
        When(standing=Standing.LEFT, then=-Extract("left_at", "epoch")),
        When(standing=Standing.OVERDUE, then=Extract("use_date_end", "epoch")),
        default=Extract("use_date_start", "epoch"),
    )
    place = Window(RowNumber(), partition_by=[F("standing")], order_by=[order.asc(), F("pk").asc()])
    listed = visits.filter(standing__in=wanted).annotate(place=place)
    return listed.filter(place__gt=first, place__lte=first + most).order_by("place")


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
    first = (page - 1) * HOSTS
    found = list(grouped.order_by(_UNNAMED.asc(), "-here", "first", "host_key")[first : first + HOSTS])
    made = {
        row["host_key"]: Host(row["host_key"], row["name"], row["total"], row["here"], row["expected"]) for row in found
    }
    place = Window(RowNumber(), partition_by=["host_key"], order_by=["use_date_start", "pk"])
    listed = visits.filter(host_key__in=list(made)).annotate(place=place).filter(place__lte=EACH)
    for visit in listed.order_by("host_key", "place"):
        made[visit.host_key].rows.append(row_of(slug, visit, day, may_act=False))
    return list(made.values()), found[0]["others"] if found else 0
