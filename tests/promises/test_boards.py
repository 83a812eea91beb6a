"""Boards of doors left open all night never spend what is kept for doors, and twenty cost what one costs."""

from datetime import timedelta

import pytest

from portal.core.budget.priorities import KEPT_FOR_DOORS, KEPT_FOR_PEOPLE, MOST_WITH_BOARDS
from portal.core.mirror.doors import QUIET
from portal.core.mirror.models import PassController
from portal.core.timers.clock import database_now
from portal.devices import sight, watch
from tests.support.house import House, together
from tests.support.stage import Customer

DEVICE, DOORS = 40, 100


def doors_of_a_large_building(customer: Customer) -> None:
    """A hundred doors in the mirror, each read six minutes ago and offline then; most the service does not know."""
    with customer.scope():
        read_at, turn = database_now() - timedelta(minutes=6), database_now() + QUIET - timedelta(minutes=6)
        known = {"status_as_of": read_at, "look_at": turn, "state": "offline", "urgent": False}
        have = set(PassController.objects.values_list("device_id", flat=True))
        more = DOORS - len(have)
        PassController.objects.update(**known)
        PassController.objects.bulk_create(
            PassController(device_id=f"board-{number}", device_name=f"Door {number}", **known) for number in range(more)
        )


def watches(customer: Customer, viewers: int) -> None:
    """So many boards ask, and the watch reads for them in four workers, more often than the hour lasts."""

    def look(_viewer: int) -> None:
        with customer.scope():
            sight.mark()

    def read(_worker: int) -> None:
        with customer.scope():
            for _ in range(8):
                watch.read_stale()

    together(look, viewers)
    together(read, 4)


@pytest.mark.parametrize("viewers", [1, 20])
def test_boards_of_a_hundred_doors_leave_the_doors_and_people_their_share(house: House, viewers: int) -> None:
    with house.stage(limits={"general": 720, "device": DEVICE, "window_seconds": 3600}) as small:
        customer = small.customer()
        with house.quiet():
            doors_of_a_large_building(customer)
            watches(customer, viewers)
            spent = len(customer.calls(26))
        # Four workers may each have seen the last free call at once.
        assert int(DEVICE * MOST_WITH_BOARDS) <= spent <= int(DEVICE * MOST_WITH_BOARDS) + 3
        assert DEVICE - spent >= int(DEVICE * (KEPT_FOR_DOORS + KEPT_FOR_PEOPLE))
        row = customer.settled(customer.unlock())
        assert (row.state, len(customer.arrivals())) == ("succeeded", 1)
