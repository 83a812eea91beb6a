"""The sandbox with many tenants: how soon it is ready, and its lists at the beginning, in the middle and at the end."""

import json
import time
from urllib.parse import quote

import psycopg

from bench.figures import Figure, ms, percentile
from bench.ground import Ground, Http, port_of, say
from tests.support.sandbox import Sandbox, SandboxTenant

#: Upper bounds: a page of 1,000 in milliseconds; seconds until tenants are ready; milliseconds until a small one is.
PAGE, READY, TENANT = 100.0, 20.0, 60.0
SMALL = 1_000
MEMBERS, GROUPS = "/v1/members?limit=1000&fields=card_data", "/v1/membergroups?limit=1000"
HISTORIES = "/v1/histories?limit=1000"

_HISTORIES = """
INSERT INTO service_history (tenant_id, history_id, at, status, category, content, member, device, held_by)
SELECT %(tenant)s, 'bench-' || n, now() - n * interval '2 minutes', 'occur', 'normal', '入室',
       '{"id": "m1", "name": "山田 太郎", "_type": "member", "data": "", "label": "", "attribute": ""}',
       '{"id": "p001", "name": "正面エントランス 入口", "module": "", "units": []}', ''
FROM generate_series(1, %(count)s) n
"""


def scale(ground: Ground) -> list[Figure]:
    """Measure 200 tenants of 1,000 members and one of 200,000, and its lists against those of a small one."""
    sizes = ground.sizes
    again = sizes.again("sandbox", sandbox_tenants=sizes.sandbox_tenants, sandbox_members=sizes.sandbox_members)
    with Sandbox() as sandbox:
        sandbox.settings(limited=False)
        found = [_creation(sandbox, sizes.requests, again)]
        say(f"{sizes.sandbox_tenants:,} tenants of {SMALL:,}, then one of {sizes.sandbox_members:,} in the sandbox")
        started = time.perf_counter()
        sandbox.seed(tenants=sizes.sandbox_tenants, members=SMALL)
        found.append(_ready(f"{sizes.sandbox_tenants:,} tenants of {SMALL:,}", started,
                            sizes.sandbox_tenants * SMALL, again))  # fmt: skip
        started = time.perf_counter()
        large = sandbox.tenant(members=sizes.sandbox_members, seed="large")
        found.append(_ready(f"a tenant of {sizes.sandbox_members:,}", started, sizes.sandbox_members, again))
        small = sandbox.tenant(members=SMALL, seed="small")
        for tenant, count in ((large, sizes.sandbox_members), (small, SMALL)):
            _happened(sandbox, tenant, count)
        say("pages of 1,000")
        both = large, small
        for name, path in (("members", MEMBERS), ("histories", HISTORIES)):
            for where, page in _places(_http(sandbox, large), path):
                found.append(_page(sandbox, both, f"{name}, {where} page", (page, path), sizes.requests, again))
        found.append(_page(sandbox, both, "groups with counts", (GROUPS, GROUPS), sizes.requests, again))
    return found


def _creation(sandbox: Sandbox, requests: int, again: str) -> Figure:
    """Measure the creation of a tenant of the size that tests create by the hundred."""
    http, bare, ours = Http(port_of(sandbox.url), ""), [], []
    for _ in range(requests):
        bare.append(http.get("/healthz")[0])
        started = time.perf_counter()
        sandbox.tenant(members=5, token=False)
        ours.append(time.perf_counter() - started)
    took, least = percentile(ours, 0.5), percentile(bare, 0.5)
    beside = f"bare call {ms(least)}: {took / least:.0f} times"
    return Figure("sandbox, a tenant of 5, p50 in ms", ms(took), beside, took * 1000, ("<=", TENANT), again)


def _ready(name: str, started: float, members: int, again: str) -> Figure:
    took = time.perf_counter() - started
    pace = f"{members / took:,.0f} members/s"
    return Figure(f"sandbox, {name} ready, in s", f"{took:.1f} s", pace, took, ("<=", READY), again)


def _page(
    sandbox: Sandbox,
    tenants: tuple[SandboxTenant, SandboxTenant],
    name: str,
    paths: tuple[str, str],
    requests: int,
    again: str,
) -> Figure:
    """Measure the large tenant's page in turns with the small one's, and with a call that does nothing."""
    large, small = (_http(sandbox, tenant) for tenant in tenants)
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    for number in range(requests + 3):
        took = large.get(paths[0])[0], small.get(paths[1])[0], small.get("/healthz")[0]
        for seconds, each in zip(times, took, strict=True):
            if number >= 3:
                seconds.append(each)
    ours, other, bare = (percentile(each, 0.5) for each in times)
    beside = f"of {SMALL:,} {ms(other)}: {ours / other:.2f} times; bare {ms(bare)}: {ours / bare:.0f} times"
    return Figure(f"sandbox, {name}, p50 in ms", ms(ours), beside, ours * 1000, ("<=", PAGE), again)


def _places(http: Http, path: str) -> list[tuple[str, str]]:
    """Return the addresses of the first, the middle and the last page, found by walking through all of them."""
    pages = [path]
    while cursor := json.loads(http.get(pages[-1])[1]).get("last_evaluated_key"):
        pages.append(f"{path}&last_evaluated_key={quote(cursor)}")
    return [("first", pages[0]), ("middle", pages[len(pages) // 2]), ("last", pages[-1])]


def _happened(sandbox: Sandbox, tenant: SandboxTenant, count: int) -> None:
    """Create as many histories as members, over the last months."""
    with psycopg.connect(sandbox.database_url, autocommit=True) as database:
        database.execute(_HISTORIES, {"tenant": tenant.tenant_id, "count": count})
        database.execute("VACUUM ANALYZE service_history")


def _http(sandbox: Sandbox, tenant: SandboxTenant) -> Http:
    http = Http(port_of(sandbox.url), "")
    http.headers = {"Authorization": f"Bearer {tenant.token}"}
    return http
