"""Find or start the demonstration of this checkout, and sign in to it in a browser, for pictures."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, sync_playwright

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
DEMO = ROOT / ".demo" / "demo.json"
LANGUAGES = {"en": "en-GB", "ja": "ja-JP"}
READING = 20  # seconds that a new demonstration takes to read what its tenants hold
Demo = dict[str, Any]


@contextlib.contextmanager
def pictured() -> Iterator[tuple[Demo, Browser]]:
    """Yield the contents of `demo.json` of a demo that is ready, and a browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not chromium:
        raise SystemExit("No pictures were taken: no Chromium is on the path, and CHROMIUM names none.")
    with _demonstration() as demo, sync_playwright() as driver:
        yield demo, driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


@contextlib.contextmanager
def _demonstration() -> Iterator[Demo]:
    """Yield the contents of `demo.json`. A running demo is used; otherwise one is started, and ended afterwards."""
    if _is_running():
        yield json.loads(DEMO.read_text())
        return
    command = [sys.executable, "-m", "demo", "run", "--port", _free_port(), "--sandbox-port", _free_port()]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        try:
            if not any("Ready: " in line for line in started.stdout or ()):
                raise SystemExit("The demonstration did not start. `make demo` says why.")
            time.sleep(READING)
            yield json.loads(DEMO.read_text())
        finally:
            started.terminate()


def _is_running() -> bool:
    with contextlib.suppress(OSError):
        portal = json.loads(DEMO.read_text())["portal"]
        with urlopen(f"{portal}/healthz", timeout=10) as answer:  # noqa: S310 - the address of this site
            return bool(answer.status == 200)
    return False


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@contextlib.contextmanager
def signed_in(
    browser: Browser, demo: Demo, account: str, *, language: str, width: int, height: int, theme: str = "light"
) -> Iterator[BrowserContext]:
    """Yield a browser of this size, theme and language in which `account` of the demo is signed in."""
    password = next(each["password"] for each in demo["accounts"] if each["email"] == account)
    context = browser.new_context(
        locale=LANGUAGES[language],
        base_url=demo["portal"],
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
    )
    with contextlib.closing(context):
        page = context.new_page()
        page.goto("/accounts/login/")
        page.fill("[name=login]", account)
        page.fill("[name=password]", password)
        page.press("[name=password]", "Enter")
        page.wait_for_selector(".framed")
        page.close()
        yield context
