"""Start the demonstration and keep it running, and run the site's commands on its database."""

import contextlib
import fcntl
import json
import os
import secrets
import shlex
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from demo import setup
from demo.data import PEOPLE, TENANTS
from demo.page_client import UnexpectedPage
from demo.state import DemoState
from stack import assets, postgres, valkey
from stack.paths import DEMO, PYTHON, private_folder, write_private
from stack.processes import Server, check_port_is_free, free_port
from stack.programs import Program, Programs, Supervisor, tail
from stack.services import given_database_urls, run_in_foreground, run_in_parallel, site_environment

# Variables that a program needs to reach the demonstration's databases and to decrypt their secrets.
_VARIABLES = (
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_BACKUP_URL",
    "SANDBOX_DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SANDBOX_SECRET_KEY",
    "VAULT_KEYS",
    "PORTAL_URL",
    "ALLOWED_HOSTS",
    "EMAIL_URL",
    "PORTAL_REQUIRE_MFA",
    "PORTAL_INSECURE",
    "PORTAL_EVIDENCE_FILES",
)


def save_environment(env: Mapping[str, str], folder: Path = DEMO) -> None:
    """Save the environment of the demonstration in a private file that a shell can also read."""
    lines = [f"export {name}={shlex.quote(env[name])}\n" for name in _VARIABLES if name in env]
    write_private(folder / "env", "".join(lines))


def delete_environment(folder: Path = DEMO) -> None:
    """Delete the file: the demonstration and its services have ended."""
    (folder / "env").unlink(missing_ok=True)


def load_environment(folder: Path = DEMO) -> dict[str, str]:
    """Return the environment from `save_environment`. Raises SystemExit with advice if no demonstration runs."""
    try:
        text = (folder / "env").read_text()
    except FileNotFoundError:
        raise SystemExit("No demonstration is running from this folder: start it with `make demo`") from None
    return dict(word.split("=", 1) for word in shlex.split(text) if word != "export")


def manage(arguments: Sequence[str], folder: Path = DEMO) -> int:
    """Run `manage.py` with `arguments` in the foreground; return its exit code."""
    return run_in_foreground([PYTHON, "manage.py", *arguments], load_environment(folder))


_READY_SECONDS = 300.0
_DATA, _LOGS = DEMO / "data", DEMO / "logs"


def run(*, port: int, sandbox_port: int, reset: bool) -> int:
    """Start everything, connect the tenants, print the addresses, and run until interrupted."""
    with _exclusive():
        if reset:
            _reset()
        (DEMO / "demo.json").unlink(missing_ok=True)
        check_port_is_free(port, "PORT")
        check_port_is_free(sandbox_port, "SANDBOX_PORT")
        supervisor = Supervisor()
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, supervisor.interrupt)
        try:
            _keep_running(supervisor, port, sandbox_port)
        except KeyboardInterrupt:
            print("\nStopping.", flush=True)
        except (UnexpectedPage, RuntimeError, TimeoutError) as error:
            raise SystemExit(f"The demonstration could not start: {error}\nIts logs: {_LOGS}") from error
        finally:
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(each, signal.SIG_IGN)
            supervisor.stop()
            delete_environment()
    return 0


@contextlib.contextmanager
def _exclusive() -> Iterator[None]:
    with (private_folder(DEMO) / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("a demonstration is running from this folder already") from None
        yield


def _reset() -> None:
    if os.environ.get("DATABASE_URL") or os.environ.get("REDIS_URL"):
        raise SystemExit("RESET=1 empties only databases of its own: empty DATABASE_URL and REDIS_URL yourself")
    postgres.delete_home(_DATA)
    (DEMO / "state.json").unlink(missing_ok=True)


def _keep_running(supervisor: Supervisor, port: int, sandbox_port: int) -> None:
    portal_url, sandbox_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{sandbox_port}"
    state = DemoState(DEMO, os.environ.get("DATABASE_URL", ""))
    for log in private_folder(_LOGS).glob("*.log"):
        log.unlink()
    _print_step("Preparing the browser's files and the translations")
    assets.build()
    _print_step("Starting PostgreSQL and Valkey")
    preparing = DEMO / "preparing"  # while this file exists, the site reports that it is not ready
    env = _environment(supervisor, state, portal_url, preparing)
    _print_step("Bringing the databases up to date")
    _migrate(env)
    programs = Programs(env, _LOGS)
    sandbox = programs.sandbox(sandbox_port)
    supervisor.add(sandbox)
    _wait(supervisor, f"{sandbox_url}/healthz", sandbox)
    _print_step("Furnishing the sandbox and the portal")
    setup.create_sandbox_tenants(state, sandbox_url)
    setup.create_portal_tenants(state, env, private_folder(DEMO / "secrets"), portal_url, sandbox_url)
    web = programs.web(port)
    for program in (
        web,
        programs.worker("urgent", "doors,interactive", 2),
        programs.worker("steady", "bulk,sync", 2),
        programs.beat(),
    ):
        supervisor.add(program)
    _wait(supervisor, f"{portal_url}/healthz", web)
    _print_step("Connecting the tenants by their administrators' consent")
    setup.connect(state, portal_url)
    _print_addresses(state, portal_url, sandbox_url)
    _print_step("First synchronisation")
    _wait_until_loaded(supervisor, portal_url, env["PORTAL_METRICS_TOKEN"])
    preparing.unlink()
    _wait(supervisor, f"{portal_url}/readyz", web)
    _add_data(state, portal_url, sandbox_url)
    _print_step(f"Ready: {portal_url}  (Ctrl-C stops it, the next start continues)")
    while True:
        supervisor.check_programs()
        time.sleep(0.2)


def _environment(supervisor: Supervisor, state: DemoState, portal_url: str, preparing: Path) -> dict[str, str]:
    """Start the services and return the environment of all programs."""
    env = dict(os.environ) | site_environment(state.secret_key, state.vault_key, portal_url)
    env["SANDBOX_SECRET_KEY"] = state.sandbox_key
    env.setdefault("PORTAL_EVIDENCE_FILES", str(DEMO / "evidence"))
    env.setdefault("PORTAL_METRICS_TOKEN", secrets.token_urlsafe(24))
    preparing.touch()
    env["PORTAL_PREPARING_FILE"] = str(preparing)
    env |= _database(supervisor) | _broker(supervisor)
    save_environment(env)
    return env


def _migrate(env: dict[str, str]) -> None:
    """Bring the databases and static files up to date. Afterwards `env` has no address of the tables' owner."""
    run_in_parallel(
        [
            [PYTHON, "manage.py", "migrate", "--verbosity", "0"],
            [PYTHON, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"],
        ],
        env,
        _LOGS,
    )
    for address in ("DATABASE_OWNER_URL", "DATABASE_BACKUP_URL"):
        env.pop(address, None)  # from here on, no program may change the tables or bypass row security


def _add_data(state: DemoState, portal_url: str, sandbox_url: str) -> None:
    """Use the portal as its staff would, so that each page has something to show."""
    setup.set_up_desks(state, portal_url)
    setup.set_up_plan(state, portal_url)
    setup.hold_door(state, portal_url)
    setup.set_up_cameras(state, portal_url, sandbox_url)
    setup.collect_evidence(state, portal_url, sandbox_url)
    setup.review_access(state, portal_url)
    setup.schedule_report(state, portal_url)


def _database(supervisor: Supervisor) -> dict[str, str]:
    if given := os.environ.get("DATABASE_URL"):
        return given_database_urls(given)
    who = postgres.unprivileged_account()
    home = postgres.create_home(_DATA, who)
    cluster, log, port = postgres.create(home, "cluster-18", who), _LOGS / "postgres.log", free_port()
    addresses: dict[str, str] = {}

    def start() -> Server:
        server, found = postgres.start(home, cluster, who, log=log, without_durability=False, port=port)
        addresses.update(found)
        return server

    supervisor.add(Program("PostgreSQL", start, 4, log, stop_signal=signal.SIGINT))
    return addresses


def _broker(supervisor: Supervisor) -> dict[str, str]:
    if given := os.environ.get("REDIS_URL"):
        return {"REDIS_URL": given}
    log, port, password = _LOGS / "valkey.log", free_port(), valkey.new_password()
    found: list[str] = []

    def start() -> Server:
        server, url = valkey.start(_DATA / "valkey", log=log, durable=True, port=port, password=password)
        found[:] = [url]
        return server

    supervisor.add(Program("Valkey", start, 3, log))
    return {"REDIS_URL": found[0]}


def _wait(supervisor: Supervisor, url: str, program: Program) -> None:
    until, last = time.monotonic() + _READY_SECONDS, ""
    while time.monotonic() < until:
        supervisor.check_programs()
        try:
            with urlopen(url, timeout=5) as answer:  # noqa: S310 - our own address
                if answer.status == 200:
                    return
        except (URLError, OSError) as error:
            last = _error_text(error)
        time.sleep(0.1)
    raise SystemExit(f"{url} did not answer within {_READY_SECONDS:.0f} s: {last}\n{tail(program.log)}")


def _wait_until_loaded(supervisor: Supervisor, portal_url: str, token: str) -> None:
    """Wait until the members of every connected tenant were read once, according to the site's metrics."""
    request = Request(f"{portal_url}/metrics", headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - our own
    until = time.monotonic() + _READY_SECONDS
    while time.monotonic() < until:
        supervisor.check_programs()
        with contextlib.suppress(URLError, OSError), urlopen(request, timeout=5) as answer:  # noqa: S310 - our own
            if "\nportal_tenants_never_loaded 0.0\n" in answer.read().decode():
                return
        time.sleep(0.2)
    raise SystemExit(f"The tenants' members were not read within {_READY_SECONDS:.0f} s.\nIts logs: {_LOGS}")


def _error_text(error: Exception) -> str:
    reader = getattr(error, "read", None)
    return f"{error} {reader().decode(errors='replace')[:500]}" if reader else str(error)


def _print_addresses(state: DemoState, portal_url: str, sandbox_url: str) -> None:
    accounts = [
        {
            "email": each.email,
            "password": state.passwords[each.email],
            "role": each.role,
            "tenant": each.tenant or None,
        }
        for each in PEOPLE
    ]
    addresses = {
        "portal": portal_url,
        "sandbox": sandbox_url,
        "console": f"{sandbox_url}/console/",
        "tenants": [each.slug for each in TENANTS],
        "accounts": accounts,
    }
    write_private(DEMO / "demo.json", json.dumps(addresses, indent=2, ensure_ascii=False) + "\n")
    print(f"\n  Portal   {portal_url}\n  Sandbox  {sandbox_url}, its console {addresses['console']}\n\n  Sign in with:")
    for entry in accounts:
        print(f"    {entry['email']:36} {entry['password']:22} {entry['role']:18} {entry['tenant'] or ''}")
    print("\n  At the sandbox's member site (to connect a tenant again):")
    for slug, service in (state.load("sandbox_tenants") or {}).items():
        print(f"    {service['admin_login']:36} {service['admin_password']:22} administrator      {slug}")
    print(f"\n  The same in {Path('.demo/demo.json')}; logs in {Path('.demo/logs')}")
    print('  The site\'s commands on this database: make manage ARGS="…"\n', flush=True)


def _print_step(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
