"""The member list against the admin's: with many members and with few, first page and thousandth, and under load."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from bench.beside import LARGE
from bench.figures import Figure, ms, percentile
from bench.ground import SMALL, Ground, say
from portal.base.ui.tables import keyset
from portal.domain.people import queries
from tenants.scope import tenant_scope

OURS, ADMIN = f"/t/{LARGE}/members/", "/admin/mirror/member/"
CLIENTS = 8
SECONDS = 6.0


def lists(ground: Ground) -> list[Figure]:
    """Measure the list with 50 rows and the default sort."""
    say("the member list beside the admin's")
    times = interleaved(ground, OURS, ADMIN)
    again = ground.sizes.again("list", members=ground.sizes.members)
    return [beside(f"member list, {name}", times, share, 0.33, again) for name, share in (("p50", 0.5), ("p95", 0.95))]


def searches(ground: Ground) -> list[Figure]:
    """Measure searches for two Japanese characters, and for the beginning of a code."""
    say("searches beside the admin's")
    found = []
    for name, text in (("two characters 山田", "山田"), ("code's prefix E0123", "E0123")):
        times = interleaved(ground, f"{OURS}?q={quote(text)}", f"{ADMIN}?q={quote(text)}", share=0.5)
        again = ground.sizes.again("search", members=ground.sizes.members)
        found += [beside(f"search, {name}, p50", times, 0.5, 0.1, again)]
        found += [beside(f"search, {name}, p95", times, 0.95, 0.1, again)]
    return found


def growth(ground: Ground) -> list[Figure]:
    """Measure every list page with many members against the same with few."""
    say("the same pages with few members")
    found, sizes = [], ground.sizes
    again = sizes.again("growth", members=sizes.members, small=sizes.small)
    for page in ("members/", "members/?sort=-use_end_key", "members/?group=g07", "members/?credential=qr", "groups/"):
        times = interleaved(ground, f"/t/{LARGE}/{page}", f"/t/{SMALL}/{page}", share=0.5)
        found.append(beside(f"{page} {sizes.members:,} beside {sizes.small:,}", times, 0.5, 1.3, again))
    return found


def deep(ground: Ground) -> list[Figure]:
    """Measure the thousandth page against the first."""
    say("the thousandth page")
    number = min(1000, ground.sizes.members // 100)
    with tenant_scope(ground.large):
        order = keyset.SortOrder("name_key")
        before = 50 * (number - 1)
        row = queries.members().order_by("name_key", "pk")[before - 1]
        cursor = keyset.Cursor(row.name_key, row.pk, before).dump(order)
    times = interleaved(ground, f"{OURS}?after={cursor}", OURS)
    again = ground.sizes.again("deep", members=ground.sizes.members)
    return [beside(f"page {number:,} beside page 1", times, 0.5, 1.3, again)]


def load(ground: Ground) -> list[Figure]:
    """Measure requests a second of eight clients: the list against a bare view."""
    say("eight clients")
    ours, bare = _rate(ground, OURS), _rate(ground, "/bare/")
    again = ground.sizes.again("load", members=ground.sizes.members)
    return [
        Figure(
            f"member list, requests/s, {CLIENTS} clients",
            f"{ours:.0f}/s",
            f"bare view {bare:.0f}/s",
            ours / bare,
            (">=", 0.25),
            again,
        )
    ]


def processor(ground: Ground) -> list[Figure]:
    """Measure the web processes' processor time for one list page against a bare view, and the page's bytes."""
    say("the processor's time of a page")
    ours, bare = (min(_spent(ground, path) for _ in range(3)) for path in (OURS, "/bare/"))
    size = len(ground.http().get(OURS)[1])
    again = ground.sizes.again("processor", members=ground.sizes.members)
    return [
        Figure("member list, processor time", ms(ours), f"bare view {ms(bare)}", ours / bare, ("<=", 4), again),
        Figure("member list, bytes", f"{size:,}", "", float(size), ("<=", 66_500), again),
    ]


def _spent(ground: Ground, path: str) -> float:
    """Return the seconds of processor time that all web processes take for a request, averaged."""
    http, count = ground.http(), max(10, ground.sizes.requests)
    for _ in range(5):
        http.get(path)
    before = ground.house.web.processor_seconds()
    for _ in range(count):
        http.get(path)
    return (ground.house.web.processor_seconds() - before) / count


def _rate(ground: Ground, path: str) -> float:
    """Return the requests a second of all clients, which begin together after two requests that do not count."""
    barrier = threading.Barrier(CLIENTS)

    def client(_: int) -> float:
        http, count = ground.http(), 0
        http.get(path)
        http.get(path)
        barrier.wait()
        started = time.perf_counter()
        while (now := time.perf_counter()) < started + SECONDS:
            http.get(path)
            count += 1
        return count / (now - started)

    with ThreadPoolExecutor(CLIENTS) as threads:
        return sum(threads.map(client, range(CLIENTS)))


def interleaved(ground: Ground, ours: str, other: str, share: float = 1.0) -> tuple[list[float], list[float]]:
    """Return the times of both, measured in turns after a few that do not count."""
    http = ground.http()
    for path in (ours, other):
        for _ in range(5):
            http.get(path)
    mine: list[float] = []
    others: list[float] = []
    for _ in range(max(10, int(ground.sizes.requests * share))):
        mine.append(http.get(ours)[0])
        others.append(http.get(other)[0])
    return mine, others


def beside(name: str, times: tuple[list[float], list[float]], share: float, reach: float, again: str) -> Figure:
    ours, other = (percentile(each, share) for each in times)
    return Figure(name, ms(ours), ms(other), ours / other, ("<=", reach), again)
