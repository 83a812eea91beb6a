"""A watched building: a board of a hundred doors, and a roll call of three hundred people on five phones."""

import json
import re
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from bench.figures import Figure, ms, percentile
from bench.ground import Ground, say
from portal.base.timers.clock import database_now
from portal.domain.places.models import PassController
from portal.rollcall.models import How, ListedPerson, RollCall
from tests.support.browser import Browser
from tests.support.door_boards import building, hour
from tests.support.stage import Customer

DOORS, VIEWERS = 100, 20
PEOPLE, PHONES = 300, 5
_SEEN = re.compile(r'id="board" data-version="(\w+)"')
_FOLLOWS = 1.5  # seconds between two refreshes of a phone


def board(ground: Ground) -> list[Figure]:
    """Measure the server's time for a board of a hundred doors, of a dozen, and for viewers whose board refreshes."""
    say("a board of a hundred doors")
    again = ground.sizes.again("board", requests=ground.sizes.requests)
    with ground.house.stage() as stage:
        few, many = stage.customer(), stage.customer()
        with many.scope():
            PassController.objects.bulk_create(
                PassController(device_id=f"b-{n}", device_name=f"Door {n}", state="locked", known_at=database_now())
                for n in range(DOORS - PassController.objects.count())
            )
        with few.browser("guard") as small, many.browser("guard") as large:
            times: dict[str, list[float]] = {"few": [], "many": [], "same": []}
            for _ in range(ground.sizes.requests):
                times["few"].append(_timed(small, few))
                times["many"].append(_timed(large, many))
                times["same"].append(_timed(large, many, is_unchanged=True))
        with ThreadPoolExecutor(VIEWERS) as threads:
            people = [many.staff("guard") for _ in range(VIEWERS)]
            late = [each for found in threads.map(lambda user: _views(many, user), people) for each in found]
    middle = {name: percentile(found, 0.5) for name, found in times.items()}
    return [
        Figure(f"a board of {DOORS} doors", ms(middle["many"]), f"a dozen doors {ms(middle['few'])}",
               middle["many"] / middle["few"], ("<=", 3), again),
        Figure("a look at a board that has not changed", ms(middle["same"]), f"drawn {ms(middle['many'])}",
               middle["same"] / middle["many"], ("<=", 0.5), again),
        Figure(f"a look by one of {VIEWERS} viewers, p95", ms(percentile(late, 0.95)), "", percentile(late, 0.95),
               ("<=", 2), again),
    ]  # fmt: skip


def board_calls(ground: Ground) -> list[Figure]:
    """Count the device calls of an hour in which a board of a hundred doors is open, for one viewer and for twenty."""
    say("an hour of a board, twice, in minutes that pass quickly")
    calls = {}
    for viewers in (1, VIEWERS):
        with ground.house.stage() as stage:
            customer = stage.customer()
            building(customer, DOORS)
            calls[viewers] = hour(customer, viewers)
    note = "the device calls of the first hour after a start, when no door was read yet; half of them is the cap"
    return [Figure(f"calls an hour of a board of {DOORS} doors, {VIEWERS} viewers", str(calls[VIEWERS]),
                   f"one viewer {calls[1]}", calls[VIEWERS] / calls[1], ("<=", 1), ground.sizes.again("boardcalls"),
                   note)]  # fmt: skip


def _timed(browser: Browser, customer: Customer, *, is_unchanged: bool = False) -> float:
    path, headers = customer.url("devices/?view=board"), {}
    if is_unchanged:
        found = _SEEN.search(browser.get(path).text)
        headers = {"X-Version": found[1] if found else ""}
    began = time.perf_counter()
    answer = browser.get(path, headers=headers)
    assert answer.status_code == (204 if is_unchanged else 200), answer.status_code
    return time.perf_counter() - began


def _views(customer: Customer, user: object) -> list[float]:
    with customer.browser(user) as browser:  # type: ignore[arg-type]  # a user of the portal
        return [_timed(browser, customer, is_unchanged=True) for _ in range(3)]


def roll_call(ground: Ground) -> list[Figure]:
    """Let five wardens tick sixty people each without pause; measure the seconds until each phone shows all."""
    say("a roll call on five phones")
    with ground.house.stage() as stage:
        customer = stage.customer()
        by = customer.asker().user
        with customer.scope():
            call = RollCall.objects.create(name="Drill", nonce=uuid.uuid4(), started_at=database_now(), started_by=by)
            ListedPerson.objects.bulk_create(
                ListedPerson(roll_call=call, key=f"m-{n}", name=f"Person {n}", how=How.START) for n in range(PEOPLE)
            )
            ids = list(ListedPerson.objects.filter(roll_call=call).values_list("pk", flat=True))
        began = time.monotonic()
        with ThreadPoolExecutor(PHONES) as threads:
            parts = [ids[number::PHONES] for number in range(PHONES)]
            took = list(threads.map(lambda part: _warden(customer, call.pk, part), parts))
    return [
        Figure(f"{PEOPLE} people ticked by {PHONES} wardens: seconds until all see it", f"{max(took) - began:.1f} s",
               "", max(took) - began, ("<=", 10), ground.sizes.again("rollcall"),
               "each phone sends every press by itself and asks for news every 1.5 s"),
    ]  # fmt: skip


def _warden(customer: Customer, call_id: int, part: list[int]) -> float:
    """Tick a part of the list, then refresh until all are ticked. Return when that was."""
    page = customer.url(f"roll-call/{call_id}/")
    with customer.browser("guard") as browser:
        browser.get(page)
        headers = {"Content-Type": "application/json", "X-CSRFToken": browser.http.cookies.get("csrftoken") or ""}
        for listed in part:
            press = {"id": listed, "status": "safe", "at": database_now().isoformat(), "nonce": str(uuid.uuid4())}
            answer = browser.http.post(f"{page}ticks/", content=json.dumps([press]), headers=headers)
            assert answer.status_code == 200, answer.status_code
        while len(_ticked(browser, page)) < PEOPLE:
            time.sleep(_FOLLOWS)
        return time.monotonic()


def _ticked(browser: Browser, page: str) -> set[str]:
    found = browser.get(f"{page}state/?since=0", headers={"X-Version": "nothing"}).json()
    return set(found.get("rows", ()))
