"""A full sync, compared with the least that could be done: the same pages by httpx2, json and COPY."""

import contextlib
import json
import math
import subprocess
import time
from collections.abc import Iterator

import httpx2
import psycopg

from bench.figures import Figure
from bench.ground import Ground, say
from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.models import Guest, Member
from portal.domain.sync import tasks
from portal.domain.sync.models import MirrorState
from stack.paths import PYTHON, ROOT
from tenants.models import Connection, ServiceEnvironment, Tenant, TenantModel
from tenants.scope import tenant_scope

_COLUMNS = {
    MirrorKind.MEMBERS: ("member_id", "member_name", "member_code", "membergroup_id", "membergroup_name", "card_data",
                   "qrcode", "use_date_start", "use_date_end"),
    MirrorKind.GUESTS: ("guest_id", "guest_name", "email", "use_date_start", "use_date_end", "key_return_date_end"),
    MirrorKind.HISTORIES: ("history_id", "datetime", "status", "category", "_content", "member", "device"),
}  # fmt: skip
# The reading is measured, without waiting for calls.
_PLENTY = "[limits]\ngeneral = 100000"


def full(ground: Ground) -> list[Figure]:
    """Measure members a second of the first sync and of one without changes, and the calls of a sync."""
    count = ground.sizes.sync_members
    say(f"a full sync of {count:,} members")
    with serving(count) as url:
        bare = _bare(ground, url, MirrorKind.MEMBERS)
        tenant = tenant_of(url)
        calls_before = _calls(url)
        first = _sync(tenant, count)
        calls = _calls(url) - calls_before
        second = _sync(tenant, count)
    again = ground.sizes.again("sync", sync_members=count)
    beside = f"bare loop {count / bare:,.0f}/s"
    need = math.ceil(count / 1000)
    return [
        Figure("full sync, members/s", f"{count / first:,.0f}/s", beside, bare / first, (">=", 0.6), again),
        Figure(
            "sync without changes, members/s", f"{count / second:,.0f}/s", beside, bare / second, (">=", 0.6), again
        ),
        Figure("full sync, calls", str(calls), f"{need} pages", calls / need, ("==", 1), again),
    ]


def desk(ground: Ground) -> list[Figure]:
    """Measure guests and records a second: the first reading, and one without changes."""
    guests, records = ground.sizes.guests, ground.sizes.histories
    say(f"{guests:,} guests and {records:,} histories")
    again = ground.sizes.again("desk", guests=guests, histories=records)
    figures = []
    with serving(0, guests, records) as url:
        for kind, model, count in ((MirrorKind.GUESTS, Guest, guests), (MirrorKind.HISTORIES, History, records)):
            tenant = tenant_of(url, kind)
            calls_before = _calls(url)
            first = _sync(tenant, count, model)
            calls = _calls(url) - calls_before
            second = _sync(tenant, count, model)
            need, bare = math.ceil(count / 1000), _bare(ground, url, kind)
            beside = f"bare loop of COPY {count / bare:,.0f}/s"
            figures += [
                Figure(f"{kind}, first reading", f"{count / first:,.0f}/s", beside, bare / first, command=again),
                Figure(f"{kind}, nothing new", f"{count / second:,.0f}/s", f"{second:.1f} s", command=again),
                Figure(f"{kind}, calls", str(calls), f"{need} pages", calls / need, ("==", 1), again),
            ]
    return figures


@contextlib.contextmanager
def serving(*counts: int) -> Iterator[str]:
    """Yield the URL of a canned service with so many members, guests and histories."""
    command = [PYTHON, "-m", "bench.canned", *map(str, counts)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            yield f"http://127.0.0.1:{int(service.stdout.readline())}"
        finally:
            service.kill()


def _calls(url: str) -> int:
    return int(httpx2.get(f"{url}/calls").text)


def tenant_of(url: str, kind: MirrorKind = MirrorKind.MEMBERS) -> Tenant:
    name = f"sync-{time.monotonic_ns()}"
    environment = ServiceEnvironment.objects.create(
        name=name, base_url=url, client_id="c", client_secret="s", overrides=_PLENTY
    )
    tenant = Tenant.objects.create(slug=name, name=name, environment=environment)
    with tenant_scope(tenant):
        Connection.objects.create(
            tenant=tenant, environment=environment, state=Connection.State.CONNECTED, access_token="t"
        )
        MirrorState.objects.create(kind=kind)
    return tenant


def _sync(tenant: Tenant, count: int, model: type[TenantModel] = Member) -> float:
    """Return the seconds until the loaded data is complete again. This process works as a worker would."""
    with tenant_scope(tenant):
        MirrorState.objects.update(due_at=database_now())
        requested_at = database_now()
        started = time.perf_counter()
        while not MirrorState.objects.filter(as_of__gte=requested_at, total=count).exists():
            tasks.read_due()
            state = MirrorState.objects.get()
            if state.error:
                raise RuntimeError(f"the sync ended with {state.error}")
            if state.as_of is None or state.as_of < requested_at:
                MirrorState.objects.update(due_at=database_now())
        took = time.perf_counter() - started
        assert model.objects.count() == count
    return took


def _bare(ground: Ground, url: str, kind: MirrorKind) -> float:
    """Return the seconds that the least possible takes: the same pages into a table of texts, without an index."""
    columns = _COLUMNS[kind]
    with psycopg.connect(ground.house.owner_url) as direct, httpx2.Client(base_url=url) as http:
        direct.execute(f"CREATE TABLE bench_bare ({', '.join(f'{name} text' for name in columns)})")
        started = time.perf_counter()
        key: str | None = None
        while True:
            query = {"limit": 1000, "fields": "card_data"} | ({"last_evaluated_key": key} if key else {})
            page = json.loads(http.get(f"/v1/{kind}", params=query).content)
            with direct.cursor().copy(f"COPY bench_bare ({', '.join(columns)}) FROM STDIN") as copy:
                for item in page[str(kind)]:
                    copy.write_row([_text(item.get(name)) for name in columns])
            key = page.get("last_evaluated_key")
            if key is None:
                break
        direct.commit()
        took = time.perf_counter() - started
        direct.execute("DROP TABLE bench_bare")
    return took


def _text(value: object) -> str | None:
    return json.dumps(value) if isinstance(value, dict) else value  # type: ignore[return-value]
