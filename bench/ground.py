"""The running system that everything is measured on: one large tenant, one small one, and many others."""

import contextlib
import http.client
import json
import os
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.db import transaction
from kombu import pools

from bench import people
from bench.beside import LARGE
from portal.base.timers.celery_app import app
from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.people.models import Group
from portal.domain.people.text_folding import fold
from portal.domain.sync import swapping
from portal.domain.sync.models import MirrorState, StagedPage, SyncRun
from stack.paths import PYTHON, ROOT
from tenants.models import Connection, ServiceEnvironment, Staff, Tenant, User
from tenants.scope import tenant_scope
from tests.support.browser import Browser
from tests.support.house import House

PASSWORD = "correct horse battery staple"
SMALL = "bench-small"


@dataclass
class Sizes:
    """How much of everything is created. `again` returns the arguments that repeat a figure."""

    members: int = 100_000
    small: int = 2_000
    tenants: int = 50
    requests: int = 60
    rows: int = 100_000
    beside_rows: int = 1_000
    import_rows: int = 2_500
    sync_members: int = 50_000
    guests: int = 10_000
    histories: int = 100_000
    records: int = 200_000
    small_records: int = 50_000
    entries: int = 1_000_000
    small_entries: int = 50_000
    clicks: int = 40
    due: int = 1_000
    worker_sets: int = 1
    pages: int = 500
    seconds: int = 30
    sandbox_tenants: int = 200
    sandbox_members: int = 200_000

    def again(self, only: str, **named: int) -> str:
        words = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in named.items())
        return f'make bench ARGS="--only {only}{" " if words else ""}{words}"'


@dataclass
class Ground:
    """The running system with its tenants; `cookie` is the session of a manager of the large and the small one."""

    house: House
    sizes: Sizes
    environment: ServiceEnvironment
    large: Tenant | None = None
    small: Tenant | None = None
    user: User | None = None
    cookie: str = ""
    has_log: bool = False
    has_rights: bool = False
    _lists: bool = field(default=False)

    def furnish_lists(self) -> None:
        """Create the tenants that the lists are read from, once."""
        if self._lists:
            return
        self._lists = True
        say(f"{self.sizes.members:,} members of one tenant, {self.sizes.small:,} of another, {self.sizes.tenants} more")
        self.user = User.objects.create_user("bench@example.test", PASSWORD, name="Bench")
        self.large = self.tenant(LARGE, self.sizes.members)
        self.small = self.tenant(SMALL, self.sizes.small)
        for number in range(self.sizes.tenants):
            self.tenant(f"bench-{number}", 200 + number * 7 % 200)
        with psycopg.connect(self.house.owner_url, autocommit=True) as direct:
            direct.execute("VACUUM ANALYZE people_member")
            direct.execute("VACUUM ANALYZE people_membersearch")
        with Browser(self.house.url) as browser:
            browser.sign_in("bench@example.test", PASSWORD)
            self.cookie = "; ".join(f"{c.name}={c.value}" for c in browser.http.cookies.jar)

    def tenant(self, slug: str, members: int) -> Tenant:
        """Create a tenant with complete loaded data, and the user as its facility manager."""
        tenant = Tenant.objects.create(slug=slug, name=slug, environment=self.environment)
        with tenant_scope(tenant):
            Staff.objects.create(user=self.user, role="facility manager")
            Connection.objects.create(
                tenant=tenant, environment=self.environment, state=Connection.State.CONNECTED, access_token="none"
            )
            mirror(tenant, members)
        return tenant

    def http(self) -> "Http":
        return Http(self.house.port, self.cookie)


class Http:
    """One keep-alive connection with as little overhead as possible, so that the server is measured."""

    def __init__(self, port: int, cookie: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self.headers = {"Cookie": cookie, "Accept-Language": "en"}

    def get(self, path: str) -> tuple[float, bytes]:
        """Return the seconds from the request to the last byte, and the body. Raise an error for any status but 200."""
        started = time.perf_counter()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - started
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {answer.getheader('Location')}")
        return took, body


def mirror(tenant: Tenant, count: int) -> None:
    """Load the data of the entered tenant as a sync does: staged pages, one swap."""
    now = database_now()
    run = SyncRun.objects.create(kind=MirrorKind.MEMBERS, started_at=now, complete=True)
    for number, page in enumerate(people.pages(count, seed=tenant.pk % 100)):
        staged = swapping.stage_members(run, page)
        body = zlib.compress(json.dumps(staged.items).encode(), 1)
        StagedPage.objects.create(run=run, number=number, cursor=str(number), listed=staged.listed_ids, body=body)
    with transaction.atomic():
        done = swapping.swap_members(run)
        SyncRun.objects.filter(pk=run.pk).update(state=SyncRun.State.DONE, finished_at=database_now())
        StagedPage.objects.filter(run=run).delete()
    swapping.tidy_search_index(done)
    Group.objects.bulk_create(
        Group(**group, name_key=fold(group["membergroup_name"]), member_count=count // people.GROUPS)
        for group in people.groups()
    )
    totals = {MirrorKind.MEMBERS: count, MirrorKind.GROUPS: people.GROUPS}
    MirrorState.objects.bulk_create(
        MirrorState(kind=kind, as_of=now, total=totals.get(kind, 0)) for kind in MirrorKind if kind != MirrorKind.RIGHTS
    )


@contextlib.contextmanager
def ground(sizes: Sizes, folder: Path) -> Iterator[Ground]:
    """Start the system with settings that include the compared libraries, and connect to its database."""
    os.environ |= {"PORTAL_STATIC": "manifest", "STATIC_ROOT": str(folder / "static")}
    collect = [PYTHON, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, check=True, env=os.environ | {"DJANGO_SETTINGS_MODULE": "bench.settings"})
    with House(folder) as house, house.database():
        os.environ["CELERY_BROKER_URL"] = house.redis_url
        pools.reset()
        app._pool = app.amqp._producer_pool = None
        environment = ServiceEnvironment.objects.create(
            name="bench", base_url=house.sandbox.url, client_id="c", client_secret="s"
        )
        yield Ground(house, sizes, environment)


def child_environment(house: House) -> dict[str, str]:
    """Return the environment of a separate process that uses the system's database."""
    return house.env | {"DJANGO_SETTINGS_MODULE": "bench.settings"}


def port_of(url: str) -> int:
    return urlsplit(url).port or 80


def say(text: str) -> None:
    print(f"  {text} …", flush=True)
