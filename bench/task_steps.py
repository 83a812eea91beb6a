"""Count the clicks and keys of four frequent tasks, in a browser on the running demo.

    make demo                                  # in another terminal
    .venv/bin/python -m bench.task_steps

Every page counts what it receives: clicks, keys that do something, and typed characters apart. Signing in and the
proof of identity are not counted. The exit code is 1 if a task needs more than three clicks from the first page.
"""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from accessapi.limits import JST
from stack.paths import ROOT

MOST_CLICKS = 3
_COUNT = """
addEventListener("pointerdown", () => counted("clicks", 1), true);
addEventListener("keydown", ({ key }) => { if (key.length > 1 && key !== "Control") counted("keys", 1); }, true);
addEventListener("keydown", ({ key, ctrlKey }) => { if (key.length === 1 && ctrlKey) counted("keys", 1); }, true);
addEventListener("beforeinput", ({ data }) => { if (data) counted("typed", data.length); }, true);
"""
_TENANT = "sakura-building"
_ROOM = "サーバー室"


class Person:
    """A person at a browser. `steps` counts while `counting`."""

    def __init__(self, browser: Browser, place: dict[str, Any], role: str) -> None:
        mine = (each for each in place["accounts"] if (each["role"], each["tenant"]) == (role, _TENANT))
        self.account = next(mine)
        context = browser.new_context(base_url=place["portal"], locale="en-GB", viewport={"width": 1440, "height": 900})
        self.page: Page = context.new_page()
        self.steps: Counter[str] = Counter()
        self.counting = False
        context.expose_binding("counted", lambda _source, kind, n: self._count(kind, n))
        context.add_init_script(_COUNT)
        self._sign_in()

    def _count(self, kind: str, n: int) -> None:
        if self.counting:
            self.steps[kind] += n

    def _sign_in(self) -> None:
        self.page.goto("/accounts/login/")
        self.page.fill("[name=login]", self.account["email"])
        self.page.fill("[name=password]", self.account["password"])
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/t/**")

    @contextmanager
    def counted(self) -> Iterator[Page]:
        """Count from the person's first page."""
        self.page.goto(f"/t/{_TENANT}/")
        self.counting = True
        yield self.page
        self.page.wait_for_timeout(100)  # the last counts may be under way
        self.counting = False

    def click(self, role: Any, name: str, *, exact: bool = False) -> None:
        self.page.get_by_role(role, name=name, exact=exact).first.click()

    def find(self, text: str) -> None:
        """Open the first page that the palette finds."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(text)
        self.page.locator(f".palette-hit:has-text('{text}')").first.wait_for()
        self.page.keyboard.press("Enter")
        expect(self.page.locator("h1")).to_contain_text(text)

    def prove(self) -> None:
        """Give the password, if the page asks for it. It is not counted."""
        self.counting = False
        self.page.wait_for_timeout(500)
        if self.page.locator("[name=password]").count():
            self.page.fill("[name=password]", self.account["password"])
            self.page.keyboard.press("Enter")
            self.page.wait_for_load_state("networkidle")


def lock_down(guard: Person) -> None:
    """See a forced door, and lock down its area."""
    with guard.counted() as page:
        expect(page.locator(".status-worst")).to_contain_text("was forced open")
        guard.click("link", "Show door")
        guard.click("link", "Start lockdown of")
        page.locator(".btn-danger").click()  # "Lock 2 doors now"
        guard.prove()
        expect(page.locator("main")).to_contain_text("Release")
    guard.click("button", "Release")
    guard.prove()


def look_back(manager: Person) -> None:
    """Answer who was in the server room on Tuesday evening."""
    today = datetime.now(JST).date()
    tuesday = today - timedelta(days=(today.weekday() - 1) % 7 or 7)
    with manager.counted() as page:
        manager.find(_ROOM)
        page.locator("#happened a[href*='/logs/?']").last.click()
        page.locator("#log-period > summary").click()
        for name, clock in (("from", "17:00"), ("to", "21:00")):
            page.locator(f"#log-period [name={name}]").fill(f"{tuesday}T{clock}")
            manager.steps["typed"] += 12
        page.locator("#log-period").get_by_role("button", name="Show").click()
        expect(page.locator(".list-tools")).to_contain_text(_ROOM)
        expect(page.locator("#log-period > summary")).to_contain_text(f"{tuesday:%m-%d}")


def find_returning_guest(desk: Person) -> None:
    """Find a guest who was here before."""
    desk.page.goto(f"/t/{_TENANT}/guests/")
    name = ""
    for _day in range(30):
        desk.page.get_by_role("link", name="Day before").click()
        rows = desk.page.locator("[data-guest] [data-open]")
        if rows.count():
            name = rows.first.inner_text().strip()
            break
    with desk.counted():
        desk.find(name.split("\u3000")[0].split(" ")[0])


def add_area(manager: Person) -> None:
    """Give a member one more area."""
    manager.page.goto(f"/t/{_TENANT}/members/?size=25")
    name = manager.page.locator("tbody a.row-link").first.inner_text().strip()
    with manager.counted() as page:
        manager.find(name)
        page.locator(".rights-panel summary", has_text="Add area").click()
        page.locator(".rights-panel a.menu-item").first.click()
        manager.click("button", "Save rights")
        manager.prove()
        expect(page.locator("main")).to_contain_text("Rights")


TASKS: tuple[tuple[str, str, Callable[[Person], None]], ...] = (
    ("guard", "sees a forced door and locks down its area", lock_down),
    ("facility manager", "answers who was in the server room on Tuesday evening", look_back),
    ("receptionist", "finds a guest who returns", find_returning_guest),
    ("facility manager", "gives a person one more area", add_area),
)


def main() -> int:
    place = json.loads((ROOT / ".demo" / "demo.json").read_text())
    most = 0
    print("| Task | Clicks | Keys | Typed characters |\n|---|---|---|---|")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        for role, task, perform in TASKS:
            person = Person(browser, place, role)
            perform(person)
            steps = person.steps
            most = max(most, steps["clicks"])
            print(f"| {role} {task} | {steps['clicks']} | {steps['keys']} | {steps['typed']} |", flush=True)
            person.page.context.close()
        browser.close()
    return 1 if most > MOST_CLICKS else 0


if __name__ == "__main__":
    sys.exit(main())
