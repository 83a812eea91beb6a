"""Take the pictures of the user's guide: `python docs/guide/take_pictures.py [PAGE ...]`, all of them without a name.

`guide.toml` names, for each page, the person and the view. A running demo of this checkout is used; otherwise one is
started and ended. Each picture is taken in both languages, at 1280 pixels, light, by the browser that `CHROMIUM` or the
path names. One that looks as before is left alone, so that new times on a page change few files;
one that was deleted is taken in any case.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zoneinfo import ZoneInfo

from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
DEMO = ROOT / ".demo" / "demo.json"
JAPAN = ZoneInfo("Asia/Tokyo")
LANGUAGES = {"en": "en-GB", "ja": "ja-JP"}
READING = 20  # seconds that a new demonstration takes to read what its tenants hold
COLOURS, SAME = 128, 0.0005  # how many colours a picture has; the share of it that may differ from the one before


def main(names: list[str]) -> None:
    """Take the pictures of the pages with these names."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not chromium:
        raise SystemExit("No pictures were taken: no Chromium is on the path, and CHROMIUM names none.")
    pages = tomllib.loads((FOLDER / "guide.toml").read_text(encoding="utf-8"))["page"]
    with _demonstration() as demo, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for page in pages:
            if not names or page["name"] in names:
                for language in LANGUAGES:
                    _take(browser, demo, page, language)


@contextlib.contextmanager
def _demonstration() -> Iterator[dict[str, Any]]:
    """Yield the contents of `demo.json` of a demo that is ready."""
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


def _take(browser: Browser, demo: dict[str, Any], entry: dict[str, Any], language: str) -> None:
    """Take one picture in one language, and write it unless it looks as before."""
    password = next(each["password"] for each in demo["accounts"] if each["email"] == entry["account"])
    seen = {"width": 1280, "height": entry.get("height", 800)}
    with contextlib.closing(
        browser.new_context(locale=LANGUAGES[language], base_url=demo["portal"], viewport=seen, color_scheme="light")
    ) as context:
        page = context.new_page()
        page.goto(f"/accounts/login/?next={entry['address']}")
        page.fill("[name=login]", entry["account"])
        page.fill("[name=password]", password)
        page.press("[name=password]", "Enter")
        page.wait_for_selector(".framed")
        for step in entry.get("steps", ()):
            _do(page, *step)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1000)
        _write(
            page.screenshot(caret="hide", animations="disabled"), FOLDER / f"pictures/{language}/{entry['name']}.webp"
        )


def _do(page: Page, act: str, selector: str, text: str = "") -> None:
    """Do one step. Raises playwright's error, which names the selector, when the page has nothing like it."""
    text = text.replace("{tomorrow}", f"{datetime.now(JAPAN) + timedelta(days=1):%Y-%m-%d}")
    place = page.locator(selector).locator("visible=true").first if act != "upload" else page.locator(selector).first
    if act == "upload":
        place.set_input_files({"name": "list.csv", "mimeType": "text/csv", "buffer": text.strip().encode()})
    elif act == "select":
        place.select_option(text)
    elif act == "fill":
        place.fill(text)
    elif act == "wait":
        place.wait_for()
    else:
        getattr(place, act)()
    page.wait_for_timeout(300)


def _write(shot: bytes, path: Path) -> None:
    with Image.open(BytesIO(shot)) as opened:
        picture = opened.convert("RGB")
    if path.exists():
        with Image.open(path) as before:
            different = ImageChops.difference(picture, before.convert("RGB").resize(picture.size)).convert("L")
        if sum(different.histogram()[48:]) < SAME * picture.width * picture.height:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB").save(path, lossless=True, method=6)
    print(f"Taken: {path.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
