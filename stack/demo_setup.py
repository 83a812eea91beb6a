"""Set up the demonstration: tenants in the sandbox, tenants and staff in the portal, the grants between.

Each step records that it is done, so that a start continues what another began. Everything goes through public
interfaces: the sandbox's control API, the portal's own commands and pages.
"""

import json
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from stack import demo_plan
from stack.demo_cast import (
    ENVIRONMENT,
    HELD,
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
    TROUBLES,
    WITHDRAWN_EACH,
    Preset,
)
from stack.demo_state import State
from stack.paths import PYTHON, ROOT, write_private
from stack.visitor import UnexpectedPage, Visitor

_PASSAGES_PER_HOUR = 40
# Several commands of the portal in one process: starting Django for each would take longer than the commands.
_SEVERAL = (
    "import json, sys, django; django.setup(); from django.core.management import call_command; "
    "[call_command(*each) for each in json.load(sys.stdin)]"
)


def furnish_sandbox(state: State, sandbox_url: str) -> None:
    """Create the tenants that do not exist yet."""
    known = state.get("sandbox_tenants") or {}
    for tenant in TENANTS:
        if tenant.slug not in known:
            asked = {"name": tenant.name, "contracts": list(tenant.contracts), "members": tenant.members}
            known[tenant.slug] = _control(sandbox_url, "tenants", asked | {"seed": tenant.seed})
            # Simulated people, so that logs, doors and key boxes change.
            lives = {"tenant_id": known[tenant.slug]["tenant_id"], "passages_per_hour": _PASSAGES_PER_HOUR}
            _control(sandbox_url, "settings", lives)
            if tenant == TENANTS[0]:
                _trouble(sandbox_url, known[tenant.slug]["tenant_id"])
            state.keep("sandbox_tenants", known)


def _trouble(sandbox_url: str, tenant_id: str) -> None:
    """Have a door forced and another left open, so that screens and alerts show life from the first start."""
    records = httpx2.get(f"{sandbox_url}/console/api/histories", params={"tenant_id": tenant_id}, timeout=120)
    devices = [each["device"] for each in records.json()["histories"] if each["device"]]
    doors = {each["name"]: each["id"] for each in devices}
    for trouble in TROUBLES:
        at = datetime.now(UTC) - timedelta(minutes=trouble.minutes)
        asked = {"tenant_id": tenant_id, "device_id": doors[trouble.door], "action": trouble.action}
        _control(sandbox_url, "doors", asked | {"at": at.isoformat()})


def furnish_portal(state: State, env: Mapping[str, str], folder: Path, portal_url: str, sandbox_url: str) -> None:
    """Create or update the service environment, the tenants and the staff, by the portal's commands."""
    wanted = [portal_url, sandbox_url]
    commands = []
    if state.get("environment_for") != wanted:
        commands.append(_add_environment(folder, portal_url, sandbox_url))
    if not state.get("staffed"):
        commands += [["add_tenant", each.slug, "--name", each.name, "--environment", ENVIRONMENT] for each in TENANTS]
        commands += _add_staff(state, folder)
    if commands:
        _portal(commands, env)
    state.keep("environment_for", wanted)
    state.keep("staffed", True)


def _add_environment(folder: Path, portal_url: str, sandbox_url: str) -> list[str]:
    redirect = f"{portal_url}/oauth/{ENVIRONMENT}/callback/"
    client = _control(sandbox_url, "clients", {"name": "Access portal", "redirect_uris": [redirect]})
    secret = folder / "client.secret"
    write_private(secret, client["client_secret"])
    return [
        *("add_environment", ENVIRONMENT, "--base-url", sandbox_url),
        *("--client-id", client["client_id"], "--client-secret-file", str(secret)),
    ]


def _add_staff(state: State, folder: Path) -> list[list[str]]:
    commands = []
    for person in PEOPLE:
        password = folder / f"{person.email}.password"
        write_private(password, state.passwords[person.email])
        command = ["add_staff", person.email, "--role", person.role, "--password-file", str(password)]
        commands.append([*command, *(["--tenant", person.tenant] if person.tenant else [])])
    return commands


def connect(state: State, portal_url: str) -> None:
    """Connect each tenant as its owner, as in a browser: store its licence key, if it has one, and switch its webhook
    on.
    """
    for tenant in TENANTS:
        owner = next(each.email for each in PEOPLE if each.tenant == tenant.slug and each.role == "owner")
        service = state.get("sandbox_tenants")[tenant.slug]
        licence = {"licence": _licence} if "licence" in tenant.contracts else {}
        notified = f"webhook at {portal_url}"
        todo = {"consent": _consent} | licence | {notified: _webhook}
        known: list[str] = (state.get("connected") or {}).get(tenant.slug, [])
        done = [each for each in known if each == notified or not each.startswith("webhook")]
        if set(todo) <= set(done):
            continue
        page = f"/t/{tenant.slug}/connection/"
        with Visitor() as visitor:
            visitor.open(f"{portal_url}/accounts/login/?next={page}")
            visitor.send(visitor.form(field="password"), login=owner, password=state.passwords[owner])
            for name, step in todo.items():
                if name not in done:
                    step(visitor, portal_url + page, service)
                    done.append(name)
                    state.keep("connected", (state.get("connected") or {}) | {tenant.slug: done})


def set_up_desks(state: State, portal_url: str) -> None:
    """Give each desk that issues codes its presets, by the pages; the areas must have been read."""
    done: list[str] = state.get("desks") or []
    for tenant in TENANTS:
        if tenant.slug in done or "qr" not in tenant.contracts:
            continue
        page = f"{portal_url}/t/{tenant.slug}/guests/presets/"
        with Visitor() as visitor:
            _manage(visitor, state, portal_url, tenant.slug, "guests/presets/")
            _areas_read(visitor, f"{page}new/")
            for preset in PRESETS:
                visitor.open(f"{page}new/")
                _preset(visitor, preset)
        done.append(tenant.slug)
        state.keep("desks", done)


def set_up_plan(state: State, portal_url: str) -> None:
    """Give the first tenant a floor plan with doors on it, by the pages; the doors must have been read."""
    if state.get("plan"):
        return
    tenant = TENANTS[0].slug
    with Visitor() as visitor:
        _manage(visitor, state, portal_url, tenant, "plans/new/")
        form = visitor.form(field="name")
        visitor.upload(form, {"image": ("floor.png", demo_plan.picture())}, name=demo_plan.NAME)
        form = visitor.form(field="camera")
        given: dict[str, str] = {}
        for box, named in form.boxes.items():
            if place := demo_plan.place_of(next(iter(named))):
                key = box.removeprefix("on:")
                given |= {box: "on", f"x:{key}": str(place[0] / 10), f"y:{key}": str(place[1] / 10)}
        visitor.send(form, **given)
    state.keep("plan", True)


def hold_door(state: State, portal_url: str) -> None:
    """Hold a door of the first tenant unlocked for four hours, by its page; the doors must have been read."""
    if state.get("held"):
        return
    tenant = TENANTS[0].slug
    with Visitor() as visitor:
        found = _manage(visitor, state, portal_url, tenant, "devices/?view=list")
        link = re.search(rf'href="([^"]*/devices/[^"/]+/)"[^>]*>\s*{HELD}', found.text)
        if link is None:
            raise UnexpectedPage(f"{found.url} has no door called {HELD}")
        visitor.open(f"{portal_url}{link[1]}")
        form = visitor.form(field="end")
        visitor.send(form, end="240", control=next(value for name, value in form.buttons if name == "control"))
    state.keep("held", True)


def set_up_cameras(state: State, portal_url: str, sandbox_url: str) -> None:
    """Enter the first tenant's cameras by its pages, each tied to its door, and look at them once."""
    if state.get("cameras"):
        return
    tenant = TENANTS[0].slug
    found = _told(sandbox_url, "cameras", state.get("sandbox_tenants")[tenant]["tenant_id"])
    wall = f"{portal_url}/t/{tenant}/cameras/"
    with Visitor() as visitor:
        _manage(visitor, state, portal_url, tenant, "cameras/new/")
        visitor.send(visitor.form(field="cameras"), cameras="\n".join(f"{c['camera_id']}, {c['name']}" for c in found))
        at_doors = [each for each in found if each["device_id"]]
        for number, each in enumerate(at_doors):
            visitor.open(f"{wall}{each['camera_id']}/edit/")
            intercom = {"is_intercom": "on"} if number < INTERCOMS else {}
            visitor.send(visitor.form(field="name"), doors=[each["device_id"]], **intercom)
        visitor.open(wall)
    state.keep("cameras", True)


def collect_evidence(state: State, portal_url: str, sandbox_url: str) -> None:
    """Open an incident of the first tenant by its pages, with records, video and a note, and have it exported."""
    if state.get("evidence"):
        return
    tenant = TENANTS[0].slug
    tenant_id = state.get("sandbox_tenants")[tenant]["tenant_id"]
    told = {name: _told(sandbox_url, name, tenant_id) for name in ("cameras", "histories")}
    watched = {each["device_id"] for each in told["cameras"] if each["device_id"] and each["is_connected"]}
    passed = [each for each in told["histories"] if each["device"] and each["device"]["id"] in watched]
    newest = max(passed, key=lambda each: str(each["datetime"]))
    with Visitor() as visitor:
        _manage(visitor, state, portal_url, tenant, "evidence/new/")
        visitor.send(visitor.form(field="title"), title=INCIDENT, began_at=newest["datetime"][:19])
        page = f"{portal_url}/t/{tenant}/evidence/1/"
        for _ in range(60):  # until the log is read that far
            found = re.findall(r'name="record" value="([^"]+)"', visitor.open(f"{page}records/").text)
            if newest["history_id"] in found:
                visitor.send(visitor.form(field="record"), record=_around(found, newest["history_id"]))
                break
            time.sleep(0.5)
        visitor.open(page)
        visitor.send(visitor.form(field="text"), text=INCIDENT_NOTE)
        for _ in range(60):  # until the video is there
            if "<video" in visitor.open(page).text:
                break
            time.sleep(0.5)
        visitor.send(visitor.form(action="export"))
    state.keep("evidence", True)


def review_access(state: State, portal_url: str) -> None:
    """Start a review of the first tenant's access by its pages, and decide a part of it."""
    if state.get("review"):
        return
    tenant = TENANTS[0].slug
    reviewer = next(each.email for each in PEOPLE if each.role == "reviewer")
    due = (datetime.now(UTC) + timedelta(days=REVIEW_DAYS)).date().isoformat()
    with Visitor() as visitor:
        _manage(visitor, state, portal_url, tenant, "reviews/new/")
        form = visitor.form(field="due_on")
        areas = list(form.boxes["areas"].values())[:REVIEW_AREAS]
        who = [box for name, box in form.boxes["reviewers"].items() if reviewer in name]
        page = str(visitor.send(form, title=REVIEW, areas=areas, due_on=due, reviewers=who).url)
    with Visitor() as visitor:
        _sign_in(visitor, state, portal_url, reviewer, f"/t/{tenant}/reviews/mine/")
        for _ in range(60):  # until rights are listed
            found = re.findall(r'name="press" value="([^"]+:confirm:[^"]+)"', visitor.open(f"{page}mine/").text)
            if len(found) >= REVIEW_AREAS:
                break
            time.sleep(0.5)
        for number, press in enumerate(found[: len(found) // 2], start=1):
            act = press.replace(":confirm:", ":withdraw:") if number % WITHDRAWN_EACH == 0 else press
            visitor.send(visitor.form(action="press"), press=act)
    state.keep("review", True)


def schedule_report(state: State, portal_url: str) -> None:
    """Set up a weekly report of the first tenant by its pages, and have the latest sent at once."""
    if state.get("report"):
        return
    tenant = TENANTS[0].slug
    with Visitor() as visitor:
        _manage(visitor, state, portal_url, tenant, f"reports/schedule/{REPORT}/")
        form = visitor.form(field="hour")
        people = [box for name, box in form.boxes["recipients"].items() if REPORT_TO in name]
        visitor.send(form, recipients=people, language=REPORT_LANGUAGE)
        visitor.send(visitor.form(action="/send/"))
    state.keep("report", True)


def _around(found: list[str], one: str) -> list[str]:
    """Return this record and those before it, as many as the incident collects."""
    last = found.index(one) + 1
    return found[max(last - INCIDENT_RECORDS, 0) : last]


def _told(sandbox_url: str, name: str, tenant_id: str) -> list[dict[str, Any]]:
    """Return what the service holds of a tenant, as its console tells it."""
    answer = httpx2.get(f"{sandbox_url}/console/api/{name}", params={"tenant_id": tenant_id}, timeout=120)
    found: list[dict[str, Any]] = answer.json()[name]
    return found


def _manage(visitor: Visitor, state: State, portal_url: str, tenant: str, page: str) -> httpx2.Response:
    """Sign in as the tenant's facility manager, and come to a page of theirs."""
    manager = next(each.email for each in PEOPLE if each.tenant == tenant and each.role == "facility manager")
    return _sign_in(visitor, state, portal_url, manager, f"/t/{tenant}/{page}")


def _sign_in(visitor: Visitor, state: State, portal_url: str, email: str, path: str) -> httpx2.Response:
    visitor.open(f"{portal_url}/accounts/login/?next={quote(path)}")
    return visitor.send(visitor.form(field="password"), login=email, password=state.passwords[email])


def _areas_read(visitor: Visitor, page: str) -> None:
    """Wait some time for the areas: readiness counts other lists."""
    for _ in range(60):
        visitor.open(page)
        if visitor.form(field="minutes").boxes.get("area_ids"):
            return
        time.sleep(0.5)


def _preset(visitor: Visitor, preset: Preset) -> None:
    form = visitor.form(field="minutes")
    areas = form.boxes.get("area_ids", {})
    chosen = [areas[name] for name in preset.areas if name in areas] or list(areas.values())[:1]
    given: dict[str, Any] = asdict(preset) | {"area_ids": chosen, "ends": "until" if preset.until else "minutes"}
    given.pop("areas")
    visitor.send(form, **given)


def _consent(visitor: Visitor, page: str, service: dict[str, str]) -> None:
    """Go from the connection page to the member site, and back with its administrator's consent."""
    visitor.send(visitor.form(action="/connect/"))
    visitor.send(visitor.form(field="password"), login=service["admin_login"], password=service["admin_password"])
    answer = visitor.send(visitor.form(button="decision"), decision="allow")
    if not str(answer.url).startswith(page):
        raise UnexpectedPage(f"connecting ended at {answer.url} instead of {page}")


def _licence(visitor: Visitor, page: str, service: dict[str, str]) -> None:
    visitor.open(page)
    visitor.send(visitor.form(action="/licence-key/"), **{"licence-value": service["licence_key"]})


def _webhook(visitor: Visitor, page: str, service: dict[str, str]) -> None:
    """Have the service notify the portal of every record, at the address that the portal has now."""
    visitor.open(page)
    form = visitor.form(action="/webhook/on/")
    visitor.send(form, categories=list(form.boxes["categories"].values()))
    visitor.form(action="/webhook/off/")  # on the page once it is on


def _control(sandbox_url: str, what: str, asked: dict[str, Any]) -> dict[str, Any]:
    answer = httpx2.post(f"{sandbox_url}/console/api/{what}", json=asked, timeout=120)
    if not answer.is_success:
        raise SystemExit(f"the sandbox refused {what}: {answer.status_code} {answer.text[:300]}")
    created: dict[str, Any] = answer.json()
    return created


def _portal(commands: list[list[str]], env: Mapping[str, str]) -> None:
    done = subprocess.run(
        [PYTHON, "-c", _SEVERAL],
        cwd=ROOT,
        env={**env, "DJANGO_SETTINGS_MODULE": "portal.site.settings"},
        input=json.dumps(commands),
        text=True,
        capture_output=True,
    )
    if done.returncode:
        raise SystemExit(f"the portal's commands failed:\n{done.stdout}{done.stderr}")
