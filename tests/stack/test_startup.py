"""The portal does not start with a setting that would break a promise, and says why.

Each start is a separate process of a second, since a process reads settings once. PgBouncer is Debian's: without it
its tests are skipped with a message.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from stack import postgres, services, valkey
from stack.paths import ROOT, RUN
from stack.processes import free_port, spawn, stop, wait_until

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="  # 32 bytes
WEB = [sys.executable, "-c", "import portal.site.wsgi"]
WORKER = [sys.executable, "-m", "celery", "-A", "portal.site", "worker", "-n", "urgent@%h", "-Q", "doors", "-c", "1"]
CLOCK = [sys.executable, "-m", "celery", "-A", "portal.site", "beat"]
SETTINGS = {
    "SECRET_KEY": "a-long-secret-of-this-installation-0123456789",
    "VAULT_KEYS": f"k1:{KEY}",
    "PORTAL_URL": "https://portal.example.com",
    "ALLOWED_HOSTS": "portal.example.com",
    "EMAIL_URL": "smtp://mail.example.com:587",
    "PATH": os.defpath,
}
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    run = tmp_path_factory.mktemp("startup") / "run"
    yield postgres.create_home(run, postgres.unprivileged_account())
    postgres.delete_home(run)


@pytest.fixture(scope="module")
def right(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Return the variables of a correct installation, whose servers lose and evict nothing."""
    who, folder = postgres.unprivileged_account(), tmp_path_factory.mktemp("servers")
    cluster = postgres.copy(home, postgres.create(postgres.create_home(RUN, who), services._TEMPLATE, who), "own", who)
    roles = {"boss": "SUPERUSER", "passer": "BYPASSRLS", "careless": ""}
    made = [f"CREATE ROLE {role} LOGIN {power} PASSWORD 'open'" for role, power in roles.items()]
    made += ["ALTER ROLE careless SET synchronous_commit = off"]
    postgres._run_single_user(postgres.binaries(home, who), cluster, "postgres", made, who)
    with (cluster / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all {','.join(roles)} 127.0.0.1/32 scram-sha-256\n")
    with (
        postgres.running(home, cluster, who, log=folder / "postgres.log", without_durability=False) as addresses,
        valkey.running(folder / "valkey", log=folder / "valkey.log", durable=False) as broker,
    ):
        yield SETTINGS | {"DATABASE_URL": addresses["DATABASE_URL"], "REDIS_URL": broker}


def start(settings: Mapping[str, str], command: list[str] = WEB, **changed: str | None) -> Run:
    env = {name: value for name, value in {**settings, **changed}.items() if value is not None}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def refusal(run: Run) -> str:
    """Return the sentence or paragraph with which a process refused to start."""
    assert run.returncode != 0, "it started"
    assert "Traceback" not in run.stderr, run.stderr
    lines = run.stderr.splitlines()
    sentences = lines[lines.index("The portal does not start.") + 1 :]
    assert len(sentences) == 1, sentences
    return sentences[0]


def as_role(settings: Mapping[str, str], role: str) -> str:
    server = urlsplit(settings["DATABASE_URL"])
    return f"postgresql://{role}:open@127.0.0.1:{server.port}{server.path}"


def test_with_the_right_settings_it_starts(right: dict[str, str]) -> None:
    run = start(right)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"PORTAL_URL": "http://portal.example.com"}, "PORTAL_URL does not begin with https://"),
        ({"PORTAL_URL": "portal.example.com"}, "PORTAL_URL must be the whole address"),
        ({"ALLOWED_HOSTS": "another.example.com"}, "ALLOWED_HOSTS does not hold the host of PORTAL_URL"),
        ({"EMAIL_URL": "console:"}, "EMAIL_URL leads to no mail server"),
        ({"EMAIL_URL": "folder:/tmp/mails"}, "EMAIL_URL leads to no mail server"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is too short"),
        ({"PORTAL_DEBUG": "1"}, "PORTAL_DEBUG is on"),
        ({"VAULT_KEYS": "k1:c2hvcnQ="}, "VAULT_KEYS: the key of entry 1 must be 32 bytes"),
        ({"VAULT_KEYS": KEY}, "VAULT_KEYS: entry 1 needs an id of its own"),
    ],
)
def test_a_wrong_setting_is_named(right: dict[str, str], changed: dict[str, str], words: str) -> None:
    said = refusal(start(right, **changed))
    assert words in said
    assert KEY not in said


@pytest.mark.parametrize("name", ["SECRET_KEY", "VAULT_KEYS", "PORTAL_URL", "EMAIL_URL", "DATABASE_URL", "REDIS_URL"])
def test_a_missing_setting_is_named(right: dict[str, str], name: str) -> None:
    assert refusal(start(right, **{name: None})) == (f"{name} is not set. docs/configuration.md says what it is for.")


@pytest.mark.parametrize("role", ["boss", "passer"])
@pytest.mark.parametrize("command", [WEB, WORKER, CLOCK], ids=["web", "worker", "clock"])
def test_a_role_that_row_security_does_not_bind_is_refused(
    right: dict[str, str], role: str, command: list[str]
) -> None:
    said = refusal(start(right, command, DATABASE_URL=as_role(right, role)))
    assert said.startswith(f"DATABASE_URL: the role '{role}' is a superuser, or has BYPASSRLS")


def test_a_database_that_may_forget_what_was_sent_is_refused(right: dict[str, str]) -> None:
    said = refusal(start(right, DATABASE_URL=as_role(right, "careless")))
    assert said.startswith("DATABASE_URL: the server runs with synchronous_commit off")


def test_a_broker_that_evicts_is_refused(right: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "evicting.conf"
    port = free_port()
    config.write_text(f'bind 127.0.0.1\nport {port}\nsave ""\nmaxmemory 100mb\nmaxmemory-policy allkeys-lru\n')
    server = spawn([valkey.binary(), config], log=tmp_path / "log", cwd=tmp_path)
    try:
        address = f"redis://127.0.0.1:{port}/0"
        wait_until(lambda: valkey._is_answering(address), what="Valkey", child=server, seconds=30)
        assert refusal(start(right, REDIS_URL=address)).startswith("REDIS_URL leads to a server that removes")
    finally:
        stop(server)


@pytest.mark.skipif(not shutil.which("pgbouncer"), reason="PgBouncer is not installed")
class TestAPooler:
    """PgBouncer before the database: with transaction mode a tenant gets other tenants' rows, with session mode not."""

    @pytest.mark.parametrize("size", [1, 5])
    def test_in_transaction_mode_it_is_refused(self, right: dict[str, str], home: Path, size: int) -> None:
        with self.pooler(right, home, "transaction", size) as address:
            said = refusal(start(right, DATABASE_URL=address))
        assert said.startswith("DATABASE_URL leads to a connection pooler in transaction mode")

    def test_one_that_refuses_options_is_named_with_what_to_set(self, right: dict[str, str], home: Path) -> None:
        with self.pooler(right, home, "session", 5, ignores="extra_float_digits") as address:
            said = refusal(start(right, DATABASE_URL=address))
        assert "set ignore_startup_parameters = options" in said

    def test_in_session_mode_the_portal_starts(self, right: dict[str, str], home: Path) -> None:
        with self.pooler(right, home, "session", 5) as address:
            run = start(right, DATABASE_URL=address)
        assert run.returncode == 0, run.stderr

    @staticmethod
    @contextmanager
    def pooler(
        right: Mapping[str, str], home: Path, mode: str, size: int, *, ignores: str = "options"
    ) -> Iterator[str]:
        server, port, who = urlsplit(right["DATABASE_URL"]), free_port(), postgres.unprivileged_account()
        config, people = home / "pgbouncer.ini", home / "people.txt"
        people.write_text(f'"{server.username}" "{server.password}"\n')
        config.write_text(
            f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nauth_type = plain\nauth_file = {people}\npool_mode = {mode}\n"
            f"default_pool_size = {size}\nunix_socket_dir =\nignore_startup_parameters = {ignores}\n"
        )
        for path in (config, people) if who else ():
            os.chown(path, who.uid, who.gid)
        child = spawn(["pgbouncer", config], log=home / f"{mode}.log", cwd=Path("/"), account=who)
        address = right["DATABASE_URL"].replace(f":{server.port}/", f":{port}/")
        try:
            wait_until(lambda: postgres._is_answering(address), what="PgBouncer", child=child, seconds=30)
            yield address
        finally:
            stop(child)
