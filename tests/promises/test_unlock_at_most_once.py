"""Unlock at most once: for any number of deliveries, any killed process and any answer of the service."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from portal.domain.intents.models import LOST_CLAIM_SECONDS, Intent, State
from tests.support import faults
from tests.support.effort import one_in
from tests.support.faults import Fault, Gate
from tests.support.house import House, together
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

DELIVERIES = 20
UNLOCK = r"POST .*/devices/passes/{door}/requests"
SENDINGS = r"POST .*/requests"

# What the service does with the request, and the states in which the intent may end.
ANSWERS: dict[str, tuple[Fault | None, set[str]]] = {
    "ok": (None, {"succeeded"}),
    "late": (faults.delay_answer(2), {"succeeded"}),
    "reset before": (faults.reset_before, {"uncertain"}),
    "reset after": (faults.reset_after, {"uncertain"}),
    "5xx before": (faults.answer(503), {"uncertain"}),
    "5xx after": (faults.answer(500, applied=True), {"uncertain"}),
    "not JSON": (faults.answer(200, b"<html>", applied=True), {"uncertain"}),
    "redirect": (faults.answer(307, applied=True, location="/v1/elsewhere"), {"uncertain"}),
    "cut off": (faults.truncate(5), {"uncertain"}),
    "refused": (faults.answer(400, b'{"error_code":"40002"}'), {"failed"}),
}
SLOW: dict[str, tuple[Fault | None, set[str]]] = {
    "swallowed": (faults.swallow, {"uncertain"}),
    "answer swallowed": (faults.swallow_answer, {"uncertain"}),
    "very late": (faults.delay_answer(12), {"uncertain"}),
}


def deliver(house: House, intent: Intent, times: int = DELIVERIES) -> None:
    house.deliver("portal.domain.intents.tasks.send", intent.tenant_id, intent.pk, queue="doors", times=times)


def attack_answers(
    house: House, stage: Stage, answers: dict[str, tuple[Fault | None, set[str]]]
) -> tuple[int, dict[str, str]]:
    """Unlock one door per answer once, delivered 20 times; return the most arrivals of a click, and the ends."""
    customer = stage.customer()
    asker = customer.asker()
    doors = dict(zip(answers, customer.doors, strict=False))
    for name, (fault, _) in answers.items():
        if fault is not None:
            stage.proxy.on(UNLOCK.format(door=doors[name]), fault)
    intents = {name: customer.unlock(door, by=asker) for name, door in doors.items()}
    for intent in intents.values():
        deliver(house, intent)
    ends = {name: customer.settled(intent).state for name, intent in intents.items()}
    for intent in intents.values():  # once more, after the outcome is known
        deliver(house, intent, 2)
    until(lambda: house.redis().llen("doors") == 0, saying="all messages were taken")
    return max(len(customer.arrivals(door)) for door in doors.values()), ends


def test_one_arrival_whatever_the_service_answers(house: House, stage: Stage) -> None:
    most, ends = attack_answers(house, stage, ANSWERS)
    assert most == 1
    assert {name: end for name, end in ends.items() if end not in ANSWERS[name][1]} == {}


@pytest.mark.quick
def test_one_arrival_for_50_clicks_of_one_form(house: House, stage: Stage) -> None:
    customer = stage.customer(behaviour={"request_latency": 0.3})
    assert len(clicks(customer, 12)) == 12
    assert len(customer.arrivals()) == 1


def clicks(customer: Customer, times: int) -> list[int]:
    """Click one unlock button so many times at the same moment; return the statuses of the answers."""
    page = customer.url(f"devices/{customer.doors[0]}/")
    with customer.browser("guard") as browser:
        form = browser.form(page, "command")

        def click(_: int) -> int:
            return browser.post(form.action, form.values, control="unlock").status_code

        statuses = together(click, times)
        assert set(statuses) == {302}
        with customer.scope():
            assert Intent.objects.filter(operation="operate_door").count() == 1
            intent = Intent.objects.get(operation="operate_door")
        customer.settled(intent)
    return statuses


# A step is a moment of a click: it brings the sending worker to that moment and returns how to release the rest.
Step = Callable[[House, Customer, Intent], Callable[[], None]]


def before_claim(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop the worker while it waits for the row that it wants to claim."""
    lock = house.locked("intents_intent", intent.pk)
    lock.__enter__()
    deliver(house, intent, 1)
    until(house.waiting_for_locks, saying="a worker waits for the row")
    return lambda: lock.__exit__(None, None, None) and None


def before_writing(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop after the claim, before the connection to the service is established."""
    stalled = customer.stage.proxy.stalled()
    stalled.__enter__()
    deliver(house, intent, 1)
    until(lambda: customer.intent(intent).state == State.SENDING, saying="the intent is claimed", pause=0.01)
    return lambda: stalled.__exit__(None, None, None) and None


def _at_gate(house: House, customer: Customer, intent: Intent, *, after: bool) -> Callable[[], None]:
    gate = Gate(after=after)
    rule = customer.stage.proxy.on(SENDINGS, gate, times=1)
    deliver(house, intent, 1)
    rule.wait()
    if after:
        assert gate.forwarded.wait(60)
    return gate.open.set


def written(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop while the request is on its way and the service has not seen it."""
    return _at_gate(house, customer, intent, after=False)


def arrived(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop after the service has opened the door, while its answer is on its way."""
    return _at_gate(house, customer, intent, after=True)


def before_recording(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop when the answer has arrived, and recording it waits for the row."""
    let_go = _at_gate(house, customer, intent, after=True)
    lock = house.locked("intents_intent", intent.pk)
    lock.__enter__()
    let_go()
    until(house.waiting_for_locks, saying="the outcome waits for the row")
    return lambda: lock.__exit__(None, None, None) and None


def following(house: House, customer: Customer, intent: Intent) -> Callable[[], None]:
    """Stop when the command is accepted and a worker polls for the outcome."""
    gate = Gate()
    rule = customer.stage.proxy.on(r"GET .*/v1/requests/", gate, times=1)
    deliver(house, intent, 1)
    until(lambda: customer.intent(intent).state == State.ACCEPTED, saying="the request is accepted")
    # Beat is paused: no one else starts the first poll.
    until(lambda: customer.intent(intent).due_at <= timezone.now(), saying="the first look is due")
    house.deliver("portal.domain.intents.tasks.poll", intent.tenant_id, intent.pk, queue="doors")
    rule.wait()
    return gate.open.set


# The number of arrivals that there must be. None: at most one, as it was on its way.
STEPS: dict[str, tuple[Step, int | None]] = {
    "before claiming": (before_claim, 1),
    "before writing": (before_writing, 0),
    "written": (written, None),
    "arrived": (arrived, 1),
    "before recording": (before_recording, 1),
    "following": (following, 1),
}


def kill_at(house: House, stage: Stage, step: Step, *, wait: bool = False) -> tuple[int, Intent]:
    """Kill the worker at one step, deliver 20 times, start it again, run the sweep. Return the arrivals and the row.

    Without `wait` the claim is made just old enough that its worker counts as lost.
    """
    customer = stage.customer()
    with house.still():
        intent = customer.unlock(rung=False)
        let_go = step(house, customer, intent)
        house.urgent.kill()
        let_go()
        deliver(house, intent)
    house.urgent.start()
    if not wait:
        customer.age(intent, LOST_CLAIM_SECONDS)
    row = customer.settled(intent, 90)
    deliver(house, intent, 2)
    until(lambda: house.redis().llen("doors") == 0, saying="all messages were taken")
    return len(customer.arrivals()), row


@pytest.mark.parametrize("name", one_in(3, ["arrived", "before writing", "before recording"]))
def test_one_arrival_when_the_worker_dies(house: House, stage: Stage, name: str) -> None:
    step, must = STEPS[name]
    arrivals, row = kill_at(house, stage, step)
    assert (arrivals, row.state) == (must, State.UNCERTAIN)


@pytest.mark.soak
def test_every_answer_every_step_every_click(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    promise = "unlock at most once"
    most, ends = attack_answers(house, stage, ANSWERS | SLOW)
    wrong = [name for name, end in ends.items() if end not in (ANSWERS | SLOW)[name][1]]
    figure(promise, f"arrivals per click, {len(ends)} answers x 20 deliveries", most, "at most 1")
    figure(promise, "answers that ended in another state than promised", len(wrong), "0")
    assert (most, wrong) == (1, [])

    for name, (step, must) in STEPS.items():
        arrivals, row = kill_at(house, stage, step, wait=True)
        figure(promise, f"SIGKILL {name}, 20 deliveries: arrivals ({row.state})", arrivals, "at most 1")
        assert arrivals <= 1
        assert must is None or arrivals == must

    customer = stage.customer(behaviour={"request_latency": 0.5})
    clicks(customer, 50)
    figure(promise, "50 double clicks: arrivals", len(customer.arrivals()), "1")
    assert len(customer.arrivals()) == 1
