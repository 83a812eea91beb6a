"""The activity log at any length: its statements beside a plain indexed LIMIT 50, its pages beside the admin's."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.db import connection

from bench import records
from bench.beside import LARGE
from bench.figures import Figure, ms, percentile
from bench.ground import SMALL, Ground, say
from portal.core.mirror import log
from portal.core.mirror.log import Narrow
from portal.core.ui.tables import keyset
from tenants.models import Tenant
from tenants.scope import tenant_scope

PLAIN = "SELECT * FROM mirror_history WHERE tenant_id = %s ORDER BY at DESC, id DESC LIMIT 50"
_ORDER = keyset.Order("at", descending=True, key="id")
_DEEP = 1_000
_PATIENCE = 20.0  # seconds for one measure, of what takes long
OURS, ADMIN = "/t/{}/logs/", "/admin/mirror/history/"


@dataclass(frozen=True)
class Case:
    """What is looked for: in the mirror, by our page's address, and by the admin's."""

    name: str
    wanted: Narrow
    ours: str = ""
    admin: str = ""


_REFUSED, _DOOR = ("suspicious", "warning"), records.RARE_DOOR
CASES = (
    Case("first page", Narrow()),
    Case("a category", Narrow(categories=["operation"]), "?category=operation", "?category=operation"),
    Case("refused at one door", Narrow(categories=_REFUSED, somebody=True, device_ids=[_DOOR]),
         f"?only=refused&device={_DOOR}", f"?category__in={','.join(_REFUSED)}&device_id={_DOOR}"),
    Case("a rare person", Narrow(member_id=records.RARE_PERSON), f"?person={records.RARE_PERSON}",
         f"?member_id={records.RARE_PERSON}"),
    Case("an area of 20 doors", Narrow(device_ids=records.AREA_DOORS), f"?area={records.AREA}",
         f"?device_id__in={','.join(records.AREA_DOORS)}"),
    *(Case(f"two characters, {how}", Narrow(words=[word]), f"?q={quote(word)}", f"?q={quote(word)}")
      for how, word in (("frequent", records.FREQUENT_WORD), ("rare", records.RARE_WORD))),
)  # fmt: skip


def statements(ground: Ground) -> list[Figure]:
    """What finds and reads the fifty records of each list, beside the plain statement and beside a small log."""
    large, small = laid(ground)
    say("statements of the log")
    again = ground.sizes.again("log", records=ground.sizes.records, small_records=ground.sizes.small_records)
    plain = _timed(lambda: _plain(large), large, ground.sizes.requests)
    found = []
    for name, finding in _findings(large, small):
        ours, other = (_timed(lambda: finding(tenant), tenant, ground.sizes.requests) for tenant in (large, small))  # noqa: B023 - called at once
        for beside, than, reach in ((plain, "a plain LIMIT 50", 3), (other, f"{ground.sizes.small_records:,}", 1.3)):
            label = f"log, {name}, beside {than}"
            found.append(Figure(label, ms(ours), ms(beside), ours / beside, ("<=", reach), again))
    return found


def pages(ground: Ground) -> list[Figure]:
    """Whole pages of the log beside those of a small one, and beside the admin's list of the same table."""
    large, small = laid(ground)
    say("pages of the log")
    sizes = ground.sizes
    again = sizes.again("logpages", records=sizes.records, small_records=sizes.small_records)
    deep = [f"{OURS.format(tenant.slug)}?after={_place(tenant)}" for tenant in (large, small)]
    asked = [(case.name, *(OURS.format(slug) + case.ours for slug in (LARGE, SMALL)), ADMIN + case.admin)
             for case in CASES] + [(f"page {_DEEP:,}", *deep, f"{ADMIN}?p={_DEEP}")]  # fmt: skip
    found = []
    for name, *paths in asked:
        ours, few, admin = (percentile(each, 0.5) for each in _answered(ground, paths))
        label = f"log page, {name}, beside {sizes.small_records:,}"
        found.append(Figure(label, ms(ours), ms(few), ours / few, ("<=", 1.3), again))
        found.append(Figure(f"log page, {name}, beside the admin's", ms(ours), ms(admin), ours / admin, None, again))
    return found


def _answered(ground: Ground, paths: Sequence[str]) -> list[list[float]]:
    """Times of each page, taken in turns after one that does not count, for as long as patience lasts."""
    http, until = ground.http(), time.monotonic() + _PATIENCE
    for path in paths:
        http.get(path)
    times: list[list[float]] = [[] for _ in paths]
    while len(times[0]) < ground.sizes.requests and (len(times[0]) < 3 or time.monotonic() < until):
        for kept, path in zip(times, paths, strict=True):
            kept.append(http.get(path)[0])
    return times


def laid(ground: Ground) -> tuple[Tenant, Tenant]:
    """The large and the small tenant, with a log each among those of all others; laid once."""
    assert ground.large is not None and ground.small is not None  # noqa: PT018 - furnish_lists made them
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
    """What each list asks: for the keys of its records, then for the records."""
    places = {tenant.pk: _place(tenant) for tenant in tenants}

    def beyond(tenant: Tenant) -> object:
        return log.records(keyset.page(log.keys(), _ORDER, 50, after=places[tenant.pk]).rows)

    def found(case: Case) -> Callable[[Tenant], object]:
        return lambda _tenant: log.records(log.narrowed(log.keys(), case.wanted)[:50])

    return [*((case.name, found(case)) for case in CASES), (f"page {_DEEP:,}", beyond)]


def _place(tenant: Tenant) -> str:
    """Where the thousandth page begins, or the last half where there are fewer."""
    with tenant_scope(tenant):
        before = min(50 * (_DEEP - 1), log.keys().count() // 2)
        row = log.keys()[before - 1]
        return keyset.Cursor(row.at, row.id, before).dump(_ORDER)


def _plain(tenant: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute(PLAIN, [tenant.pk])
        cursor.fetchall()


def _timed(act: Callable[[], object], tenant: Tenant, times: int) -> float:
    """The median of the seconds that PostgreSQL takes for all statements of `act`, their way included."""
    spent: list[float] = []

    def watch(execute: Any, *given: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(*given)
        finally:
            spent[-1] += time.perf_counter() - started

    with tenant_scope(tenant), connection.execute_wrapper(watch):
        until = time.monotonic() + _PATIENCE
        while len(spent) < times + 3 and (len(spent) < 6 or time.monotonic() < until):
            spent.append(0.0)
            act()
    return percentile(spent[3:], 0.5)
