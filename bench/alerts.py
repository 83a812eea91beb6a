"""The delay from a door forced at the service to the open list of alerts, and to a mailbox."""

import random
import re
import time
from pathlib import Path

from bench.doors import PLENTY
from bench.figures import Figure, percentile
from bench.ground import Ground, say
from bench.hooks import listening
from portal.base.timers.clock import database_now
from portal.domain.alerts.models import Alert, DetectionState
from portal.webhooks.processing import SECONDS_PER_READING
from tests.support.browser import Browser
from tests.support.stage import Customer
from tests.support.waiting import until

_ALERT = re.compile(r"/alerts/(\d+)/")
_MARK = re.compile(r'id="([\w-]+)"[^>]*data-version="(\w+)"')
_MOST = 60.0


def delivery_times(ground: Ground) -> list[Figure]:
    """Measure alerts one after another, with webhooks on, while a person has the list open and gets email."""
    clicks = 1 + ground.sizes.clicks // 4
    say(f"{clicks} alerts on their way to the screen and the mailbox")
    with ground.house.stage(limits=PLENTY) as stage:
        customer = stage.customer()
        person = customer.staff("facility manager")
        listening(customer)
        with customer.scope():
            DetectionState.objects.get_or_create(tenant=customer.tenant)
        with customer.browser(person) as browser:
            page = _Page(browser, customer.url("alerts/"), ground.house.folder / "mails")
            late = [page.after_a_quiet_while(customer) for _ in range(clicks)]
            time.sleep(2 * SECONDS_PER_READING)
            close = [page.seconds_until_delivered(customer, door) for door in customer.doors]
    again = ground.sizes.again("alerts", clicks=ground.sizes.clicks)
    return [
        _line("on the screen", [screen for screen, _mail in late], 5, again),
        _line("in the mailbox", [mail for _screen, mail in late], 5, again),
        _line("on the screen, one door after another", [screen for screen, _mail in close], 5, again),
        _line("in the mailbox, one door after another", [mail for _screen, mail in close], 5, again),
    ]


def _line(where: str, late: list[float], reach: float, again: str) -> Figure:
    last, half = percentile(late, 0.95), percentile(late, 0.5)
    beside = f"p50 {half:.2f} s of {len(late)}"
    return Figure(f"event at the service to an alert {where}, p95", f"{last:.2f} s", beside, last, ("<=", reach), again)


class _Page:
    """The open list of alerts, which refreshes at the pace that the site sets, and a mailbox."""

    def __init__(self, browser: Browser, path: str, mails: Path) -> None:
        self.browser, self.path, self.mails = browser, path, mails
        html = browser.get(path).text
        marks = dict(_MARK.findall(html))
        self.part = next(name for name in marks if name != "banners")
        self.every = float(re.findall(rf'id="{self.part}".*?data-every="([\d.]+)"', html, re.S)[0])
        self.mark, self.seen, self.read = marks[self.part], set(_ALERT.findall(html)), self._mailed()
        self.next = time.monotonic() + self.every

    def after_a_quiet_while(self, customer: Customer) -> tuple[float, float]:
        """Force a door after a quiet time, wait until the list and the mailbox show it, then close the alert."""
        time.sleep(
            2 * SECONDS_PER_READING + random.uniform(2, 4)
        )  # one reading for the door forced, one for the door shut
        door = random.choice(customer.doors)
        found = self.seconds_until_delivered(customer, door)
        where = {"tenant_id": customer.service.tenant_id, "device_id": door}
        customer.house.sandbox.console("doors", **where, action="close")
        with customer.scope():
            until(
                lambda: not Alert.objects.filter(ended_at=None).exists(), _MOST, saying="the log tells that it is over"
            )
            Alert.objects.update(closed_at=database_now(), weight=0)  # the next event is another alert
        return found

    def seconds_until_delivered(self, customer: Customer, door: str) -> tuple[float, float]:
        """Force a door, and return the seconds until the list shows it and until the mailbox has it."""
        where = {"tenant_id": customer.service.tenant_id, "device_id": door}
        customer.house.sandbox.console("doors", **where, action="force")
        happened, screen, mail = time.monotonic(), 0.0, 0.0
        while not (screen and mail):
            if time.monotonic() > happened + _MOST:
                raise RuntimeError(f"not told within {_MOST:.0f} s: screen {screen}, mailbox {mail}")
            time.sleep(0.02)
            mail = mail or (self._has_mail() and time.monotonic() - happened)
            screen = screen or (self._shows() and time.monotonic() - happened)
        return screen, mail

    def _shows(self) -> bool:
        if time.monotonic() < self.next:
            return False
        headers = {"HX-Request": "true", "HX-Target": self.part, "HX-Current-URL": self.path, "X-Version": self.mark}
        answer = self.browser.get(self.path, headers=headers)
        self.next = time.monotonic() + max(self.every, float(answer.headers.get("X-Again", 0)))
        if answer.status_code != 200:
            return False
        self.mark = dict(_MARK.findall(answer.text))[self.part]
        found = set(_ALERT.findall(answer.text)) - self.seen
        self.seen |= found
        return bool(found)

    def _has_mail(self) -> bool:
        found = self._mailed() - self.read
        self.read |= found
        return bool(found)

    def _mailed(self) -> set[Path]:
        return {path for path in self.mails.glob("*") if b"X-Message: alert." in path.read_bytes()}
