"""One command starts the service with an empty database, and explains in one sentence why it cannot start."""

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest

from stack.processes import free_port
from tests.support import databases
from tests.support.sandbox import ROOT

SERVE = [sys.executable, "sandbox/manage.py", "serve"]


@pytest.fixture
def database() -> Iterator[str]:
    with databases.empty("sandbox") as address:
        yield address


def environment(database: str) -> dict[str, str]:
    return {**os.environ, "SANDBOX_DATABASE_URL": database, "SANDBOX_OPERATIONS": "", "PYTHONUNBUFFERED": "1"}


@contextlib.contextmanager
def served(database: str, *arguments: str) -> Iterator[tuple[str, list[str]]]:
    """Start the service. Yield its address and its first lines."""
    command = [*SERVE, "--port", "0", *arguments]
    child = subprocess.Popen(command, cwd=ROOT, env=environment(database), stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        lines = [child.stdout.readline().strip() for _ in range(3)]
        yield lines[0].removeprefix("Sandbox listens on "), lines
    finally:
        child.terminate()
        child.wait(60)
        child.stdout.close()


def refused(database: str, *arguments: str) -> str:
    """Return the message of a service that does not start."""
    done = subprocess.run(
        [*SERVE, *arguments], cwd=ROOT, env=environment(database), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def tenants(address: str) -> list[dict[str, str]]:
    return list(httpx2.get(f"{address}/console/api/tenants").json()["tenants"])


def test_one_command_prepares_fills_and_serves_and_keeps_what_is_there(database: str) -> None:
    with served(database, "--tenants", "2", "--members", "5", "--seed", "9") as (address, lines):
        known = tenants(address)
        assert len(known) == 2
        assert lines[1] == f"Console: {address}/console/"
        found = re.fullmatch(r"Member site of (.+) \(one of 2\): login (\S+), password (\S+)", lines[2])
        assert found
        assert found.groups() == (known[0]["name"], known[0]["admin_login"], known[0]["admin_password"])
        given = httpx2.post(f"{address}/console/api/tokens", json={"tenant_id": known[0]["tenant_id"]}).json()
        bearer = {"Authorization": f"Bearer {given['access_token']}"}
        assert len(httpx2.get(f"{address}/v1/members", headers=bearer).json()["members"]) == 5
        group = httpx2.post(f"{address}/v1/membergroups", headers=bearer, json={"membergroup_name": "Kept"})
        assert group.status_code == 200
    with served(database, "--tenants", "3", "--members", "5", "--seed", "9") as (address, _):
        again = tenants(address)
        assert again[:2] == known
        assert len(again) == 3
        groups = httpx2.get(f"{address}/v1/membergroups", headers=bearer).json()["membergroups"]
        assert "Kept" in [each["membergroup_name"] for each in groups]


def test_a_port_that_is_taken_is_named(database: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        said = refused(database, "--port", port)
    assert f"Port {port} of 127.0.0.1" in said
    assert "--port" in said


def test_a_database_that_is_away_is_told() -> None:
    said = refused(f"postgresql://nobody@127.0.0.1:{free_port()}/nothing", "--port", "0")
    assert "SANDBOX_DATABASE_URL cannot be reached" in said
    assert "Connection refused" in said


def test_a_missing_variable_is_named() -> None:
    assert "SANDBOX_DATABASE_URL must be a PostgreSQL address" in refused("", "--port", "0")
