"""Webhooks: how soon they are answered, how soon the screen shows their events, and the calls that they save."""

import asyncio
import random
import re
import time
from datetime import datetime, timedelta

from django.db.models import F

from accessapi.limits import JST
from bench.doors import PLENTY
from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.sync import schedule, tasks
from portal.domain.sync.models import MirrorState
from portal.webhooks.models import Webhook
from portal.webhooks.processing import SECONDS_PER_READING
from tests.support.browser import Browser
from tests.support.hooks import Hook, all_categories, as_bytes, notification
from tests.support.stage import Customer
from tests.support.waiting import until

RATE = 100
_MARK = re.compile(r'id="([\w-]+)"[^>]*data-version="(\w+)"')


def answers(ground: Ground) -> list[Figure]:
    """Measure notifications sent at an even pace, each on a separate connection, without waiting for slow answers."""
    seconds = ground.sizes.seconds
    say(f"{RATE} notifications a second, for {seconds} s")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = stage.customer()
        took = asyncio.run(_posted(ground.house.port, Hook(customer.tenant), seconds))
    again = ground.sizes.again("webhooks", seconds=seconds)
    late = percentile(took, 0.99)
    return [
        Figure(f"webhook answered at {RATE} a second, p99 in ms", ms(late), f"p50 {ms(percentile(took, 0.5))}",
               late * 1000, ("<=", 300), again, f"the slowest took {ms(max(took))}"),
    ]  # fmt: skip


async def _posted(port: int, hook: Hook, seconds: int) -> list[float]:
    """Return the seconds that each answer took, counted from when it was due to be sent."""
    started = time.perf_counter() + 0.5
    return list(await asyncio.gather(*(_post(port, hook, started + n / RATE) for n in range(RATE * seconds))))


async def _post(port: int, hook: Hook, due: float) -> float:
    await asyncio.sleep(due - time.perf_counter())
    body = as_bytes(notification(at=datetime.now(JST)))
    headers = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body)), **hook.headers(body)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST {hook.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    status = (await reader.readline()).split()[1:2]
    took = time.perf_counter() - due
    writer.close()
    if status != [b"204"]:
        raise RuntimeError(f"a notification was answered with {status}")
    return took


def screen(ground: Ground) -> list[Figure]:
    """Measure the time from an event at a door of the service to an open page of the log."""
    clicks = ground.sizes.clicks
    say(f"{clicks} records on their way to the screen, one after another, then some after a quiet while")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = stage.customer()
        listening(customer)
        with customer.browser("facility manager") as browser:
            page = _Page(browser, customer.url("logs/"))
            busy = [page.seconds_until_shown(customer, random.uniform(0.2, 3)) for _ in range(clicks)]
            quiet = [
                page.seconds_until_shown(customer, SECONDS_PER_READING + random.uniform(2, 4))
                for _ in range(1 + clicks // 8)
            ]
    again = ground.sizes.again("screen", clicks=clicks)
    return [_late("record of a busy house", busy, again), _late("record after a quiet while", quiet, again)]


def _late(name: str, late: list[float], again: str) -> Figure:
    last, reach = percentile(late, 0.95), ("<=", 2.0)
    return Figure(f"{name} to the screen, p95", f"{last:.2f} s", f"p50 {percentile(late, 0.5):.2f} s of {len(late)}",
                  last, reach, again)  # fmt: skip


class _Page:
    """An open page of the log, which refreshes as `static/js/live.js` does."""

    def __init__(self, browser: Browser, path: str) -> None:
        self.browser, self.path = browser, path
        html = browser.get(path).text
        marks = dict(_MARK.findall(html))
        self.part = next(name for name in marks if name != "banners")
        self.marks = {"X-Version": marks[self.part], "X-Version-Banners": marks["banners"]}
        self.next = time.monotonic()

    def seconds_until_shown(self, customer: Customer, quiet: float) -> float:
        """Show an unknown card at a door after some seconds, and return the seconds until the page shows it."""
        time.sleep(quiet)
        device = customer.doors[0]
        happened = time.monotonic()
        answer = customer.house.sandbox.console("present", tenant_id=customer.service.tenant_id, device_id=device,
                                              kind="card", value=f"N{time.monotonic_ns()}")  # fmt: skip
        record = answer["history"]["history_id"]
        while time.monotonic() < happened + 30:
            time.sleep(max(0.0, self.next - time.monotonic()))
            html, again = self._look()
            if record in html:
                return time.monotonic() - happened
            self.next = time.monotonic() + again
        raise RuntimeError("the record was not shown within 30 s")

    def _look(self) -> tuple[str, float]:
        headers = {"HX-Request": "true", "HX-Target": self.part, "HX-Current-URL": self.path, **self.marks}
        answer = self.browser.get(self.path, headers=headers)
        if answer.status_code == 200:
            self.marks["X-Version"] = dict(_MARK.findall(answer.text))[self.part]
        return answer.text, float(answer.headers["X-Again"])


def calls(ground: Ground) -> list[Figure]:
    """Count the calls of an hour without events: with polling alone, and with working webhooks."""
    say("an hour of a tenant where nothing happens, twice")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = stage.customer()
        _loaded(customer)
        polled = _hour(customer)
        listening(customer)
        with customer.scope():
            until(lambda: Webhook.objects.filter(working=Webhook.Working.WORKING).exists(), 60, saying="it is heard")
        hooked = _hour(customer)
    note = "an hour made of the pauses that the mirror takes, without waiting them out"
    return [Figure("calls an hour of an idle tenant with webhooks", str(hooked), f"polled {polled}", hooked / polled,
                   ("<=", 0.5), ground.sizes.again("calls"), note)]  # fmt: skip


def _hour(customer: Customer) -> int:
    """Return the calls that the mirror makes in an hour. Waiting is skipped: all due times are moved nearer instead."""
    before, left = len(customer.calls()), 3600.0
    with customer.scope():
        while True:
            due = MirrorState.objects.filter(due_at__isnull=False).order_by("due_at")[0].due_at
            wait = max(0.0, (due - database_now()).total_seconds())
            left -= wait
            if left < 0:
                return len(customer.calls()) - before
            _pass(timedelta(seconds=wait))
            tasks.read_due()


def _pass(time_gone: timedelta) -> None:
    for state in MirrorState.objects.all():
        marks = state.memory.get("late_at", {})
        state.memory |= {"late_at": {name: _earlier(at, time_gone) for name, at in marks.items()}} if marks else {}
        MirrorState.objects.filter(pk=state.pk).update(due_at=F("due_at") - time_gone, memory=state.memory)


def _earlier(moment: str, by: timedelta) -> str:
    return (datetime.fromisoformat(moment) - by).isoformat()


def listening(customer: Customer) -> None:
    """Set the service's webhook, load the log, and wait until a first notification has arrived."""
    _loaded(customer)
    hook = Hook(customer.tenant)
    settings = {"is_invalid": False, "url": f"{customer.house.url}{hook.path}", "secret_token": hook.secret,
                "trigger": {"history": {"category": all_categories(customer.tenant)}}}  # fmt: skip
    answer = customer.house.sandbox.api("PUT", "/v1/tenant/webhook", settings, token=customer.service.token)
    if not answer.is_success:
        raise RuntimeError(f"the webhook was refused: {answer.text}")
    customer.house.sandbox.console("present", tenant_id=customer.service.tenant_id, device_id=customer.doors[0],
                                   kind="card", value="first")  # fmt: skip
    until(lambda: hook.row.last_received_at is not None, 60, saying="the first notification is heard")


def _loaded(customer: Customer) -> None:
    with customer.scope():
        schedule.schedule_all(customer.tenant)
        until(lambda: not MirrorState.objects.filter(due_at__lte=database_now()).exists(), 120, saying="all is read")
        MirrorState.objects.filter(kind=MirrorKind.RIGHTS).update(due_at=None)
