"""Token reissue: one call a round for any number of requests, and never without a token that works."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from accessapi.errors import ServiceError
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from tenants.connections.reissue import ReissueOutcome, reissue
from tenants.models import Connection
from tenants.postgresql import session_locks
from tests.support import faults
from tests.support.effort import one_in
from tests.support.faults import Gate
from tests.support.house import House, together
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

UPDATE = "POST /oauth2/update"
PROOF = "GET /v1/tenant"
State = Connection.State


def works(customer: Customer) -> bool:
    """Check whether the tenant's next call is answered."""
    with customer.scope(), client(customer.connection(), Priority.PEOPLE) as service:
        try:
            service.call("get_tenant")
        except ServiceError:
            return False
    return True


def one_round(customer: Customer, workers: int) -> list[ReissueOutcome]:
    """Let so many people press "reissue" at the same moment, with the same page open."""
    owner = customer.staff("owner")
    seen = customer.connection()

    def press(_: int) -> ReissueOutcome:
        with customer.scope():
            return reissue(connection=seen, by=owner).outcome

    return together(press, workers)


def test_one_call_a_round_and_the_new_token_works(house: House, stage: Stage) -> None:
    customer = stage.customer()
    for number in range(1, 4):
        before = customer.connection().access_token
        outcomes = one_round(customer, 10)
        assert set(outcomes) == {ReissueOutcome.DONE}
        assert stage.proxy.count(UPDATE) == number
        assert customer.connection().access_token != before
        assert works(customer)


# Steps at which the reissuing process is killed: the state of the proxy, and whether a token works afterwards.
def _held(customer: Customer, pattern: str, *, after: bool) -> Callable[[], None]:
    gate = Gate(after=after)
    rule = customer.stage.proxy.on(pattern, gate, times=1)

    def reached() -> None:
        rule.wait()
        if after:
            assert gate.forwarded.wait(60)

    return reached


STEPS: dict[str, tuple[str, bool, bool]] = {
    "on its way": (UPDATE, False, True),
    "answer on its way": (UPDATE, True, False),  # the service has ended the old token, and the answer is lost
    "trying the new one": (PROOF, False, True),
}


def kill_at(house: House, customer: Customer, name: str) -> tuple[bool, Connection]:
    pattern, after, _ = STEPS[name]
    owner = customer.staff("owner")
    reached = _held(customer, pattern, after=after)
    code = f"""
from tenants.models import Connection, User
from tenants.scope import tenant_scope
from tenants.connections.reissue import reissue
with tenant_scope({customer.tenant.pk}):
    row = Connection.objects.select_related("tenant__environment").get()
    reissue(connection=row, by=User.objects.get(pk={owner.pk}))
"""
    with house.python(code) as process:
        reached()
        process.kill()
    customer.stage.proxy.clear()
    # Not counting the locks that mark running processes, those of the clock included.
    until(lambda: not house.sql("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid <> %s AND database ="
                                " (SELECT oid FROM pg_database WHERE datname = current_database())",
                                session_locks.LOCK_KIND),
          saying="the dead process's lock is gone")  # fmt: skip
    return works(customer) or works(customer), customer.connection()


@pytest.mark.parametrize("name", one_in(3, STEPS))
def test_killed_on_the_way(house: House, stage: Stage, name: str) -> None:
    customer = stage.customer()
    still, connection = kill_at(house, customer, name)
    assert still is STEPS[name][2]
    assert connection.state == (State.CONNECTED if still else State.BROKEN)
    if not still:  # then the page reports this, and offers to reconnect
        with customer.browser("owner") as browser:
            page = browser.get(customer.url("connection/"))
        assert "Reconnect" in page.text


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (faults.reset_before, ReissueOutcome.ANSWER_LOST),  # the old token still works
        (faults.answer(500), ReissueOutcome.ANSWER_LOST),
        (faults.answer(400, b'{"error":"invalid_request"}'), ReissueOutcome.REFUSED),
        (faults.reset_after, ReissueOutcome.BROKEN),  # the service ended it: "reconnect" is shown
        (faults.answer(200, b'{"token_type":"Bearer"}', applied=True), ReissueOutcome.BROKEN),
    ],
)
@pytest.mark.quick
def test_what_the_service_answers(house: House, stage: Stage, fault: faults.Fault, outcome: ReissueOutcome) -> None:
    customer = stage.customer()
    with stage.proxy.during(UPDATE, fault), customer.scope():
        found = reissue(connection=customer.connection(), by=customer.staff("owner")).outcome
    assert found == outcome
    assert works(customer) is (outcome != ReissueOutcome.BROKEN)
    assert customer.connection().is_connected is (outcome != ReissueOutcome.BROKEN)
    assert stage.proxy.count(UPDATE, forwarded=False) == 1


@pytest.mark.soak
def test_a_hundred_rounds(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    customer = stage.customer(behaviour={"limited": False})
    house.sql("DELETE FROM budget_callcount WHERE tenant_id = %s", customer.tenant.pk)
    without = 0
    for _ in range(100):
        outcomes = one_round(customer, 20)
        assert set(outcomes) == {ReissueOutcome.DONE}
        with customer.scope():
            token = customer.connection().access_token or ""
        answered = house.sandbox.api("GET", "/v1/tenant", token=token).status_code == 200
        without += not answered
    calls = stage.proxy.count(UPDATE)
    figure("token reissue", "20 workers, 100 rounds: calls", calls, "100")
    figure("token reissue", "rounds that left no working token", without, "0")
    assert (calls, without) == (100, 0)


@pytest.mark.soak
def test_killed_at_each_step_ten_times(house: House, figure: Callable[..., None]) -> None:
    for name, (_, _, must) in STEPS.items():
        wrong = 0
        for _ in range(10):
            with ExitStack() as stack:
                customer = stack.enter_context(house.stage()).customer()
                still, connection = kill_at(house, customer, name)
                wrong += still is not must or connection.is_connected is not must
        shown = "a token works" if must else "“reconnect” is shown"
        figure("token reissue", f"SIGKILL {name}, 10 times: not so that {shown}", wrong, "0")
        assert wrong == 0
