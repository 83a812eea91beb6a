"""The launcher: real services for a command, and no process of them afterwards, however the command ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from stack.paths import ROOT
from stack.postgres import delete_home, unprivileged_account
from stack.processes import Account
from tests.stack.processes import below, gone
from tests.support.effort import one_in

_REPORT = "import json, os; print(json.dumps(dict(os.environ)), flush=True); import time; time.sleep({seconds})"
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """Return another checkout, in a folder that no other account can enter."""
    shutil.copytree(ROOT / "stack", tmp_path / "stack", ignore=shutil.ignore_patterns("__pycache__"))
    yield tmp_path
    delete_home(tmp_path / ".run")


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def start(checkout: Path, *, seconds: float = 0, **more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "stack", "services", "--", sys.executable, "-c"]
        env = {name: value for name, value in os.environ.items() if not name.endswith(("_URL",))}
        launcher = subprocess.Popen(
            [*command, _REPORT.format(seconds=seconds)],
            cwd=checkout,
            env=env | more,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(launcher)
        return launcher

    yield start
    for launcher in started:
        launcher.kill()
        launcher.communicate()


def _environment(launcher: "subprocess.Popen[str]") -> dict[str, str]:
    assert launcher.stdout is not None
    found: dict[str, str] = json.loads(launcher.stdout.readline())
    return found


def test_a_command_gets_a_real_database_and_a_real_broker(checkout: Path, start: Start) -> None:
    env = _environment(start(checkout, seconds=60))
    with psycopg.connect(env["DATABASE_URL"]) as connection:
        found = connection.execute(
            "select rolsuper, rolbypassrls, rolcreatedb from pg_roles where rolname = current_user"
        ).fetchone()
        assert found == (False, False, False), "row security must bind the site's role"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("create table mine ()")
    with psycopg.connect(env["DATABASE_OWNER_URL"]) as connection:
        connection.execute("create table theirs ()")
    with psycopg.connect(env["SANDBOX_DATABASE_URL"]) as connection:
        assert connection.info.dbname == "sandbox"
    with redis.Redis.from_url(env["REDIS_URL"]) as broker:
        assert broker.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


@pytest.mark.attack
@pytest.mark.parametrize("ending", one_in(3, [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
def test_nothing_survives_the_launcher(checkout: Path, start: Start, ending: signal.Signals) -> None:
    launcher = start(checkout, seconds=300)
    _environment(launcher)
    family = below(launcher.pid)
    assert len(family) >= 4, "the command, PostgreSQL, Valkey and the undertaker"
    if ending == signal.SIGINT:  # from a keyboard it reaches the whole group
        os.killpg(launcher.pid, ending)
    else:
        launcher.send_signal(ending)
    launcher.wait(60)
    assert gone(family)


@pytest.mark.attack
def test_nothing_survives_the_parent_of_the_launcher(checkout: Path, start: Start, tmp_path: Path) -> None:
    script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    command = [
        sys.executable,
        "-m",
        "stack",
        "services",
        "--",
        sys.executable,
        "-c",
        _REPORT.format(seconds=300),
    ]
    with subprocess.Popen(
        [sys.executable, "-c", script, *command], cwd=checkout, stdout=subprocess.PIPE, text=True
    ) as parent:
        _environment(parent)
        family = below(parent.pid)
        parent.kill()
        parent.wait()
    assert gone(family)


def test_two_run_side_by_side_from_one_checkout(checkout: Path, start: Start) -> None:
    both = [_environment(launcher) for launcher in [start(checkout, seconds=60), start(checkout, seconds=60)]]
    assert both[0]["DATABASE_URL"] != both[1]["DATABASE_URL"]
    assert both[0]["REDIS_URL"] != both[1]["REDIS_URL"]
    for number, env in enumerate(both):
        with psycopg.connect(env["DATABASE_OWNER_URL"]) as connection:
            connection.execute(f"create table only_{number} ()")
    with psycopg.connect(both[0]["DATABASE_OWNER_URL"]) as connection:
        tables = connection.execute("select tablename from pg_tables where tablename like 'only_%'").fetchall()
    assert tables == [("only_0",)]


def test_services_that_are_given_are_used(checkout: Path, start: Start) -> None:
    env = _environment(
        start(
            checkout,
            DATABASE_URL="postgresql://somebody@127.0.0.1:1/theirs",
            REDIS_URL="redis://127.0.0.1:1/0",
        )
    )
    assert env["DATABASE_URL"] == "postgresql://somebody@127.0.0.1:1/theirs"
    assert env["SANDBOX_DATABASE_URL"] == "postgresql://somebody@127.0.0.1:1/theirs_sandbox"
    assert env["REDIS_URL"] == "redis://127.0.0.1:1/0"


def test_what_a_run_wrote_goes_away_with_it(checkout: Path, start: Start) -> None:
    launcher = start(checkout)
    _environment(launcher)
    assert launcher.wait(60) == 0
    run = checkout / ".run"
    assert not list(run.glob("run-*"))
    note = run / "postgres.at"
    home = Path(note.read_text()) if note.exists() else run
    assert not list(home.glob("run-*"))


@pytest.fixture
def unprivileged_checkout() -> Iterator[Path]:
    """Return a checkout of the unprivileged account, in a folder that it can enter."""
    who = unprivileged_account()
    if who is None:
        pytest.skip("this run is not root's: every other test here says it")
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    try:
        shutil.copytree(ROOT / "stack", folder / "stack", ignore=shutil.ignore_patterns("__pycache__"))
        for each in (folder, *folder.rglob("*")):
            os.chown(each, who.uid, who.gid)
        yield folder
    finally:
        shutil.rmtree(folder)


def _run_as(who: Account, command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        user=who.uid,
        group=who.gid,
        extra_groups=[],
        env={"PATH": os.defpath, "PYTHONPATH": sysconfig.get_path("purelib")},
        capture_output=True,
        text=True,
        check=False,
    )


def _python_for(who: Account, folder: Path) -> str:
    """Return a Python of this version that the account may run, with the same packages."""
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            if not _run_as(who, [python, "-c", "import psycopg, redis"], folder).returncode:
                return python
        except OSError:
            continue
    pytest.skip(f"uid {who.uid} may run no Python that has the packages")


@pytest.mark.soak
def test_it_runs_without_being_root(unprivileged_checkout: Path) -> None:
    who = unprivileged_account()
    assert who is not None
    python = _python_for(who, unprivileged_checkout)
    show = "import os; print(os.getuid(), os.environ['DATABASE_URL'])"
    command = [python, "-m", "stack", "services", "--", python, "-c", show]
    done = _run_as(who, command, unprivileged_checkout)
    assert done.stdout.startswith(f"{who.uid} postgresql://portal:"), done.stderr
    assert not (unprivileged_checkout / ".run" / "postgres.at").exists(), "no folder elsewhere was needed"
