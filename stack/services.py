"""The database and the broker for one run, and the environment with their addresses.

The tests' migrated databases are stored as a cluster that each run copies. Migrating takes seconds, copying a tenth of
a second. The cluster's name is a digest of its sources.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from stack import assets, postgres, valkey
from stack.paths import PYTHON, ROOT, RUN, private_folder
from stack.processes import Account, check_port_is_free, spawn, stop

#: Sites with migrations: the command, the variables with the database addresses of the program and of its owner, and
#: the folders.
MIGRATED_SITES = {
    "portal": ("manage.py", ("DATABASE_URL", "DATABASE_OWNER_URL"), ("tenants", "portal")),
    "sandbox": ("sandbox/manage.py", ("SANDBOX_DATABASE_URL", "SANDBOX_DATABASE_URL"), ("sandbox",)),
}
# Sources of the migrated database apart from migrations.
_GRANTS, _ROLES = ROOT / "tenants/postgresql/grants.py", ROOT / "stack" / "postgres.py"
_MIGRATE = [PYTHON, "-m", "tests.support.databases"]
# Compiles all tests, which otherwise each process of a run would do.
_COMPILE = [PYTHON, "-m", "pytest", "--collect-only", "-q", "-q"]


def database_name(site: str) -> str:
    """Return the name of the migrated database of "portal" or "sandbox"."""
    return f"{site}_migrated_{_fingerprint(site)}"


def prepare_cluster(home: Path, template: Path, account: Account | None, env: dict[str, str]) -> Path:
    """Return the cluster of `home` with both databases; created from `template` if the migrations have changed."""
    migrated = home / f"migrated-{database_name('portal')}-{database_name('sandbox')}"
    if not migrated.is_dir():
        beside = postgres.copy(home, template, f"migrating.{os.getpid()}", account)
        try:
            _migrate(home, beside, account, env)
            former = list(home.glob("migrated-*"))
            beside.rename(migrated)
            for each in former:
                shutil.rmtree(each, ignore_errors=True)
        except OSError:  # another run was quicker: use its cluster
            if not migrated.is_dir():
                raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return migrated


def _migrate(home: Path, made: Path, account: Account | None, env: dict[str, str]) -> None:
    log = home / f"{made.name}.log"
    try:
        with postgres.running(home, made, account, log=log, without_durability=True) as addresses:
            # Settings need a broker address; nothing connects.
            given = env | addresses | {"REDIS_URL": "redis://127.0.0.1:1/0"}
            children = [spawn(each, env=given, cwd=ROOT, log=log) for each in (_MIGRATE, _COMPILE)]
            try:
                if children[0].wait():
                    raise SystemExit(f"the tests' databases could not be migrated:\n{log.read_text(errors='replace')}")
                children[1].wait()  # the run reports problems of the tests again
            finally:
                for child in children:
                    stop(child)
    finally:
        log.unlink(missing_ok=True)


@cache
def _fingerprint(site: str) -> str:
    """Return a digest of the migrated database's sources: our migrations, grants and roles, and others' versions."""
    *_, folders = MIGRATED_SITES[site]
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("migrations/*.py"))
    digest = hashlib.sha256()
    for path in (*files, _GRANTS, _ROLES, ROOT / "requirements" / "base.txt"):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


_TEMPLATE = "template-18-4"
#: The variable says that the PostgreSQL server is deleted at the end, so its databases need not be dropped.
SHORT_LIVED_VARIABLE = "DATABASE_SERVER_IS_SHORT_LIVED"


def site_environment(secret: str, vault_key: str, portal_url: str) -> dict[str, str]:
    """Return the site's environment without its services; variables that are already set have priority."""
    ours = {
        "SECRET_KEY": secret,
        "VAULT_KEYS": vault_key,
        "PORTAL_URL": portal_url,
        "ALLOWED_HOSTS": "127.0.0.1,localhost,testserver",
        "EMAIL_URL": "console://",
        "PORTAL_REQUIRE_MFA": "0",
        "PORTAL_INSECURE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return {name: os.environ.get(name, value) for name, value in ours.items()}


def new_vault_key(name: str = "k1") -> str:
    """Return a new 256-bit key in the vault's format: `id:base64`."""
    return f"{name}:{b64encode(secrets.token_bytes(32)).decode()}"


@contextlib.contextmanager
def temporary_services(*, for_tests: bool = False) -> Iterator[dict[str, str]]:
    """Yield services that are deleted afterwards, or those given by DATABASE_URL and REDIS_URL.

    With `for_tests`, our own PostgreSQL has the migrated databases with which tests begin.
    """
    ours = site_environment(secrets.token_urlsafe(48), new_vault_key(), "http://127.0.0.1:8000")
    with temporary_databases(ours if for_tests else None) as (env, folder):
        env |= ours
        env.setdefault("PORTAL_EVIDENCE_FILES", str(folder / "evidence"))
        if env.get("REDIS_URL"):
            yield env
            return
        with valkey.running(folder / "valkey", log=folder / "valkey.log", durable=False) as url:
            yield env | {"REDIS_URL": url}


@contextlib.contextmanager
def temporary_databases(tests: Mapping[str, str] | None = None) -> Iterator[tuple[dict[str, str], Path]]:
    """Yield an environment with a new PostgreSQL (or that of DATABASE_URL), and a folder that is deleted afterwards.

    With `tests`, the site's environment, the PostgreSQL has the tests' migrated databases.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=private_folder(RUN)))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if given := os.environ.get("DATABASE_URL"):
            yield dict(os.environ) | given_database_urls(given), folder
            return
        who = postgres.unprivileged_account()
        home = postgres.create_home(RUN, who)
        template = postgres.create(home, _TEMPLATE, who)
        if tests is not None:
            template = prepare_cluster(home, template, who, dict(os.environ) | dict(tests))
        cluster = postgres.copy(home, template, folder.name + ".cluster", who)
        stack.callback(shutil.rmtree, cluster, ignore_errors=True)
        log = folder / "postgres.log"
        addresses = stack.enter_context(postgres.running(home, cluster, who, log=log, without_durability=True))
        yield dict(os.environ) | addresses | {SHORT_LIVED_VARIABLE: "1"}, folder


def given_database_urls(url: str) -> dict[str, str]:
    """Return the addresses of the given database, and of one for the sandbox.

    The sandbox's is SANDBOX_DATABASE_URL. If it is missing, the owner of the given database (DATABASE_OWNER_URL)
    creates one.
    """
    if sandbox := os.environ.get("SANDBOX_DATABASE_URL"):
        return {"DATABASE_URL": url, "SANDBOX_DATABASE_URL": sandbox}
    owner = os.environ.get("DATABASE_OWNER_URL") or url
    parts = urlsplit(owner)
    name = f"{urlsplit(url).path.lstrip('/')}_sandbox"
    # The program that needs the database reports an unreachable server or a role that may not create databases.
    with (
        contextlib.suppress(psycopg.Error),
        contextlib.closing(psycopg.connect(owner, autocommit=True, connect_timeout=5)) as server,
    ):
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return {"DATABASE_URL": url, "SANDBOX_DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}"))}


def run(command: Sequence[str], *, for_tests: bool = False) -> int:
    """Run `command` in the foreground, from the checkout, on temporary services. Return its exit code.

    With `for_tests`, with the translations and the migrated databases with which tests begin.
    """
    if for_tests:
        assets.build()
    with temporary_services(for_tests=for_tests) as env:
        return run_in_foreground(command, env)


def run_in_foreground(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run `command` in the foreground, from the checkout, with `env` over our own. Return its exit code."""
    # An interrupt from the keyboard reaches the command too: it decides, and the caller continues after it. (Not
    # SIG_IGN: the command would inherit that.)
    interrupted = signal.signal(signal.SIGINT, lambda *_: None)
    child = spawn(command, env=dict(os.environ) | dict(env), cwd=ROOT, death_signal=signal.SIGTERM, foreground=True)
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            stop(child)
        signal.signal(signal.SIGINT, interrupted)


def run_in_parallel(commands: Sequence[Sequence[str]], env: Mapping[str, str], logs: Path) -> None:
    """Run `commands` in parallel to their end. Raises SystemExit with the output of one that fails."""
    children = []
    for number, command in enumerate(commands):
        log = logs / f"setup-{number}.log"
        children.append((command, log, spawn(command, env=env, cwd=ROOT, log=log)))
    for command, log, child in children:
        if code := child.wait():
            raise SystemExit(f"{' '.join(command[1:3])} ended with code {code}:\n{log.read_text(errors='replace')}")


def run_sandbox(*, port: int, tenants: int, members: int, seed: int) -> int:
    """Serve the sandbox until interrupted. It prepares its database and prints its address."""
    if port:
        check_port_is_free(port, "SANDBOX_PORT")
    with temporary_databases() as (env, _):
        command = [PYTHON, "sandbox/manage.py", "serve", "--port", str(port), "--tenants", str(tenants)]
        child = spawn([*command, "--members", str(members), "--seed", str(seed)], env=env, cwd=ROOT)
        try:
            return child.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            stop(child)
