"""Load the desk's board: visits by status with their possible steps, and visits by host."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Case, Count, F, Max, Min, Q, When, Window
from django.db.models.functions import Extract, RowNumber
from django.utils.functional import Promise

from portal.domain.people.queries import contains_folded
from portal.domain.people.text_folding import search_words
from portal.domain.visits.days import Day
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import PRESENT
from portal.domain.visits.visit_status import (
    HINTS,
    ICONS,
    LABELS,
    MAY_CHECK_IN,
    VisitRow,
    VisitStatus,
    row_of,
    with_status,
)

if TYPE_CHECKING:
    from portal.domain.visits.visit_status import Classified

NOW_STATUSES = (VisitStatus.OVERDUE, VisitStatus.EXPECTED, VisitStatus.HERE, VisitStatus.REQUESTED)
SHOW_VALUES = ("now", "all", *(str(status) for status in VisitStatus))
MAX_IN_GROUP, PAGE_SIZE = 40, 100
# If other groups are shown, overdue guests must not hide expected ones.
_MAX_BY_STATUS = {VisitStatus.OVERDUE: 8}
_MAX_TEXT = 80
HOSTS_PER_PAGE, VISITS_PER_HOST = 100, 20
# How far a search looks before and after the day.
_AROUND = timedelta(days=8)
# Visits without a host come last.
_UNNAMED = Case(When(host_key="", then=1), default=0)
_HERE = Q(status__in=[VisitStatus.HERE, VisitStatus.OVERDUE])


def visits_of_day(day: Day, now: datetime) -> "Classified":
    """Return visits during the day. For today, also guests who are still here from before, or who left today."""
    on_day = Q(use_date_start__lt=day.end, use_date_end__gte=day.start)
    if day.is_today:
        on_day |= PRESENT | Q(left_at__gte=day.start)
    return with_status(Visit.objects.filter(on_day), now)


def count_by_status(visits: "Classified") -> dict[VisitStatus, int]:
    """Count visits by status, in one query."""
    rows = visits.order_by().values_list("status").annotate(Count("pk"))
    return {VisitStatus.__members__[word.upper()]: number for word, number in rows}


def filter_by_text(visits: "Classified", text: str) -> "Classified":
    """Return visits whose name, host or company has every word of `text`; or whose company has `text` as it is.

    Names and hosts are compared without case, accents, character width and kind of kana.
    """
    named = Q()
    for word in search_words(text):
        named &= contains_folded("name_key", word) | contains_folded("host_key", word) | Q(company__icontains=word)
    return visits.filter(named | Q(company__icontains=text.strip())) if named else visits


def visits_around(day: Day, text: str, now: datetime, limit: int = 8) -> list[Visit]:
    """Return visits on the days before and after that match a search, the latest start first."""
    near = Visit.objects.filter(use_date_end__gte=day.start - _AROUND, use_date_start__lt=day.end + _AROUND)
    elsewhere = near.exclude(use_date_start__lt=day.end, use_date_end__gte=day.start).filter(erased_at__isnull=True)
    found = filter_by_text(with_status(elsewhere, now), text)
    return list(found.order_by("-use_date_start", "pk")[:limit]) if search_words(text) else []


def awaited_by_party(visits: Iterable[Visit], now: datetime) -> dict[uuid.UUID | None, int]:
    """Return how many guests of each party have not arrived, by party, in one query."""
    parties = {visit.party for visit in visits if visit.party is not None}
    if not parties:
        return {}
    rows = with_status(Visit.objects.filter(party__in=parties, erased_at__isnull=True), now)
    return dict(rows.filter(status__in=MAY_CHECK_IN).order_by().values_list("party").annotate(Count("pk")))


@dataclass(frozen=True)
class BoardView:
    """The board's view that a person chose, as in the address."""

    day: Day
    show: str = "now"
    text: str = ""
    page: int = 1

    @classmethod
    def from_values(cls, values: Mapping[str, str]) -> "BoardView":
        """Return the view of an address or form. Invalid values are ignored."""
        show = values.get("show", "")
        page = values.get("page", "")
        return cls(
            Day.parse(values.get("day", "")),
            show if show in SHOW_VALUES else "now",
            values.get("q", "").replace("\x00", "")[:_MAX_TEXT].strip(),
            min(int(page), 10_000) if page.isdecimal() and len(page) < 6 and int(page) else 1,
        )

    def query(self, **changed: Any) -> str:
        """Return the address's query for this view with changes. The page is 1 unless it is given."""
        day = changed.get("day", self.day)
        values = {
            "day": "" if day.is_today else day.date.isoformat(),
            "show": changed.get("show", self.show),
            "q": changed.get("text", self.text),
            "page": str(changed.get("page", 1)),
        }
        usual = {"show": "now", "page": "1"}
        encoded = urlencode({name: value for name, value in values.items() if value and value != usual.get(name)})
        return f"?{encoded}" if encoded else ""

    @property
    def statuses(self) -> tuple[VisitStatus, ...]:
        """Return the listed statuses. A search lists all; days other than today have no "now"."""
        if self.show == "all" or (self.show == "now" and (self.text or not self.day.is_today)):
            return tuple(LABELS)
        return NOW_STATUSES if self.show == "now" else (VisitStatus(self.show),)


@dataclass(frozen=True)
class BoardGroup:
    """Visits with one status. `total` also counts visits that are not listed."""

    status: VisitStatus
    total: int
    rows: list[VisitRow]
    more_query: str = ""

    @property
    def label(self) -> Promise:
        return LABELS[self.status]

    @property
    def hint(self) -> Promise | str:
        return HINTS.get(self.status, "")

    @property
    def has_old(self) -> bool:
        """Check whether a guest has been overdue since before today; they come first."""
        first = self.rows[0].visit if self.rows and self.status == VisitStatus.OVERDUE else None
        return first is not None and first.use_date_end < Day.today().start


@dataclass(frozen=True)
class BoardFilter:
    """A filter with its count, shown large."""

    name: str
    label: Promise | str
    count: int
    query: str
    is_current: bool
    icon: str = ""


@dataclass(frozen=True)
class DayBoard:
    state: BoardView
    now: datetime
    choices: list[BoardFilter]
    groups: list[BoardGroup]
    total: int
    other_days: list[VisitRow] = field(default_factory=list)
    previous_query: str = ""
    next_query: str = ""


def load_board(slug: str, state: BoardView, now: datetime, *, may_act: bool) -> DayBoard:
    """Return the board of a day, with two queries (three if a search also looks at other days)."""
    visits = filter_by_text(visits_of_day(state.day, now), state.text)
    found = count_by_status(visits)
    groups = _groups(slug, state, visits, found, now, may_act)
    status = state.statuses[0] if len(state.statuses) == 1 else None
    pages = -(-found.get(status, 0) // PAGE_SIZE) if status else 1
    return DayBoard(
        state,
        now,
        _choices(state, found),
        groups,
        sum(found.values()),
        [row_of(slug, visit, state.day, may_act=False) for visit in visits_around(state.day, state.text, now)],
        (state.query(page=state.page - 1) or "?") if state.page > 1 else "",
        state.query(page=state.page + 1) if state.page < pages else "",
    )


def _choices(state: BoardView, found: dict[VisitStatus, int]) -> list[BoardFilter]:
    rare = (VisitStatus.REQUESTED, VisitStatus.CUT, VisitStatus.NOT_ISSUED, VisitStatus.OVERDUE)
    statuses = [one for one in LABELS if found.get(one) or one not in rare or state.show == one]
    return [
        BoardFilter(
            str(one),
            LABELS[one],
            found.get(one, 0),
            state.query(show=str(one)),
            state.show == one,
            ICONS[one],
        )
        for one in statuses
    ]


def _groups(
    slug: str, state: BoardView, visits: "Classified", found: dict[VisitStatus, int], now: datetime, may_act: bool
) -> list[BoardGroup]:
    statuses = [one for one in state.statuses if found.get(one)]
    has_one_status = len(state.statuses) == 1
    first = (state.page - 1) * PAGE_SIZE if has_one_status else 0
    rows: dict[VisitStatus, list[VisitRow]] = {one: [] for one in statuses}
    for visit in _listed(visits, statuses, first, PAGE_SIZE if has_one_status else MAX_IN_GROUP) if statuses else []:
        row = row_of(slug, visit, state.day, may_act=may_act)
        if has_one_status or len(rows[row.status]) < _max_in_group(row.status):
            rows[row.status].append(row)
    expected = [row.visit for each in rows.values() for row in each if "arrived" in row.steps]
    awaited = awaited_by_party(expected, now)
    return [
        BoardGroup(
            one,
            found[one],
            [_with_party(row, awaited) for row in rows[one]],
            "" if has_one_status or found[one] <= _max_in_group(one) else state.query(show=str(one)),
        )
        for one in statuses
    ]


def _with_party(row: VisitRow, awaited: Mapping[uuid.UUID | None, int]) -> VisitRow:
    together = awaited.get(row.visit.party, 0) if "arrived" in row.steps else 0
    return replace(row, party_waiting=together) if together > 1 else row


def _max_in_group(status: VisitStatus) -> int:
    return _MAX_BY_STATUS.get(status, MAX_IN_GROUP)


def _listed(visits: "Classified", statuses: list[VisitStatus], first: int, most: int) -> "Classified":
    """Return up to `most` visits of each status after the `first` ones, in the desk's order."""
    order = Case(
        When(status=VisitStatus.HERE, then=-Extract("arrived_at", "epoch")),
        When(status=VisitStatus.LEFT, then=-Extract("left_at", "epoch")),
        When(status=VisitStatus.OVERDUE, then=Extract("use_date_end", "epoch")),
        default=Extract("use_date_start", "epoch"),
    )
    place = Window(RowNumber(), partition_by=[F("status")], order_by=[order.asc(), F("pk").asc()])
    listed = visits.filter(status__in=statuses).annotate(place=place)
    return listed.filter(place__gt=first, place__lte=first + most).order_by("place")


@dataclass
class HostDay:
    """A host's day. `name` is empty for visits without a host."""

    key: str
    name: str
    total: int
    here_count: int
    expected_count: int
    rows: list[VisitRow] = field(default_factory=list)

    @property
    def unlisted_count(self) -> int:
        return self.total - len(self.rows)


def load_hosts(slug: str, day: Day, text: str, now: datetime, page: int = 1) -> tuple[list[HostDay], int]:
    """Return a page of hosts with some visits each, and the number of all hosts. Hosts with guests here come first."""
    visits = filter_by_text(visits_of_day(day, now), text).exclude(status=VisitStatus.NOT_ISSUED)
    grouped = visits.order_by().values("host_key").annotate(
        name=Max("host_name"),
        total=Count("pk"),
        here=Count("pk", filter=_HERE),
        expected=Count("pk", filter=Q(status=VisitStatus.EXPECTED)),
        first=Min("use_date_start"),
        others=Window(Count("*")),
    )  # fmt: skip
    first = (page - 1) * HOSTS_PER_PAGE
    found = list(grouped.order_by(_UNNAMED.asc(), "-here", "first", "host_key")[first : first + HOSTS_PER_PAGE])
    made = {
        row["host_key"]: HostDay(row["host_key"], row["name"], row["total"], row["here"], row["expected"])
        for row in found
    }
    place = Window(RowNumber(), partition_by=["host_key"], order_by=["use_date_start", "pk"])
    listed = visits.filter(host_key__in=list(made)).annotate(place=place).filter(place__lte=VISITS_PER_HOST)
    for visit in listed.order_by("host_key", "place"):
        made[visit.host_key].rows.append(row_of(slug, visit, day, may_act=False))
    return list(made.values()), found[0]["others"] if found else 0
