"""Pages that refresh: how many two small web processes serve by polling and by streams, and at what cost.

The streams are those of `bench/beside.py`: they exist here only. Both go to the same gunicorn, through nginx where
NGINX_PROGRAM names it. Without nginx, each request opens a new connection.
"""

import json
import os
import secrets
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase

from bench.beside import LARGE
from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from stack.paths import PYTHON, ROOT
from stack.processes import free_port, wait_until
from tenants.models import Staff, User
from tenants.scope import tenant_scope
from tenants.staff.sessions import SessionStore
from tests.support.chromium import chromium, end

_PATH = f"/t/{LARGE}/logs/"
STREAM = "/stream/"
_TABS = 6  # connections that a browser opens to one host over HTTP/1.1
# Share of a processor core, for all web processes together.
CORE = 0.6


def pages(ground: Ground) -> list[Figure]:
    """Measure open pages by polling, then as many streams, and the seventh tab of a browser with either."""
    count, seconds = ground.sizes.pages, ground.sizes.seconds
    again = ground.sizes.again("live", pages=count, seconds=seconds)
    cookies = _sessions(ground, count)
    before = _memory(ground)
    with _proxied(ground) as port:
        found = [*_polled(ground, port, cookies, before, again), *_streamed(ground, port, cookies, before, again)]
    return [*found, *_tabs(ground, again)]


_NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{behind}; proxy_set_header Host $http_host; }}
  }}
}}
"""


@contextmanager
def _proxied(ground: Ground) -> Iterator[int]:
    """Yield the port of nginx if it is installed, else the site's own port."""
    program = os.environ.get("NGINX_PROGRAM")
    if not program:
        yield ground.house.port
        return
    with TemporaryDirectory() as folder:
        config, port = Path(folder, "nginx.conf"), free_port()
        config.write_text(_NGINX.format(folder=folder, port=port, behind=ground.house.port))
        with subprocess.Popen([program, "-p", folder, "-c", str(config), "-e", f"{folder}/error.log"]) as proxy:
            try:
                wait_until(lambda: _listens(port), what="nginx", child=proxy, seconds=10)
                say(f"through nginx at {port}")
                yield port
            finally:
                proxy.terminate()


def _listens(port: int) -> bool:
    with socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _polled(ground: Ground, port: int, cookies: list[str], before: float, again: str) -> list[Figure]:
    say(f"{len(cookies)} pages that ask, for {ground.sizes.seconds} s")
    results = _watched(ground, port, _PATH, cookies)
    waits, requests = results["waits"], len(results["took"])
    name = f"{len(cookies)} pages by polling"
    served = f"{results['served']} of {len(cookies)} served, {results['failed']} requests failed"
    memory = f"{results['memory']:.0f} MB, {results['memory'] - before:+.0f} MB"
    return [
        Figure(f"{name}, served", served, memory, results["served"] / len(cookies), ("==", 1), again),
        Figure(f"{name}, processor of the web", f"{100 * results['share']:.0f} % of a core",
               f"{requests / results['seconds']:.0f} requests/s, {ms(results['processor'] / max(1, requests))} each",
               results["share"], ("<=", CORE), again),
        Figure(f"{name}, between two looks", f"p50 {statistics.median(waits):.1f} s",
               f"p95 {percentile(waits, 0.95):.1f} s", command=again),
        Figure(f"{name}, the answer", f"p50 {ms(percentile(results['took'], 0.5))}",
               f"p95 {ms(percentile(results['took'], 0.95))}", command=again),
        Figure(f"{name}, somebody's page meanwhile, p95", ms(percentile(results["pages"], 0.95)),
               f"p50 {ms(percentile(results['pages'], 0.5))}", command=again),
    ]  # fmt: skip


def _streamed(ground: Ground, port: int, cookies: list[str], before: float, again: str) -> list[Figure]:
    say(f"{len(cookies)} streams, for {ground.sizes.seconds} s")
    results = _watched(ground, port, STREAM, cookies, streams=True)
    late = ms(percentile(results["pages"], 0.95)) if results["pages"] else "never answered"
    served = f"{results['served']} of {len(cookies)} served"
    memory = f"{results['memory']:.0f} MB, {results['memory'] - before:+.0f} MB"
    name = f"{len(cookies)} streams"
    return [
        Figure(f"{name}, served", served, memory, command=again),
        Figure(f"{name}, processor of the web", f"{100 * results['share']:.0f} % of a core", command=again),
        Figure(f"{name}, somebody's page meanwhile, p95", late, command=again),
    ]


def _watched(ground: Ground, port: int, path: str, cookies: list[str], *, streams: bool = False) -> dict[str, Any]:
    """Return what a process full of such pages saw, and the processor time that the web processes used."""
    settings = {"port": port, "path": path, "cookies": cookies, "seconds": ground.sizes.seconds,
             "streams": streams, "page": _PATH}  # fmt: skip
    command = [PYTHON, "-m", "bench.watchers"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watchers:
        assert watchers.stdin is not None
        assert watchers.stdout is not None
        watchers.stdin.write(json.dumps(settings) + "\n")
        watchers.stdin.flush()
        watchers.stdout.readline()  # the pages have settled
        before, started = ground.house.web.processor_seconds(), time.monotonic()
        results: dict[str, Any] = json.loads(watchers.stdout.readline())
        results["processor"] = ground.house.web.processor_seconds() - before
        results["seconds"] = time.monotonic() - started
    results["memory"] = _memory(ground)
    results["share"] = results["processor"] / results["seconds"]
    return results


def _tabs(ground: Ground, again: str) -> list[Figure]:
    """Measure how long the seventh tab of a browser takes to open while six others refresh."""
    if not os.environ.get("CHROMIUM"):
        return [Figure("the seventh tab", "", command=again, note="needs CHROMIUM, the path of a browser")]
    say("seven tabs of one browser")
    polling, streaming = (_seventh(ground, streams=streams) for streams in (False, True))
    end()
    return [Figure("the seventh tab opens, by polling", polling, f"with streams: {streaming}", command=again)]


def _seventh(ground: Ground, *, streams: bool) -> str:
    with ExitStack() as cleanup, chromium() as browser:
        context = browser.new_context(base_url=ground.house.url)
        cleanup.callback(context.close)
        for cookie in ground.cookie.split("; "):
            name, _, value = cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": ground.house.url}])
        for _ in range(_TABS):
            tab = context.new_page()
            tab.goto(_PATH)
            if streams:
                tab.evaluate(f"new Promise(done => {{ new EventSource('{STREAM}').onmessage = done }})")
        seventh, started = context.new_page(), time.perf_counter()
        try:
            seventh.goto(_PATH, timeout=10_000, wait_until="commit")
        except Exception as error:
            if "Timeout" not in str(error):
                raise
            return "not within 10 s"
        return ms(time.perf_counter() - started)


def _sessions(ground: Ground, count: int) -> list[str]:
    """Return the session cookies of so many people, who manage the large tenant."""
    assert ground.large is not None
    people = User.objects.bulk_create(
        User(email=f"live-{secrets.token_hex(5)}@example.test", name=f"Live {number}") for number in range(count)
    )
    with tenant_scope(ground.large):
        Staff.objects.bulk_create(Staff(tenant=ground.large, user=user, role="facility manager") for user in people)
    return [f"sessionid={_session(user).session_key}" for user in people]


def _session(user: User) -> SessionBase:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "tenants.staff.sessions.SignedIn"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session


def _memory(ground: Ground) -> float:
    """Return the megabytes that the web processes use; shared memory is counted once."""
    child = ground.house.web.child
    assert child is not None
    kilobytes = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            group = int((folder / "stat").read_text().rpartition(")")[2].split()[2])
            lines = (folder / "smaps_rollup").read_text().splitlines() if group == child.pid else []
        except OSError:
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024
