"""`make demo` in a separate checkout: it starts, continues, and leaves nothing running."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from demo.page_client import PageClient
from stack.paths import ROOT
from stack.postgres import delete_home
from stack.processes import free_port
from tests.stack.processes import alive, below, gone

pytestmark = pytest.mark.soak

_PACKAGES = ("accessapi", "tenants", "portal", "sandbox", "stack", "demo")
_PARTS = (*_PACKAGES, "templates", "static", "locale", "docs", "node_modules")
_FILES = ("manage.py", "package.json", "package-lock.json", ".npmrc")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("demo")
    for part in filter(lambda part: (ROOT / part).is_dir(), _PARTS):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copyfile(ROOT / name, folder / name)
    yield folder
    delete_home(folder / ".demo" / "data")


@contextmanager
def _demo(checkout: Path, port: int, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
    env = {name: value for name, value in os.environ.items() if name in {"HOME", "PATH", "LANG"}}
    command = [sys.executable, "-m", "demo", "run", "--port", str(port), "--sandbox-port", str(free_port())]
    with subprocess.Popen(
        [*command, *arguments], cwd=checkout, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as demo:
        try:
            _until_ready(demo, port)
            yield demo
        finally:
            demo.kill()
            demo.communicate()


def _until_ready(demo: "subprocess.Popen[str]", port: int) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        assert demo.poll() is None, demo.communicate()[0]
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the demonstration did not become ready")


def _sign_in(checkout: Path, page: str) -> str:
    said = json.loads((checkout / ".demo" / "demo.json").read_text())
    owner = next(each for each in said["accounts"] if each["role"] == "owner" and each["tenant"] == said["tenants"][0])
    with PageClient() as visitor:
        visitor.open(f"{said['portal']}/accounts/login/?next=/t/{said['tenants'][0]}/{page}")
        return visitor.submit(
            visitor.find_form(field="password"), login=owner["email"], password=owner["password"]
        ).text


def _shows(checkout: Path, page: str, *words: str, seconds: int) -> bool:
    """Check whether a page shows all of these words within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = _sign_in(checkout, page)
        if all(each in text for each in words):
            return True
        time.sleep(5)
    return False


def _manage(checkout: Path, *arguments: str) -> str:
    env = {name: value for name, value in os.environ.items() if name in {"HOME", "PATH", "LANG"}}
    command = [sys.executable, "-m", "demo", "manage", "--", *arguments]
    return subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True, check=True).stdout


def test_it_comes_up_connected_continues_and_ends_without_a_trace(checkout: Path) -> None:
    with _demo(checkout, free_port()) as demo:
        said = json.loads((checkout / ".demo" / "demo.json").read_text())
        assert len(said["tenants"]) >= 3
        first = said["tenants"][0]
        roles = {each["role"] for each in said["accounts"] if each["tenant"] == first}
        assert roles >= {"owner", "facility manager", "receptionist", "guard", "auditor"}
        assert {each["role"] for each in said["accounts"] if not each["tenant"]} == {"support", "operator"}
        assert "2,000" in _sign_in(checkout, "members/")
        added = _manage(checkout, "add_staff", "kato@example.com", "--role", "guard", "--tenant", first)
        assert "is now guard" in added
        life = ("alerts not taken", "Forced open", "Left open", "Held unlocked", "keys out")
        assert _shows(checkout, "", *life, seconds=150)  # rules are checked once a minute
        family = below(demo.pid)
        os.killpg(demo.pid, signal.SIGINT)
        demo.wait(120)
        assert not [each for each in family if alive(each)]

    with _demo(checkout, free_port()) as demo:
        again = json.loads((checkout / ".demo" / "demo.json").read_text())
        assert again["accounts"] == said["accounts"]
        assert "2,000" in _sign_in(checkout, "members/")
        family = below(demo.pid)
        demo.kill()
        demo.wait()
        assert gone(family)
