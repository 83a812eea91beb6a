"""The sandbox as a real server for tests: a separate process on a free port, with its own database.

with Sandbox() as sandbox:
    tenant = sandbox.tenant(members=20)
    answer = sandbox.api("GET", "/v1/members", token=tenant.token)
"""

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from accessapi.transport import tls_context
from tests.support import contrary_sandbox as contrary_service
from tests.support import databases

ROOT = Path(__file__).resolve().parents[2]
_WHERE = re.compile(r"Sandbox listens on (http://\S+)")
_MOST_COPIES = 16
_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class SandboxTenant:
    """A tenant of the sandbox as the console described it, with a token that has all scopes."""

    tenant_id: str
    name: str
    contracts: list[str]
    licence_key: str
    admin_login: str
    admin_password: str
    token: str = field(repr=False, default="")


@dataclass
class SandboxClient:
    """A registered OAuth client."""

    client_id: str
    client_secret: str
    redirect_uris: list[str]


@dataclass
class Model:
    """A tenant that no test changes, its copies that no test has used yet, and how many copies to make next."""

    tenant: SandboxTenant
    copies: list[SandboxTenant] = field(default_factory=list)
    wanted: int = 1


class Sandbox:
    """The server. Start it with `start()` or as a context manager; `stop()` ends the process and drops the database."""

    def __init__(
        self,
        *,
        operations: str = "",
        contrary: bool | None = None,
        database_url: str = "",
        port: int = 0,
        workers: int = 1,
        threads: int = 16,
    ) -> None:
        """Set the server up. `operations` is the text of an overrides file. A given `database_url` is used and kept.

        `contrary`: the service makes the opposite choice wherever the specification leaves one; by default as the run
        sets it.
        """
        self._contrary = (contrary_service.wanted() and not operations) if contrary is None else contrary
        #: Text of the overrides file that a portal needs for it.
        self.overrides = contrary_service.OVERRIDES if self._contrary else operations
        #: Translates tests' addresses. With `operations`, tests must use the service's own addresses.
        self.addresses = contrary_service.Addresses(self.overrides if self._contrary else "")
        self._operations = operations
        self._given = database_url
        self._options = ["--workers", str(workers), "--threads", str(threads)]
        self._port = port
        self._process: subprocess.Popen[str] | None = None
        self._cleanup = contextlib.ExitStack()
        self._http = httpx2.Client(timeout=60, verify=tls_context())
        self.database_url = ""
        self.url = ""
        #: Counts changes at the service, except the creation of tenants.
        self.touched = 0
        self._models: dict[str, Model] = {}

    def __enter__(self) -> "Sandbox":
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> "Sandbox":
        """Create the database, start the server and wait until it listens."""
        self.database_url = self._given or self._cleanup.enter_context(databases.migrated_copy("sandbox"))
        return self.serve()

    def serve(self) -> "Sandbox":
        """Start the server (again) on the database; the port stays the same."""
        command = [sys.executable, "sandbox/manage.py", "serve", "--port", str(self._port), *self._options]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment(),
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_end_with_us,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := _WHERE.search(line):
                self.url = found[1]
                self._port = urlsplit(self.url).port or 0
                return self
        raise RuntimeError(f"the sandbox ended with code {self._process.wait()} before it listened")

    def kill(self) -> None:
        """End the server at once, as a power cut would; the database is kept."""
        if self._process is None:
            return
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for process_id in [self._process.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        self._reap()

    def stop(self) -> None:
        """End the server at once, without an orderly end, and drop its database."""
        self._http.close()
        self.kill()
        self._cleanup.close()

    def _reap(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process = None

    def seed(self, *, tenants: int, members: int, seed: int = 1) -> str:
        """Run the command `seed`; return its output."""
        return self._manage("seed", "--tenants", str(tenants), "--members", str(members), "--seed", str(seed))

    def tenant(self, *, token: bool = True, **wanted: Any) -> SandboxTenant:
        """Create a tenant; takes name, contracts, members, guests, seed, tenant_id, admin_login, admin_password."""
        touched = self.touched
        tenant = SandboxTenant(**self.console("tenants", **wanted))
        if token:
            tenant.token = self.token(tenant.tenant_id)
        self.touched = touched
        return tenant

    def one_like(self, **wanted: Any) -> SandboxTenant:
        """Return a tenant of this kind, as `tenant` takes it: a copy of one that is made once and never changed."""
        kind = json.dumps(wanted, sort_keys=True)
        if kind not in self._models:
            self._models[kind] = Model(self.tenant(token=False, **wanted))
        model = self._models[kind]
        if not model.copies:
            model.copies = self.copies(model.tenant, model.wanted)
            model.wanted = min(2 * model.wanted, _MOST_COPIES)
        return model.copies.pop()

    def copies(self, of: SandboxTenant, number: int = 1) -> list[SandboxTenant]:
        """Return copies of a tenant with its building, people and past as they are now."""
        touched = self.touched
        made = self.console("copies", tenant_id=of.tenant_id, number=number)["tenants"]
        self.touched = touched
        return [SandboxTenant(token=each.pop("access_token"), **each) for each in made]

    def client(self, *redirect_uris: str, **wanted: Any) -> SandboxClient:
        """Register an OAuth client, by default with all scopes (`scopes`)."""
        made = self.console("clients", redirect_uris=list(redirect_uris), **wanted)
        return SandboxClient(made["client_id"], made["client_secret"], made["redirect_uris"])

    def token(self, tenant_id: str, **wanted: Any) -> str:
        """Return an access token without the code flow; takes client_id and scopes."""
        return str(self.console("tokens", tenant_id=tenant_id, **wanted)["access_token"])

    def settings(self, tenant_id: str | None = None, **values: Any) -> dict[str, Any]:
        """Change the sandbox's behaviour for one tenant or all; return the settings in force."""
        return self.console("settings", tenant_id=tenant_id, **values)

    def fault(
        self, kind: str, operation: int | str = 0, tenant_id: str | None = None, *, count: int = 1, **values: Any
    ) -> dict[str, Any]:
        """Request a fault for the next `count` calls: of one operation or any, of one tenant or all.

        `values` are the kind's own (docs/sandbox.md): `sandbox.fault("status", "list_members", status=503)`.
        """
        return self.console("faults", kind=kind, operation=operation, tenant_id=tenant_id, count=count, **values)

    def faults(self, tenant_id: str | None = None) -> list[dict[str, Any]]:
        """Return the faults that are left, oldest first."""
        return list(self.look("faults", tenant_id=tenant_id)["faults"])

    def clear_faults(self, tenant_id: str | None = None) -> int:
        """Remove all faults, or those of one tenant; return how many."""
        self.touched += 1
        query = {"tenant_id": tenant_id} if tenant_id else {}
        answer = self._http.delete(f"{self.url}/console/api/faults", params=query)
        assert answer.is_success, f"{answer.status_code} {answer.text}"
        return int(answer.json()["cleared"])

    def move_clock(self, tenant_id: str | None = None, **by: float) -> datetime:
        """Move the clock of one tenant or all. `by` is what a timedelta takes (`days=30`). Return the time it is then.

        Without `by`: back to the common clock, or the common clock back to the real time.
        """
        move = {"seconds": timedelta(**by).total_seconds()} if by else {"reset": True}
        return datetime.fromisoformat(self.console("clock", tenant_id=tenant_id, **move)["now"])

    def now(self, tenant_id: str | None = None) -> datetime:
        """Return the time for one tenant or for all."""
        return datetime.fromisoformat(self.look("clock", tenant_id=tenant_id)["now"])

    def commands(self, tenant_id: str | None = None) -> list[dict[str, Any]]:
        """Return every physical command that was accepted, oldest first."""
        return list(self.look("commands", tenant_id=tenant_id)["commands"])

    def calls(self, tenant_id: str | None = None, operation: int | None = None) -> list[dict[str, Any]]:
        """Return every call with a known token, oldest first."""
        return list(self.look("calls", tenant_id=tenant_id, operation=operation)["calls"])

    def console(self, what: str, **body: Any) -> dict[str, Any]:
        """POST to the control API; raises AssertionError on a refusal."""
        self.touched += 1
        answer = self._http.post(f"{self.url}/console/api/{what}", json=body)
        assert answer.is_success, f"{answer.status_code} {answer.text}"
        return dict(answer.json())

    def look(self, what: str, **query: Any) -> dict[str, Any]:
        """GET from the control API; raises AssertionError on a refusal."""
        given = {name: value for name, value in query.items() if value is not None}
        answer = self._http.get(f"{self.url}/console/api/{what}", params=given)
        assert answer.is_success, f"{answer.status_code} {answer.text}"
        return dict(answer.json())

    def api(
        self, method: str, path: str, json: Any = None, *, token: str = "", licence: str = "", **options: Any
    ) -> httpx2.Response:
        """Send a call of the API, at its usual address; `options` go to httpx2 (params, content, headers)."""
        self.touched += method != "GET"
        method, path = self.addresses.theirs(method, path)
        headers = dict(options.pop("headers", {}))
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if licence:
            headers["License-Key"] = licence
        if json is not None:
            options["json"] = json
        return self._http.request(method, self.url + path, headers=headers, **options)

    def doors(self, token: str) -> list[dict[str, str]]:
        """Return the doors of a tenant, each with device_id and device_name, under the usual names."""
        shapes = self.addresses.catalogue.shapes
        listed = self.api("GET", "/v1/devices/passes", token=token).json()[shapes.pass_list_key]
        return [{ours: each[theirs] for ours, theirs in shapes.pass_list_names} for each in listed]

    def image(self, operation: str, content: bytes, *, token: str, **path: str) -> httpx2.Response:
        """Register an image in the kind of body that the service takes."""
        self.touched += 1
        row, shapes = self.addresses.catalogue.find(operation), self.addresses.catalogue.shapes
        part = {shapes.image_field: ("picture", content, "image/jpeg")}
        body: dict[str, Any] = {"files": part} if shapes.image_body == "multipart" else {"content": content}
        headers = {"Authorization": f"Bearer {token}"}
        return self._http.request(row.method, self.url + row.path.format(**path), headers=headers, **body)

    def consent(self, client: SandboxClient, tenant: SandboxTenant, *, state: str = "", decision: str = "allow") -> str:
        """Sign in at the member site and decide; return the address that the administrator is sent back to."""
        query = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": client.redirect_uris[0],
        }
        return self.visit(
            f"/oauth2/authorize?{urlencode(query | ({'state': state} if state else {}))}", tenant, decision
        )

    def visit(self, address: str, tenant: SandboxTenant, decision: str = "allow") -> str:
        """Sign in and decide at an authorization address, as a browser would; return the redirect's address."""
        address = address if address.startswith("http") else self.url + address
        with httpx2.Client(timeout=60, verify=tls_context()) as browser:
            page = browser.get(address)
            login = {"login": tenant.admin_login, "password": tenant.admin_password}
            page = browser.post(address, data=login | _csrf(page))
            page = browser.post(address, data={"decision": decision} | _csrf(page))
        assert page.status_code == 302, f"{page.status_code} {page.text}"
        return str(page.headers["Location"])

    def code(self, client: SandboxClient, tenant: SandboxTenant) -> str:
        """Return a fresh authorization code."""
        return parse_qs(urlsplit(self.consent(client, tenant)).query)["code"][0]

    def _manage(self, *arguments: str) -> str:
        command = [sys.executable, "sandbox/manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self._environment(), check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    def _environment(self) -> dict[str, str]:
        environment = dict(os.environ, SANDBOX_DATABASE_URL=self.database_url, SANDBOX_OPERATIONS="")
        environment["SANDBOX_CONTRARY"] = "1" if self._contrary else "0"
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        environment.pop("SANDBOX_CONSOLE", None)
        if self._operations:
            environment["SANDBOX_OPERATIONS"] = self._operations_file()
        return environment

    def _operations_file(self) -> str:
        import tempfile

        if not hasattr(self, "_folder"):
            self._folder = self._cleanup.enter_context(tempfile.TemporaryDirectory())
        path = Path(self._folder) / "operations.toml"
        path.write_text(self._operations, encoding="utf-8")
        return str(path)


def _csrf(page: httpx2.Response) -> dict[str, str]:
    found = _CSRF.search(page.text)
    assert found, page.text
    return {"csrfmiddlewaretoken": found[1]}


def _end_with_us() -> None:
    ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)
