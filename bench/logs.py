"""The activity log at any length: its statements against a plain indexed LIMIT 50, its pages against the admin's."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.db import connection

from bench import records
from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from portal.base.ui.tables import keyset
from portal.domain.history import search
from portal.domain.history.models import History
from portal.domain.history.search import RecordFilter
from portal.domain.visits.days import Day
from portal.history import days as log_days
from portal.history import person_timeline
from portal.history.days import LogDay
from tenants.models import Tenant
from tenants.scope import tenant_scope

PLAIN = "SELECT * FROM history_history WHERE tenant_id = %s ORDER BY at DESC, id DESC LIMIT 50"
_ORDER = keyset.SortOrder("at", is_descending=True, key="id")
_DEEP = 1_000
_PATIENCE = 20.0  # seconds for one slow measurement
_WARM = 8  # times that do not count: until then PostgreSQL plans anew
OURS, ADMIN = "/t/{}/logs/", "/admin/mirror/history/"


@dataclass(frozen=True)
class Case:
    """One search: by our query, by our page's address, and by the admin's."""

    name: str
    record_filter: RecordFilter
    ours: str = ""
    admin: str = ""


_REFUSED, _DOOR, _ANY_DOOR = ("suspicious", "warning"), records.RARE_DOOR, records.AREA_DOORS[0]
CASES = (
    Case("first page", RecordFilter()),
    Case("a category", RecordFilter(categories=["operation"]), "?category=operation", "?category=operation"),
    Case("a category of 1 %", RecordFilter(categories=["error"]), "?category=error", "?category=error"),
    Case("one door", RecordFilter(device_ids=[_ANY_DOOR]), f"?device={_ANY_DOOR}", f"?device_id={_ANY_DOOR}"),
    Case("one door and two characters", RecordFilter(device_ids=[_ANY_DOOR], words=[records.FREQUENT_WORD]),
         f"?device={_ANY_DOOR}&q={quote(records.FREQUENT_WORD)}",
         f"?device_id={_ANY_DOOR}&q={quote(records.FREQUENT_WORD)}"),
    Case("refused at one door", RecordFilter(categories=_REFUSED, has_person=True, device_ids=[_DOOR]),
         f"?only=refused&device={_DOOR}", f"?category__in={','.join(_REFUSED)}&device_id={_DOOR}"),
    Case("a rare person", RecordFilter(member_id=records.RARE_PERSON), f"?person={records.RARE_PERSON}",
         f"?member_id={records.RARE_PERSON}"),
    Case("an area of 20 doors", RecordFilter(device_ids=records.AREA_DOORS), f"?area={records.AREA}",
         f"?device_id__in={','.join(records.AREA_DOORS)}"),
    *(Case(f"two characters, {how}", RecordFilter(words=[word]), f"?q={quote(word)}", f"?q={quote(word)}")
      for how, word in (("frequent", records.FREQUENT_WORD), ("rare", records.RARE_WORD))),
)  # fmt: skip

#: Pages of a day: their names, their addresses below the log, and the same for the admin.
DAYS = (("a door's day", f"doors/{records.RARE_DOOR}", {"device_id": records.RARE_DOOR}),
        ("a person's day", f"people/{records.PERSON}", {"member_id": records.PERSON}))  # fmt: skip


def statements(ground: Ground) -> list[Figure]:
    """Measure the statements that find and read fifty records of each list, against a plain one and a small log."""
    large, small = laid(ground)
    say("statements of the log")
    sizes = ground.sizes
    again = sizes.again("log", records=sizes.records, small_records=sizes.small_records)
    found = []
    for name, finding in _findings(large, small):
        turns: list[Turn] = [(large, finding), (large, _plain), (small, finding)]
        ours, plain, other = timed(turns, sizes.requests)
        for beside, than, reach in ((plain, "a plain LIMIT 50", 3), (other, f"{sizes.small_records:,}", 1.3)):
            label = f"log, {name}, beside {than}"
            found.append(Figure(label, ms(ours), ms(beside), ours / beside, ("<=", reach), again))
    return found


def pages(ground: Ground) -> list[Figure]:
    """Measure whole pages of the log against those of a small one, and against the admin's list of the same table."""
    large, small = laid(ground)
    say("pages of the log")
    sizes = ground.sizes
    again = sizes.again("logpages", records=sizes.records, small_records=sizes.small_records)
    found = []
    for name, *paths in _addresses(large, small, last=sizes.records // 50):
        took, few, admin = (percentile(each, 0.5) for each in _answered(ground, paths))
        label, of_day = f"log page, {name}, beside {sizes.small_records:,}", name.endswith("day")
        flat, note = (None, "as many more records are drawn as the day has") if of_day else (("<=", 1.3), "")
        found.append(Figure(label, ms(took), ms(few), took / few, flat, again, note))
        found.append(Figure(f"log page, {name}, beside the admin's", ms(took), ms(admin), took / admin, None, again))
    return found


def _addresses(*tenants: Tenant, last: int) -> list[tuple[str, ...]]:
    """Return (name, our pages of each tenant, the admin's); `last` is the admin's last page."""
    of_cases = [(case.name, *(OURS.format(each.slug) + case.ours for each in tenants), ADMIN + case.admin)
                for case in CASES]  # fmt: skip
    deep = [f"{OURS.format(each.slug)}?after={_place(each)}" for each in tenants]
    days = [(name, *(f"{OURS.format(each.slug)}{where}/{_yesterday().text}/" for each in tenants), _of_day(**of))
            for name, where, of in DAYS]  # fmt: skip
    return [*of_cases, (f"page {_DEEP:,}", *deep, f"{ADMIN}?p={min(_DEEP, last)}"), *days]


def _of_day(**of: str) -> str:
    day = _yesterday()
    return f"{ADMIN}?{urlencode(of | {'at__gte': day.start.isoformat(), 'at__lt': day.end.isoformat()})}"


def _answered(ground: Ground, paths: Sequence[str]) -> list[list[float]]:
    """Return the times of each page, requested in turns until `_PATIENCE` is over. The first request does not count."""
    http, until = ground.http(), time.monotonic() + _PATIENCE
    for path in paths:
        http.get(path)
    times: list[list[float]] = [[] for _ in paths]
    while len(times[0]) < ground.sizes.requests and (len(times[0]) < 3 or time.monotonic() < until):
        for seconds, path in zip(times, paths, strict=True):
            seconds.append(http.get(path)[0])
    return times


def laid(ground: Ground) -> tuple[Tenant, Tenant]:
    """Create a log for the large and for the small tenant, among those of all others, once."""
    assert ground.large is not None and ground.small is not None  # noqa: PT018 - furnish_lists creates them
    if not ground.has_log:
        ground.has_log = True
        say(f"a log of {ground.sizes.records:,} records, one of {ground.sizes.small_records:,}, others")
        others = Tenant.objects.exclude(pk__in=[ground.large.pk, ground.small.pk]).values_list("pk", flat=True)
        counts = dict.fromkeys(others, max(50, ground.sizes.records // 200))
        counts |= {ground.large.pk: ground.sizes.records, ground.small.pk: ground.sizes.small_records}
        records.lay(ground, counts)
        for tenant in (ground.large, ground.small):
            records.know(tenant)
    return ground.large, ground.small


def _findings(*tenants: Tenant) -> list[tuple[str, Callable[[Tenant], object]]]:
    """Return the queries of each list: first for the keys of its records, then for the records."""
    places = {tenant.pk: _place(tenant) for tenant in tenants}

    def beyond(tenant: Tenant) -> object:
        return search.load_records(keyset.load_page(search.search_rows(), _ORDER, 50, after=places[tenant.pk]).rows)

    def found(case: Case) -> Callable[[Tenant], object]:
        return lambda _tenant: search.load_records(search.filter_records(search.search_rows(), case.record_filter)[:50])

    days = [("a door's day", _door_day), ("a person's day", _person_day)]
    return [*((case.name, found(case)) for case in CASES), (f"page {_DEEP:,}", beyond), *days]


def _yesterday() -> LogDay:
    request: Any = None  # no measured code uses the request
    return LogDay(Day.today().plus_days(-1), request)


def _door_day(tenant: Tenant) -> object:
    """Run the queries for yesterday on the page of a door."""
    words, day = tenant.environment.catalogue, _yesterday()
    rows = log_days.records_at_door(History.objects.all(), records.RARE_DOOR, day)
    return log_days.count_hours(rows, day, words, str), log_days.attention_records(rows, words)


def _person_day(_tenant: Tenant) -> object:
    return list(
        person_timeline.records_on_day(History.objects.all(), records.PERSON, _yesterday())[
            : person_timeline.MAX_RECORDS + 1
        ]
    )


def _place(tenant: Tenant) -> str:
    """Return where the thousandth page begins, or the middle of a shorter log."""
    with tenant_scope(tenant):
        before = min(50 * (_DEEP - 1), search.search_rows().count() // 2)
        row = search.search_rows()[before - 1]
        return keyset.Cursor(row.at, row.id, before).dump(_ORDER)


def _plain(tenant: Tenant) -> object:
    with connection.cursor() as cursor:
        cursor.execute(PLAIN, [tenant.pk])
        return cursor.fetchall()


Turn = tuple[Tenant, Callable[[Tenant], object]]


def timed(turns: Sequence[Turn], times: int) -> list[float]:
    """Return the median of the seconds that PostgreSQL takes for all statements of each turn, network included.

    They run in turns, so that other load on the machine affects all of them alike.
    """
    spent: list[list[float]] = [[] for _ in turns]

    def watch(execute: Any, *given: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(*given)
        finally:
            took[-1] += time.perf_counter() - started

    until = time.monotonic() + _PATIENCE
    while len(spent[0]) < times + _WARM and (len(spent[0]) < _WARM + 3 or time.monotonic() < until):
        for took, (tenant, act) in zip(spent, turns, strict=True):
            with tenant_scope(tenant), connection.cursor() as cursor:
                cursor.execute("SELECT 1")  # sets the tenant in PostgreSQL before the time counts
                took.append(0.0)
                with connection.execute_wrapper(watch):
                    act(tenant)
    return [percentile(took[_WARM:], 0.5) for took in spent]
