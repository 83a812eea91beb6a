"""Set up the demonstration: tenants in the sandbox, tenants and staff in the portal, and the connections between them.

Each step records that it is done, so that a later start continues after an interruption. Everything uses public
interfaces: the sandbox's control API, and the portal's own commands and pages.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from demo import data
from demo.data import (
    DOOR_PROBLEMS,
    ENVIRONMENT,
    HELD_DOOR,
    INCIDENT,
    INCIDENT_NOTE,
    INCIDENT_RECORDS,
    INTERCOMS,
    PEOPLE,
    PRESETS,
    REPORT,
    REPORT_LANGUAGE,
    REPORT_TO,
    REVIEW,
    REVIEW_AREAS,
    REVIEW_DAYS,
    TENANTS,
    WITHDRAW_EVERY,
    Preset,
)
from demo.page_client import PageClient, UnexpectedPage
from demo.state import DemoState
from stack.paths import PYTHON, ROOT, write_private

_PASSAGES_PER_HOUR = 40
# Several commands of the portal in one process: starting Django for each would take longer than the commands.
_RUN_COMMANDS = (
    "import json, sys, django; django.setup(); from django.core.management import call_command; "
    "[call_command(*each) for each in json.load(sys.stdin)]"
)


def create_sandbox_tenants(state: DemoState, sandbox_url: str) -> None:
    """Create the missing tenants."""
    known = state.load("sandbox_tenants") or {}
    for tenant in TENANTS:
        if tenant.slug not in known:
            values = {"name": tenant.name, "contracts": list(tenant.contracts), "members": tenant.members}
            known[tenant.slug] = _post_to_sandbox(sandbox_url, "tenants", values | {"seed": tenant.seed})
            # Simulated people, so that logs, doors and key boxes change.
            lives = {"tenant_id": known[tenant.slug]["tenant_id"], "passages_per_hour": _PASSAGES_PER_HOUR}
            _post_to_sandbox(sandbox_url, "settings", lives)
            if tenant == TENANTS[0]:
                _cause_door_problems(sandbox_url, known[tenant.slug]["tenant_id"])
            state.save("sandbox_tenants", known)


def _cause_door_problems(sandbox_url: str, tenant_id: str) -> None:
    """Force a door and leave another open, so that screens and alerts are not empty at the first start."""
    records = httpx2.get(f"{sandbox_url}/console/api/histories", params={"tenant_id": tenant_id}, timeout=120)
    devices = [each["device"] for each in records.json()["histories"] if each["device"]]
    doors = {each["name"]: each["id"] for each in devices}
    for trouble in DOOR_PROBLEMS:
        at = datetime.now(UTC) - timedelta(minutes=trouble.minutes)
        values = {"tenant_id": tenant_id, "device_id": doors[trouble.door], "action": trouble.action}
        _post_to_sandbox(sandbox_url, "doors", values | {"at": at.isoformat()})


def create_portal_tenants(
    state: DemoState, env: Mapping[str, str], folder: Path, portal_url: str, sandbox_url: str
) -> None:
    """Create or update the service environment, the tenants and the staff, with the portal's commands."""
    addresses = [portal_url, sandbox_url]
    commands = []
    if state.load("environment_for") != addresses:
        commands.append(_add_environment(folder, portal_url, sandbox_url))
    if not state.load("staffed"):
        commands += [["add_tenant", each.slug, "--name", each.name, "--environment", ENVIRONMENT] for each in TENANTS]
        commands += _add_staff(state, folder)
    if commands:
        _run_portal_commands(commands, env)
    state.save("environment_for", addresses)
    state.save("staffed", True)


def _add_environment(folder: Path, portal_url: str, sandbox_url: str) -> list[str]:
    redirect = f"{portal_url}/oauth/{ENVIRONMENT}/callback/"
    client = _post_to_sandbox(sandbox_url, "clients", {"name": "Access portal", "redirect_uris": [redirect]})
    secret = folder / "client.secret"
    write_private(secret, client["client_secret"])
    return [
        *("add_environment", ENVIRONMENT, "--base-url", sandbox_url),
        *("--client-id", client["client_id"], "--client-secret-file", str(secret)),
    ]


def _add_staff(state: DemoState, folder: Path) -> list[list[str]]:
    commands = []
    for person in PEOPLE:
        password = folder / f"{person.email}.password"
        write_private(password, state.passwords[person.email])
        command = ["add_staff", person.email, "--role", person.role, "--password-file", str(password)]
        commands.append([*command, *(["--tenant", person.tenant] if person.tenant else [])])
    return commands


def connect(state: DemoState, portal_url: str) -> None:
    """Connect each tenant as its owner, as in a browser.

    Store its licence key, if it has one, and switch its webhook on.
    """
    for tenant in TENANTS:
        owner = next(each.email for each in PEOPLE if each.tenant == tenant.slug and each.role == "owner")
        service = state.load("sandbox_tenants")[tenant.slug]
        licence = {"licence": _store_licence} if "licence" in tenant.contracts else {}
        notified = f"webhook at {portal_url}"
        todo = {"consent": _give_consent} | licence | {notified: _switch_webhook_on}
        known: list[str] = (state.load("connected") or {}).get(tenant.slug, [])
        done = [each for each in known if each == notified or not each.startswith("webhook")]
        if set(todo) <= set(done):
            continue
        page = f"/t/{tenant.slug}/connection/"
        with _open_as(state, portal_url, owner, page) as visitor:
            for name, step in todo.items():
                if name not in done:
                    step(visitor, portal_url + page, service)
                    done.append(name)
                    state.save("connected", (state.load("connected") or {}) | {tenant.slug: done})


def set_up_desks(state: DemoState, portal_url: str) -> None:
    """Create presets for each desk that issues codes, with the pages; the areas must have been read."""
    done: list[str] = state.load("desks") or []
    for tenant in TENANTS:
        if tenant.slug in done or "qr" not in tenant.contracts:
            continue
        page = f"{portal_url}/t/{tenant.slug}/guests/presets/"
        with _open_as_manager(state, portal_url, tenant.slug, "guests/presets/") as visitor:
            _wait_for_areas(visitor, f"{page}new/")
            for preset in PRESETS:
                visitor.open(f"{page}new/")
                _create_preset(visitor, preset)
        done.append(tenant.slug)
        state.save("desks", done)


def set_up_plan(state: DemoState, portal_url: str) -> None:
    """Create a floor plan with doors for the first tenant, with the pages; the doors must have been read."""
    if state.load("plan"):
        return
    tenant = TENANTS[0].slug
    with _open_as_manager(state, portal_url, tenant, "plans/new/") as visitor:
        form = visitor.find_form(field="name")
        visitor.upload(form, {"image": ("floor.png", data.draw_plan())}, name=data.NAME)
        form = visitor.find_form(field="camera")
        given: dict[str, str] = {}
        for box, named in form.checkboxes.items():
            if place := data.place_of(next(iter(named))):
                key = box.removeprefix("on:")
                given |= {box: "on", f"x:{key}": str(place[0] / 10), f"y:{key}": str(place[1] / 10)}
        visitor.submit(form, **given)
    state.save("plan", True)


def hold_door(state: DemoState, portal_url: str) -> None:
    """Hold a door of the first tenant unlocked for four hours, with its page; the doors must have been read."""
    if state.load("held"):
        return
    tenant = TENANTS[0].slug
    with _open_as_manager(state, portal_url, tenant, "devices/?view=list") as visitor:
        found = visitor.page
        link = re.search(rf'href="([^"]*/devices/[^"/]+/)"[^>]*>\s*{HELD_DOOR}', found.text)
        if link is None:
            raise UnexpectedPage(f"{found.url} has no door called {HELD_DOOR}")
        visitor.open(f"{portal_url}{link[1]}")
        form = visitor.find_form(field="end")
        visitor.submit(form, end="240", control=next(value for name, value in form.buttons if name == "control"))
    state.save("held", True)


def set_up_cameras(state: DemoState, portal_url: str, sandbox_url: str) -> None:
    """Add the first tenant's cameras with its pages, each linked to its door, and view them once."""
    if state.load("cameras"):
        return
    tenant = TENANTS[0].slug
    found = _load_from_sandbox(sandbox_url, "cameras", state.load("sandbox_tenants")[tenant]["tenant_id"])
    wall = f"{portal_url}/t/{tenant}/cameras/"
    with _open_as_manager(state, portal_url, tenant, "cameras/new/") as visitor:
        visitor.submit(
            visitor.find_form(field="cameras"), cameras="\n".join(f"{c['camera_id']}, {c['name']}" for c in found)
        )
        at_doors = [each for each in found if each["device_id"]]
        for number, each in enumerate(at_doors):
            visitor.open(f"{wall}{each['camera_id']}/edit/")
            intercom = {"is_intercom": "on"} if number < INTERCOMS else {}
            visitor.submit(visitor.find_form(field="name"), doors=[each["device_id"]], **intercom)
        visitor.open(wall)
    state.save("cameras", True)


def collect_evidence(state: DemoState, portal_url: str, sandbox_url: str) -> None:
    """Create an incident of the first tenant with its pages, with records, video and a note, and export it."""
    if state.load("evidence"):
        return
    tenant = TENANTS[0].slug
    tenant_id = state.load("sandbox_tenants")[tenant]["tenant_id"]
    listed = {name: _load_from_sandbox(sandbox_url, name, tenant_id) for name in ("cameras", "histories")}
    watched = {each["device_id"] for each in listed["cameras"] if each["device_id"] and each["is_connected"]}
    passed = [each for each in listed["histories"] if each["device"] and each["device"]["id"] in watched]
    newest = max(passed, key=lambda each: str(each["datetime"]))
    with _open_as_manager(state, portal_url, tenant, "evidence/new/") as visitor:
        visitor.submit(visitor.find_form(field="title"), title=INCIDENT, began_at=newest["datetime"][:19])
        page = f"{portal_url}/t/{tenant}/evidence/1/"
        for _ in range(60):  # until the log is loaded that far
            found = re.findall(r'name="record" value="([^"]+)"', visitor.open(f"{page}records/").text)
            if newest["history_id"] in found:
                visitor.submit(visitor.find_form(field="record"), record=_records_before(found, newest["history_id"]))
                break
            time.sleep(0.5)
        visitor.open(page)
        visitor.submit(visitor.find_form(field="text"), text=INCIDENT_NOTE)
        for _ in range(60):  # until the video is available
            if "<video" in visitor.open(page).text:
                break
            time.sleep(0.5)
        visitor.submit(visitor.find_form(action="export"))
    state.save("evidence", True)


def review_access(state: DemoState, portal_url: str) -> None:
    """Start a review of the first tenant's access with its pages, and decide half of it."""
    if state.load("review"):
        return
    tenant = TENANTS[0].slug
    reviewer = next(each.email for each in PEOPLE if each.role == "reviewer")
    due = (datetime.now(UTC) + timedelta(days=REVIEW_DAYS)).date().isoformat()
    with _open_as_manager(state, portal_url, tenant, "reviews/new/") as visitor:
        form = visitor.find_form(field="due_on")
        areas = list(form.checkboxes["areas"].values())[:REVIEW_AREAS]
        who = [box for name, box in form.checkboxes["reviewers"].items() if reviewer in name]
        page = str(visitor.submit(form, title=REVIEW, areas=areas, due_on=due, reviewers=who).url)
    with _open_as(state, portal_url, reviewer, f"/t/{tenant}/reviews/mine/") as visitor:
        for _ in range(60):  # until rights are listed
            found = re.findall(r'name="press" value="([^"]+:confirm:[^"]+)"', visitor.open(f"{page}mine/").text)
            if len(found) >= REVIEW_AREAS:
                break
            time.sleep(0.5)
        for number, press in enumerate(found[: len(found) // 2], start=1):
            act = press.replace(":confirm:", ":withdraw:") if number % WITHDRAW_EVERY == 0 else press
            visitor.submit(visitor.find_form(action="press"), press=act)
    state.save("review", True)


def schedule_report(state: DemoState, portal_url: str) -> None:
    """Schedule a weekly report of the first tenant with its pages, and send the latest at once."""
    if state.load("report"):
        return
    tenant = TENANTS[0].slug
    with _open_as_manager(state, portal_url, tenant, f"reports/schedule/{REPORT}/") as visitor:
        form = visitor.find_form(field="hour")
        people = [box for name, box in form.checkboxes["recipients"].items() if REPORT_TO in name]
        visitor.submit(form, recipients=people, language=REPORT_LANGUAGE)
        visitor.submit(visitor.find_form(action="/send/"))
    state.save("report", True)


def _records_before(found: list[str], one: str) -> list[str]:
    """Return this record and those before it, as many as the incident collects."""
    last = found.index(one) + 1
    return found[max(last - INCIDENT_RECORDS, 0) : last]


def _load_from_sandbox(sandbox_url: str, name: str, tenant_id: str) -> list[dict[str, Any]]:
    """Return the service's data of a tenant from the sandbox's console."""
    answer = httpx2.get(f"{sandbox_url}/console/api/{name}", params={"tenant_id": tenant_id}, timeout=120)
    found: list[dict[str, Any]] = answer.json()[name]
    return found


def _open_as_manager(state: DemoState, portal_url: str, tenant: str, page: str) -> AbstractContextManager[PageClient]:
    """Sign in as the tenant's facility manager, and open one of their pages."""
    manager = next(each.email for each in PEOPLE if each.tenant == tenant and each.role == "facility manager")
    return _open_as(state, portal_url, manager, f"/t/{tenant}/{page}")


@contextmanager
def _open_as(state: DemoState, portal_url: str, email: str, path: str) -> Iterator[PageClient]:
    with PageClient() as visitor:
        visitor.open(f"{portal_url}/accounts/login/?next={quote(path)}")
        visitor.submit(visitor.find_form(field="password"), login=email, password=state.passwords[email])
        yield visitor


def _wait_for_areas(visitor: PageClient, page: str) -> None:
    """Wait some time for the areas: readiness depends on other lists only."""
    for _ in range(60):
        visitor.open(page)
        if visitor.find_form(field="minutes").checkboxes.get("area_ids"):
            return
        time.sleep(0.5)


def _create_preset(visitor: PageClient, preset: Preset) -> None:
    form = visitor.find_form(field="minutes")
    areas = form.checkboxes.get("area_ids", {})
    chosen = [areas[name] for name in preset.areas if name in areas] or list(areas.values())[:1]
    given: dict[str, Any] = asdict(preset) | {"area_ids": chosen, "ends": "until" if preset.until else "minutes"}
    given.pop("areas")
    visitor.submit(form, **given)


def _give_consent(visitor: PageClient, page: str, service: dict[str, str]) -> None:
    """Go from the connection page to the member site, and return with its administrator's consent."""
    visitor.submit(visitor.find_form(action="/connect/"))
    visitor.submit(
        visitor.find_form(field="password"), login=service["admin_login"], password=service["admin_password"]
    )
    answer = visitor.submit(visitor.find_form(button="decision"), decision="allow")
    if not str(answer.url).startswith(page):
        raise UnexpectedPage(f"connecting ended at {answer.url} instead of {page}")


def _store_licence(visitor: PageClient, page: str, service: dict[str, str]) -> None:
    visitor.open(page)
    visitor.submit(visitor.find_form(action="/licence-key/"), **{"licence-value": service["licence_key"]})


def _switch_webhook_on(visitor: PageClient, page: str, service: dict[str, str]) -> None:
    """Register the portal's current address at the service, for a notification of every record."""
    visitor.open(page)
    form = visitor.find_form(action="/webhook/on/")
    visitor.submit(form, categories=list(form.checkboxes["categories"].values()))
    visitor.find_form(action="/webhook/off/")  # on the page once it is on


def _post_to_sandbox(sandbox_url: str, what: str, values: dict[str, Any]) -> dict[str, Any]:
    answer = httpx2.post(f"{sandbox_url}/console/api/{what}", json=values, timeout=120)
    if not answer.is_success:
        raise SystemExit(f"the sandbox refused {what}: {answer.status_code} {answer.text[:300]}")
    created: dict[str, Any] = answer.json()
    return created


def _run_portal_commands(commands: list[list[str]], env: Mapping[str, str]) -> None:
    done = subprocess.run(
        [PYTHON, "-c", _RUN_COMMANDS],
        cwd=ROOT,
        env={**env, "DJANGO_SETTINGS_MODULE": "portal.site.settings"},
        input=json.dumps(commands),
        text=True,
        capture_output=True,
    )
    if done.returncode:
        raise SystemExit(f"the portal's commands failed:\n{done.stdout}{done.stderr}")
