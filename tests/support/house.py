"""The running site for promise tests: real web, worker and beat processes, PostgreSQL, Valkey and the sandbox.

It is started once per test session on separate databases, so that a test may kill, stop and starve any process. The
test process uses the same database (`House.database`). No table is ever emptied: every test creates tenants, with a
proxy between them and the sandbox (`House.stage`).
"""

import contextlib
import email
import email.policy
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx2
import psycopg
import redis
from celery import Celery
from django.db import connections

from stack import valkey
from stack.paths import PYTHON, ROOT
from stack.processes import free_port, spawn, stop
from stack.programs import Program, Programs, tail
from tests.support import databases
from tests.support.sandbox import Sandbox
from tests.support.stage import Stage
from tests.support.waiting import PATIENCE, until

T = TypeVar("T")


def together(work: Callable[[int], T], times: int) -> list[T]:
    """Run `work(0)` … `work(times - 1)` in as many threads, all at one moment. Each has a database session before."""
    barrier = threading.Barrier(times)

    def one(number: int) -> T:
        connections["default"].ensure_connection()
        barrier.wait(PATIENCE)
        try:
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(one, range(times)))


class Process:
    """One program of the site with all of its children."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def is_alive(self) -> bool:
        return self.child is not None and self.child.poll() is None

    def start(self) -> None:
        if not self.is_alive:
            self.child = self.program.start()

    def wait(self, seconds: float = 60) -> int:
        """Wait until the process exits without a signal; return its exit code."""
        assert self.child is not None
        return self.child.wait(seconds)

    def kill(self) -> None:
        """Send SIGKILL to the program and its children, as a power cut would."""
        self._signal(signal.SIGKILL)
        if self.child is not None:
            self.child.wait()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def stop(self) -> None:
        """Stop at once, without an orderly end."""
        if self.child is not None:
            self.kill()
            stop(self.child)
            self.child = None

    def _signal(self, number: int) -> None:
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, number)

    def said(self) -> str:
        return tail(self.program.log, 40)

    def processor_seconds(self) -> float:
        """Return the processor time that the program and its children have used so far, in seconds."""
        assert self.child is not None
        ticks = 0
        for entry in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # a process that has just ended
                fields = entry.read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12]) if int(fields[2]) == self.child.pid else 0
        return ticks / os.sysconf("SC_CLK_TCK")


class House:
    """The running site. `start()` it, or use it as a context manager. `settings` are its programs' variables."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.settings = folder, settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._cleanup = contextlib.ExitStack()
        self.sandbox = Sandbox(threads=32)
        self.env: dict[str, str] = {}

    def __enter__(self) -> "House":
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "House":
        """Start all programs, and wait until the web answers and the workers listen."""
        self.database_url = self._cleanup.enter_context(databases.migrated_copy("portal"))
        self.owner_url = databases.address_of_owner("portal", urlsplit(self.database_url).path.lstrip("/"))
        self.env = dict(os.environ) | {
            "DATABASE_URL": self.database_url,
            "PORTAL_URL": self.url,
            "EMAIL_URL": f"folder:{self.folder / 'mails'}",
            # `make check` runs these checks. Here, each new worker process would run them again.
            "CELERY_SKIP_CHECKS": "1",
            **self.settings,
        }
        for name in ("PYTEST_CURRENT_TEST", "DATABASE_OWNER_URL", "DATABASE_BACKUP_URL"):
            self.env.pop(name, None)
        self._start_broker()
        self.env["REDIS_URL"] = self.redis_url
        self.sandbox.start()
        self._cleanup.callback(self.sandbox.stop)
        self._begin()
        return self

    def move_to(self, database_url: str) -> None:
        """Kill every program, as a power cut would, and start again on another database, with the same broker.

        From now on a test that uses the site's database uses this one.
        """
        for process in self.processes:
            process.stop()
        facts, former = connections["default"].settings_dict, urlsplit(self.database_url).path.lstrip("/")
        if facts["NAME"] == former:
            connections["default"].close()
            facts["NAME"] = urlsplit(database_url).path.lstrip("/")
        self.database_url = self.env["DATABASE_URL"] = database_url
        self._begin()

    def _begin(self) -> None:
        programs = self.programs()
        self.web = self._process(programs.web(self.port))
        self.urgent = self._process(programs.worker("urgent", "doors,interactive", 2))
        self.steady = self._process(programs.worker("steady", "bulk,sync", 2))
        self.beat = self._process(programs.beat())
        for process in self.processes:
            process.start()
        until(self._answers, 2 * PATIENCE, saying="the web answers")
        self.until_heard()

    def stop(self) -> None:
        self._cleanup.close()

    def programs(self, **changed: str) -> Programs:
        """Return the programs of the site, with these variables changed."""
        return Programs(self.env | changed, self.folder)

    @contextlib.contextmanager
    def python(self, code: str, **changed: str) -> Iterator[Process]:
        """Run this code in a separate process of the site during the block."""
        log = self.folder / f"python-{secrets.token_hex(3)}.log"
        env = self.env | {"DJANGO_SETTINGS_MODULE": "portal.site.settings"} | changed
        code = f"import django\ndjango.setup()\n{code}"
        start = partial(spawn, [PYTHON, "-c", code], env=env, cwd=ROOT, log=log)
        process = Process(Program("python", start, 0, log))
        process.start()
        try:
            yield process
        finally:
            process.stop()

    @property
    def processes(self) -> list[Process]:
        return [self.web, self.urgent, self.steady, self.beat]

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        """Pause beat during the block, after all work that it started is done.

        Then no sweep finds what a test records.
        """
        with self.beat.paused():
            self.until_idle()
            yield

    def until_idle(self) -> None:
        """Wait until the urgent worker has done everything that it was notified of."""
        until(lambda: not self.redis().llen("doors") and not self._busy("urgent"), saying="no bell is heard any more")

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Stop all automatic work during the block: no timer, no sync; only what the test requests."""
        with self.still(), self.steady.paused():
            yield

    def mend(self) -> None:
        """Restart all processes that a test killed, stopped or starved."""
        if self.broker.poll() is not None:
            self.restart_broker()
        with contextlib.suppress(ProcessLookupError):
            self.broker.send_signal(signal.SIGCONT)
        dead = [process for process in self.processes if not process.is_alive]
        for process in self.processes:
            process.resume()
            process.start()
        if self.web in dead:
            until(self._answers, 2 * PATIENCE, saying="the web answers")
        if dead:
            self.until_heard()

    def until_heard(self) -> None:
        """Wait until each queue has a worker that listens."""

        def heard() -> bool:
            with Celery("ask", broker=self.redis_url, set_as_current=False) as app:
                queues = app.control.inspect(timeout=0.5, limit=2).active_queues() or {}
            names = {queue["name"] for listening in queues.values() for queue in listening}
            return {"doors", "interactive", "bulk", "sync"} <= names

        until(heard, 2 * PATIENCE, saying="workers listen")

    def _busy(self, worker: str) -> bool:
        """Check whether this worker reports a running task; a paused worker reports nothing."""
        with Celery("ask", broker=self.redis_url, set_as_current=False) as app:
            told = app.control.inspect(timeout=10, limit=1, pattern=f"{worker}@*", matcher="glob").active() or {}
        return any(told.values())

    # The broker

    def _start_broker(self) -> None:
        log = self.folder / "valkey.log"
        self._broker_port, self._broker_password = free_port(), valkey.new_password()
        self.broker, self.redis_url = valkey.start(
            self.folder / "valkey", log=log, durable=False, port=self._broker_port, password=self._broker_password
        )
        self._cleanup.callback(lambda: stop(self.broker))

    def kill_broker(self) -> None:
        """Kill the broker. It keeps no file, so that everything queued is lost."""
        self.broker.kill()
        self.broker.wait()

    def restart_broker(self) -> None:
        self.broker, _ = valkey.start(
            self.folder / "valkey",
            log=self.folder / "valkey.log",
            durable=False,
            port=self._broker_port,
            password=self._broker_password,
        )

    @contextlib.contextmanager
    def paused_broker(self) -> Iterator[None]:
        self.broker.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.broker.send_signal(signal.SIGCONT)

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.redis_url)

    def deliver(self, task: str, *given: Any, queue: str, times: int = 1) -> None:
        """Send so many messages for one task, as a broker that delivers repeatedly would."""
        with (
            Celery("deliver", broker=self.redis_url, set_as_current=False) as app,
            app.connection_for_write() as broker,
        ):
            for _ in range(times):
                app.send_task(task, args=given, queue=queue, connection=broker, serializer="json")

    # The database

    @contextlib.contextmanager
    def database(self) -> Iterator[None]:
        """Make the test process use the site's database during the block, in every thread."""
        facts = connections["default"].settings_dict
        before = facts["NAME"]
        connections["default"].close()
        facts["NAME"] = urlsplit(self.database_url).path.lstrip("/")
        try:
            yield
        finally:
            connections["default"].close()
            facts["NAME"] = before

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run raw SQL without the site's own layers; for row security it sets `portal.across`."""
        with psycopg.connect(self.database_url, autocommit=True) as direct:
            direct.execute("SET portal.across = 'on'")
            cursor = direct.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def locked(self, table: str, pk: int) -> Iterator[None]:
        """Lock one row during the block. A process that wants to change it waits, and can be killed while it waits."""
        with psycopg.connect(self.database_url) as direct:
            direct.execute("SET portal.across = 'on'")
            direct.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR UPDATE", (pk,))
            yield
            direct.rollback()

    def waiting_for_locks(self) -> int:
        """Return how many statements of the site wait for a row lock."""
        return int(self.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                            " AND wait_event_type = 'Lock'")[0][0])  # fmt: skip

    @contextlib.contextmanager
    def database_down(self) -> Iterator[None]:
        """End every database connection of the site and refuse new ones during the block, the test's included."""
        address = urlsplit(self.owner_url)
        name = address.path.lstrip("/")
        elsewhere = urlunsplit(address._replace(path="/postgres"))
        connections.close_all()
        with psycopg.connect(elsewhere, autocommit=True) as direct:
            direct.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            direct.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            try:
                yield
            finally:
                direct.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')

    # Tenants, people and pages

    @contextlib.contextmanager
    def stage(self, **wanted: Any) -> Iterator[Stage]:
        """Yield an environment of the service for one test, behind its own proxy. See `Stage`."""
        with Stage(self, **wanted) as made:
            yield made

    def _answers(self) -> bool:
        assert self.web.is_alive, self.web.said()
        try:
            return httpx2.get(f"{self.url}/healthz", timeout=5).status_code == 200
        except httpx2.TransportError:
            return False

    def _process(self, program: Program) -> Process:
        process = Process(program)
        self._cleanup.callback(process.stop)
        return process

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def mails(self) -> list[EmailMessage]:
        """Return each mail that was sent. One file may contain several, each followed by a line of hyphens."""
        texts = [path.read_text() for path in (self.folder / "mails").glob("*")]
        mails = [each.strip() for text in texts for each in text.split("-" * 79 + "\n")]
        return [email.message_from_string(each, EmailMessage, policy=email.policy.default) for each in mails if each]
