"""Large buildings with an open door board: their doors here and at the service, and hours that pass quickly."""

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

import psycopg
from django.db.models import F

from portal.base.timers.celery_app import enqueue
from portal.devices.status_reading import READ_STALE
from portal.domain.places.models import PassController
from tests.support.browser import Browser
from tests.support.house import together
from tests.support.stage import Customer
from tests.support.waiting import until

# Workers that make no call for this long (seconds) have read all that they may.
_SETTLED = 0.3
_HEARD = 60
_SEEN = re.compile(r'id="board" data-version="(\w+)"')
_MORE = """
INSERT INTO service_passcontroller (tenant_id, device_id, name, area_id, in_out, has_power, is_connected, is_forced)
SELECT tenant_id, 'more-' || number, 'Door ' || number, area_id, in_out, true, true, false FROM
(SELECT * FROM service_passcontroller WHERE tenant_id = %s AND is_connected LIMIT 1) one, generate_series(1, %s) number
"""


def building(customer: Customer, doors: int) -> None:
    """Create doors up to this number at the service and in the portal's local copy. The new ones were not read yet."""
    with customer.scope():
        more = doors - PassController.objects.count()
        PassController.objects.bulk_create(
            PassController(device_id=f"more-{number}", device_name=f"Door {number}") for number in range(1, more + 1)
        )
    with psycopg.connect(customer.house.sandbox.database_url, autocommit=True) as service:
        service.execute(_MORE, [customer.service.tenant_id, more])


def hour(customer: Customer, viewers: int, minutes: Sequence[int] = range(60)) -> int:
    """Return the device calls of an hour, or of some minutes of it, with so many viewers of the board.

    Each minute every board polls as a browser does, and the workers get two notifications, so that two may read at one
    moment. Then all that was read is made a minute older. No call leaves the hour, so nothing else must be moved.
    """
    before = len(customer.calls(26))
    with contextlib.ExitStack() as stack:
        person = customer.staff("guard")
        boards = [Board(customer, stack.enter_context(customer.browser(person))) for _ in range(viewers)]
        for _minute in minutes:
            together(lambda viewer: boards[viewer].ask(), viewers)
            enqueue(READ_STALE, [(customer.tenant.pk,)] * 2)
            # A worker that has not received the first notification yet has read nothing, and makes no calls either.
            until(lambda: len(customer.calls(26)) > before, _HEARD, saying="a worker hears the bell")
            until_quiet(lambda: len(customer.calls(26)))
            _a_minute_later(customer)
    return len(customer.calls(26)) - before


class Board:
    """An open board: it polls with the mark of the state that it shows, as the browser does."""

    def __init__(self, customer: Customer, browser: Browser) -> None:
        self.browser, self.path = browser, customer.url("devices/?view=board")
        self.seen = self._mark(browser.get(self.path).text)

    def ask(self) -> None:
        """Poll once, and keep the new mark if anything changed."""
        headers = {"HX-Request": "true", "HX-Target": "board", "X-Version": self.seen}
        answer = self.browser.get(self.path, headers=headers)
        assert answer.status_code in (200, 204), answer.text[:500]
        self.seen = self._mark(answer.text) if answer.status_code == 200 else self.seen

    def _mark(self, page: str) -> str:
        found = _SEEN.search(page)
        assert found, page[:500]
        return found[1]


def until_quiet(count: Callable[[], int]) -> None:
    """Wait until workers make no more of the calls that are counted."""
    calls, since = count(), time.monotonic()
    while time.monotonic() < since + _SETTLED:
        time.sleep(0.05)
        if (now := count()) != calls:
            calls, since = now, time.monotonic()


def _a_minute_later(customer: Customer) -> None:
    passed = timedelta(minutes=1)
    with customer.scope():
        PassController.objects.update(look_at=F("look_at") - passed, status_as_of=F("status_as_of") - passed)
