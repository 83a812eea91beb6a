"""Door boards that are open all night never use calls reserved for doors, and twenty boards cost as much as one."""

from collections.abc import Callable

import pytest

from portal.domain.budget.priorities import MAX_SHARE_FOR_WATCHED, RESERVED_FOR_DOORS, RESERVED_FOR_PEOPLE
from tests.support.door_boards import building, hour
from tests.support.house import House

DEVICE, DOORS = 40, 100


@pytest.mark.parametrize("viewers", [pytest.param(1, marks=pytest.mark.quick), 20])
def test_boards_of_a_hundred_doors_leave_the_doors_and_people_their_share(
    house: House, viewers: int, figure: Callable[..., None]
) -> None:
    with house.stage(limits={"general": 720, "device": DEVICE, "window_seconds": 3600}) as small:
        customer = small.customer()
        building(customer, DOORS)
        spent = hour(customer, viewers, minutes=range(6))
        figure("boards", f"100 doors, {viewers} viewers, {DEVICE} calls: calls of status", spent, "at most 20")
        assert spent == int(DEVICE * MAX_SHARE_FOR_WATCHED)
        assert DEVICE - spent >= int(DEVICE * (RESERVED_FOR_DOORS + RESERVED_FOR_PEOPLE))
        assert not any(call["status"] == 429 for call in customer.calls())
        row = customer.settled(customer.unlock())
        assert (row.state, len(customer.arrivals())) == ("succeeded", 1)
