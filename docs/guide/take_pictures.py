"""Take the pictures of the guide and the README: `python docs/guide/take_pictures.py [NAME ...]`, all without a name.

`guide.toml` names, for each page of the guide and each picture of the README, the person and the view. A running demo
of this checkout is used; otherwise one is started and ended. Pictures of the guide are taken in both languages.
One that looks as before is left alone, so that new times on a page change few files; one that was deleted is taken in
any case. `labels.json` keeps the messages that are on each picture; a test finds a picture with a label that the site
no longer has.
"""

import json
import sys
import tomllib
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from babel.messages.pofile import read_po
from demonstration import FOLDER, LANGUAGES, ROOT, Demo, pictured, signed_in
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page

LABELS = FOLDER / "pictures" / "labels.json"
JAPAN = ZoneInfo("Asia/Tokyo")
COLOURS, SAME = 64, 0.0005  # how many colours a picture has; the share of it that may differ from the one before
#: What names something on a page: headings, names of fields and columns, buttons and links of the menu.
NAMES = "h1, h2, h3, th, dt, label, legend, summary, button, .btn, nav a"


def main(names: list[str]) -> None:
    """Take the pictures with these names."""
    wanted = tomllib.loads((FOLDER / "guide.toml").read_text(encoding="utf-8"))
    shown = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.exists() else {}
    with pictured() as (demo, browser):
        for entry in wanted["page"]:
            for language in LANGUAGES:
                if not names or entry["name"] in names:
                    path = FOLDER / f"pictures/{language}/{entry['name']}.webp"
                    _save(shown, path, language, _take(browser, demo, entry, language, path))
        for entry in wanted["picture"]:
            if not names or entry["name"] in names:
                path, language = ROOT / f"docs/images/{entry['name']}.webp", entry.get("language", "en")
                _save(shown, path, language, _take(browser, demo, entry, language, path))


def _save(shown: dict[str, Any], path: Path, language: str, labels: list[str]) -> None:
    """Save the labels on a picture. A run that fails later keeps those of the pictures before."""
    shown[path.relative_to(ROOT).as_posix()] = {"language": language, "labels": labels}
    LABELS.write_text(json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _take(browser: Browser, demo: Demo, entry: dict[str, Any], language: str, path: Path) -> list[str]:
    """Take one picture, write it unless it looks as before, and return the messages on it."""
    size = {"width": entry.get("width", 1280), "height": entry.get("height", 800), "theme": entry.get("theme", "light")}
    with signed_in(browser, demo, entry["account"], language=language, **size) as context:
        page = context.new_page()
        if fault := entry.get("fault"):
            page.request.post(f"{demo['sandbox']}/console/api/faults", data=fault).dispose()
        page.goto(entry["address"])
        for step in entry.get("steps", ()):
            _do(page, *step)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1000)
        _write(page.screenshot(caret="hide", animations="disabled"), path)
        found = page.locator(NAMES).locator("visible=true").all_inner_texts()
        for step in entry.get("after", ()):
            _do(page, *step)
    return sorted({text.strip() for text in found} & _messages(language))


def _messages(language: str) -> set[str]:
    """Return all texts of the site without placeholders in a language."""
    with (ROOT / "locale/ja/LC_MESSAGES/django.po").open("rb") as file:
        return {str(each.id if language == "en" else each.string) for each in read_po(file, locale="ja") if each.id}


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
