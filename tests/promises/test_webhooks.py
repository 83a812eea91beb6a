"""Notifications of the service: forged ones are refused, the log misses no record, and the answer is quick."""

import http.client
import secrets
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import psycopg
import pytest
from django.db import connections

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.sync.models import MirrorState
from portal.webhooks import processing
from portal.webhooks.actions import WebhookChange
from portal.webhooks.models import Notification, Webhook
from portal.webhooks.receiving import LONG_WAIT_SECONDS
from stack.processes import free_port
from stack.programs import Programs
from tenants.scope import tenant_scope
from tests.support import faults
from tests.support.effort import SOAK
from tests.support.hooks import Hook, as_bytes, notification
from tests.support.house import House, Process
from tests.support.proxy import TcpProxy
from tests.support.stage import Customer, Stage
from tests.support.waiting import until
from tests.support.webhook_customers import (
    LOG,
    all_posted,
    ask,
    deliveries,
    happen,
    log_of,
    missing,
    read_once,
    row_of,
)  # fmt: skip

TEN_MB = 10 * 1024 * 1024


@pytest.fixture(autouse=True)
def portal_url(house: House, settings: Any) -> None:
    """Use the running site's address, because the service sends its notifications there."""
    settings.PORTAL_URL = house.url


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a tenant whose log was read once."""
    return read_once(stage.customer())


@pytest.mark.quick
def test_nothing_forged_broken_or_long_is_heard(house: House, stage: Stage) -> None:
    customer = stage.customer()
    hook, other = Hook(customer.tenant), Hook(stage.customer().tenant)
    raw = as_bytes(notification("h-right"))
    right, name = hook.headers(raw), hook.signature_header
    url = house.url + hook.path
    with httpx2.Client(timeout=30) as client:

        def post(body: Any, headers: Any, to: str = url) -> int:
            return int(client.post(to, content=body, headers=headers).status_code)

        forged = [
            post(raw, hook.headers(raw, "wrong")),
            post(raw, other.headers(raw)),
            post(raw, hook.headers(raw, "")),
            post(raw, hook.headers(raw, **{name: None})),
            post(raw.replace(b"h-right", b"h-wrong"), right),
            post(raw + b"\n", right),
        ]
        assert forged == [401] * 6
        others = [(each, value) for each, value in right.items() if each != name]
        assert post(raw, [*others, (name, "0" * 64), (name, "1" * 64)]) == 401
        assert post(raw, [*others, (name, "0" * 64), (name, right[name])]) == 204, "a header twice is a list"
        assert post(raw, right, f"{house.url}/hooks/{secrets.token_urlsafe(32)}/") == 404
        long = b"x" * TEN_MB
        assert post(long, hook.headers(long)) == 413
        assert post((long[: 1 << 16] for _ in range(160)), hook.headers(long)) == 413
        deep = b"[" * 200_000
        assert post(deep, hook.headers(deep)) == 204
        assert [post(raw, right) for _ in range(20)] == [204] * 20
    cut_off(house, hook, raw)

    def written() -> set[str]:
        with customer.scope():
            return {each.history_id.partition(" ")[0] for each in Notification.objects.all()}

    until(lambda: len(written()) > 1, saying="the right ones are written")
    assert written() == {"h-right", "sha256"}
    with tenant_scope(other.tenant):
        assert not Notification.objects.exists()


def cut_off(house: House, hook: Hook, raw: bytes) -> None:
    """Close the connection in the middle of a body, for each way to announce its length: nothing is accepted."""
    raw = raw.replace(b"h-right", b"h-cut")
    signed = "".join(f"{name}: {value}\r\n" for name, value in hook.headers(raw).items())
    for announced, sent in (
        (f"Content-Length: {len(raw)}", raw[:-1]),
        (f"Content-Length: {len(raw) + 1}", raw),
        ("Transfer-Encoding: chunked", f"{len(raw) + 5:x}\r\n".encode() + raw),
    ):
        with socket.create_connection(("127.0.0.1", house.port), 10) as line:
            head = f"POST {hook.path} HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\n{signed}{announced}\r\n\r\n"
            line.sendall(head.encode() + sent)
            line.shutdown(socket.SHUT_WR)
            answer = line.recv(1000)
        assert b" 204 " not in answer.split(b"\r\n")[0]


def test_what_was_answered_is_written_though_the_site_is_stopped_right_after(house: House, stage: Stage) -> None:
    customer = stage.customer()
    hook = Hook(customer.tenant)
    bodies = [as_bytes(notification()) for _ in range(5)]
    with psycopg.connect(house.owner_url) as direct, httpx2.Client(timeout=30) as client:
        direct.execute("LOCK TABLE webhooks_notification IN ACCESS EXCLUSIVE MODE")
        assert {client.post(house.url + hook.path, content=raw, headers=hook.headers(raw)).status_code
                for raw in bodies} == {204}  # fmt: skip
        assert house.web.child is not None
        house.web.child.send_signal(signal.SIGTERM)
        time.sleep(1)
        direct.rollback()
    house.web.wait(30)
    assert written(customer) == 5
    house.mend()


@pytest.mark.quick
@pytest.mark.share
def test_a_burst_costs_a_handful_of_calls_and_nothing_is_missing(
    house: House, customer: Customer, figure: Callable[..., None]
) -> None:
    ask(customer, WebhookChange.ON)
    happen(customer, 1)
    until(lambda: row_of(customer).working == Webhook.Working.WORKING, saying="webhooks work")
    until(lambda: not missing(customer), saying="the first record is there")
    assert log_of(customer).every is not None
    times = 1000 if SOAK else 100
    before, begun = len(customer.calls(LOG)), time.monotonic()
    happen(customer, times)
    until(lambda: all_posted(customer) and not missing(customer), saying=lambda: f"{missing(customer)}")
    calls, took = len(customer.calls(LOG)) - before, time.monotonic() - begun
    figure("webhooks", f"{times} notifications in {took:.0f} s: calls of the log", calls, "a handful")
    assert set(deliveries(customer)) == {204}
    # Forced doors are read at once, until reads are due for so many seconds.
    assert calls <= min(
        1 + took / processing.ALARM_PAUSE.total_seconds(),
        (processing.MAX_OWED_FOR_ALARM + took) / processing.SECONDS_PER_READING,
    )


def test_secret_and_address_change_under_way_and_no_notification_is_refused(customer: Customer) -> None:
    ask(customer, WebhookChange.ON)
    done = threading.Event()

    def life() -> int:
        rounds = 0
        while not done.is_set():
            happen(customer, 2)
            rounds += 1
        connections.close_all()
        return rounds

    with ThreadPoolExecutor(1) as threads:
        living = threads.submit(life)
        try:
            for act in (WebhookChange.SECRET, WebhookChange.ADDRESS, WebhookChange.SECRET):
                ask(customer, act)
                time.sleep(1)
        finally:
            done.set()
        assert living.result() > 10
    until(lambda: all_posted(customer) and not missing(customer), saying=lambda: f"{missing(customer)}")
    assert set(deliveries(customer)) == {204}


def test_what_nobody_was_there_to_hear_is_read_with_what_comes_next(house: House, customer: Customer) -> None:
    ask(customer, WebhookChange.ON)
    happen(customer, 1)
    until(lambda: row_of(customer).working == Webhook.Working.WORKING, saying="webhooks work")
    house.web.kill()
    happen(customer, 10)
    until(lambda: all_posted(customer), saying="the service has tried")
    assert deliveries(customer)[None] >= 10
    house.mend()
    happen(customer, 1)
    until(lambda: not missing(customer), saying=lambda: f"missing: {missing(customer)}")


def test_what_the_service_tells_while_its_log_cannot_be_read_is_there_and_then_replaced(
    house: House, customer: Customer, stage: Stage
) -> None:
    ask(customer, WebhookChange.ON)
    happen(customer, 1)
    until(lambda: not missing(customer), saying="the first record is there")

    def provisional() -> int:
        with customer.scope():
            return History.objects.filter(notified=True).count()

    with stage.proxy.during(r"GET .*/v1/histories", faults.answer(503)):
        happen(customer, 5)
        until(lambda: provisional() == 5, saying="what was told is shown")
    with customer.scope():
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now(), error_at=None)
    until(lambda: not provisional() and not missing(customer), saying="the log takes their place")


# 100 a second


@contextmanager
def web_behind(house: House, proxy: TcpProxy, folder: Any) -> Iterator[int]:
    """Yield the port of another web server on the site's database, which it reaches through the proxy."""
    address = urlsplit(house.database_url)
    netloc = address.netloc.replace(f":{address.port}", f":{proxy.port}")
    port = free_port()
    url = urlunsplit(address._replace(netloc=netloc))
    web = Process(Programs(house.env | {"DATABASE_URL": url}, folder).web(port))
    web.start()
    try:
        until(lambda: _answers(port), saying="the other site answers")
        yield port
    finally:
        web.stop()


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
    except httpx2.TransportError:
        return False


def pour(
    port: int, hook: Hook, seconds: float, rate: int = 100
) -> tuple[list[float], list[float], Counter[tuple[bool, int]]]:
    """Post at a steady rate, a tenth forged and a tenth repeated.

    Return the seconds since due times, of the genuine and of the forged ones, and all answers.
    """
    at, total = database_now(), int(seconds * rate)
    begun = time.monotonic() + 0.5
    lines, opened = threading.local(), []

    def one(number: int) -> tuple[float, bool, int]:
        body = as_bytes(notification(f"h-{number - number % 10 if number % 10 == 1 else number}", at=at))
        forged = number % 10 == 2
        headers = hook.headers(body, "wrong" if forged else None)
        due = begun + number / rate
        time.sleep(max(due - time.monotonic(), 0))
        line = getattr(lines, "line", None)
        if line is None:
            line = lines.line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            opened.append(line)
        try:
            line.request("POST", hook.path, body, headers)
            answer = line.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            lines.line = None
            return time.monotonic() - due, forged, 0
        return time.monotonic() - due, forged, answer.status

    with ThreadPoolExecutor(32) as threads:
        found = list(threads.map(one, range(total)))
    for line in opened:
        line.close()
    genuine, forgeries = ([seconds for seconds, forged, _ in found if forged is each] for each in (False, True))
    return genuine, forgeries, Counter((forged, status) for _, forged, status in found)


@contextmanager
def slow(proxy: TcpProxy) -> Iterator[None]:
    """Pause the database for a second and a half, again and again."""
    over = threading.Event()

    def stutter() -> None:
        while not over.is_set():
            proxy.frozen.set()
            over.wait(1.5)
            proxy.frozen.clear()
            over.wait(0.5)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.soak
def test_a_hundred_a_second_are_answered_at_once_though_the_database_is_slow(
    house: House, stage: Stage, figure: Callable[..., None], tmp_path: Any
) -> None:
    customer = stage.customer()
    hook = Hook(customer.tenant)
    with TcpProxy(urlsplit(house.database_url).port or 5432) as proxy, web_behind(house, proxy, tmp_path) as port:
        pour(port, hook, 2)
        answered_at_once(customer, hook, port, nullcontext(), figure, "")
        answered_at_once(customer, hook, port, slow(proxy), figure, ", the database slow")


def answered_at_once(
    customer: Customer, hook: Hook, port: int, around: Any, figure: Callable[..., None], how: str, seconds: int = 60
) -> None:
    until(lambda: row_of(customer).last_received_at is not None, saying="the first are written")
    with customer.scope():
        Notification.objects.all().delete()
    with around:
        took, refused, answers = pour(port, hook, seconds)
    sent = seconds * 100
    wanted, p99 = sent * 8 // 10, quantiles(took, n=100)[98]
    figure("webhooks", f"100 a second for {seconds} s{how}: p99, ms", round(p99 * 1000), "under 300")
    # Before a refusal, a newer secret is waited for.
    longest = max(refused)
    figure("webhooks", f"forgeries{how}: longest, ms", round(longest * 1000), f"under {LONG_WAIT_SECONDS + 0.3:.1f} s")
    figure("webhooks", "forgeries accepted", answers[True, 204], "0")
    assert answers == {(False, 204): sent * 9 // 10, (True, 401): sent // 10}
    until(lambda: written(customer) >= wanted, saying=lambda: f"{written(customer)} are written")
    figure("webhooks", "effects of as many history_ids", written(customer), str(wanted))
    assert written(customer) == wanted
    assert p99 < 0.3
    assert longest < LONG_WAIT_SECONDS + 0.3


def written(customer: Customer) -> int:
    with customer.scope():
        return Notification.objects.count()
