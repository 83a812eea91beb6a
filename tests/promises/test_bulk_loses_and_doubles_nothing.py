"""Bulk changes: no row of an import is lost or doubled, and each shows the service's result with its reason."""

import time
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.domain.events import MirrorKind
from portal.domain.intents.models import LOST_CLAIM_SECONDS, Intent
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import queries
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.sync import schedule
from portal.domain.sync.models import MirrorState
from portal.imports import actions
from tests.support import faults
from tests.support.faults import Fault, Gate, Rule
from tests.support.house import House
from tests.support.stage import Customer, Stage
from tests.support.waiting import until

BULK = "POST .*/members/bulk/create"
UNDO = "POST .*/members/bulk/delete"
POLL = "GET .*/v1/requests/"
ENDS = {RowState.SUCCEEDED, RowState.FAILED, RowState.UNCERTAIN, RowState.STOPPED}
TAKEN = "CARDTAKEN0000001"


def mirrored(customer: Customer) -> None:
    """Wait for the first sync: a dry run compares the file with the local copy."""
    with customer.scope():
        schedule.schedule_all(customer.tenant)
        until(
            lambda: (
                MirrorState.objects.filter(kind=MirrorKind.MEMBERS, as_of__isnull=False).exists()
                and MirrorState.objects.filter(kind=MirrorKind.GROUPS, as_of__isnull=False).exists()
            ),
            60,
            saying="the first sync",
        )


def spreadsheet(customer: Customer, count: int) -> bytes:
    """Return a file with so many new people; every tenth has a card that is already used at the service."""
    found = customer.house.sandbox.api("GET", "/v1/membergroups", token=customer.service.token).json()
    group = found["membergroups"][0]["membergroup_id"]
    lines = ["氏名,社員番号,グループ,カード番号"]
    lines += [f"会員{n},{code(n)},{group},{TAKEN if n % 10 == 0 else ''}" for n in range(count)]
    return "\n".join(lines).encode()


def code(number: int) -> str:
    return f"BULK{number:05d}"


def started(customer: Customer, count: int) -> tuple[Job, Requester]:
    """Return a started import after its dry run, and who started it. The refused rows' card is used before."""
    group = customer.house.sandbox.api("GET", "/v1/membergroups", token=customer.service.token).json()
    body = {"member_name": "holder", "membergroup_id": group["membergroups"][0]["membergroup_id"], "card_data": TAKEN}
    assert customer.house.sandbox.api("POST", "/v1/members", body, token=customer.service.token).status_code == 200
    by = customer.asker("facility manager")
    with customer.scope():
        job = actions.upload(by=by, upload=SimpleUploadedFile("people.csv", spreadsheet(customer, count)))
        assert actions.choose_columns(by=by, job=job, chosen=job.sheet.columns, default_group="")
        until(lambda: Job.objects.get(pk=job.pk).state != JobState.MAPPED, saying="the dry run")
        job.refresh_from_db()
        assert job.state == JobState.CHECKED, job.problem
        # The portal may or may not know the card's holder, as the last sync left it. The row is refused in both cases.
        assert job_actions.start(by=by, job=job)
    return job, by


def ended(customer: Customer, job: Job, seconds: float) -> Job:
    def over() -> bool:
        with customer.scope():
            return Job.objects.get(pk=job.pk).state in (JobState.DONE, JobState.STOPPED)

    until(over, seconds, saying=lambda: f"the import ends: {told(customer, job)}", pause=0.25)
    with customer.scope():
        job.refresh_from_db()
    return job


def told(customer: Customer, job: Job) -> object:
    with customer.scope():
        rows = Counter(Row.objects.filter(job=job).values_list("state", flat=True))
        return rows, list(Intent.objects.filter(target=f"import:{job.pk}").values_list("state", "reason", "due_at"))


def at_the_service(customer: Customer) -> Counter[str]:
    """Count how often each imported member exists at the service."""
    found: Counter[str] = Counter()
    query = {"limit": 1000}
    while True:
        page = customer.house.sandbox.api("GET", "/v1/members", token=customer.service.token, params=query).json()
        found.update(m["member_code"] for m in page["members"] if m.get("member_code", "").startswith("BULK"))
        if "last_evaluated_key" not in page:
            return found
        query["last_evaluated_key"] = page["last_evaluated_key"]


def verdict(customer: Customer, job: Job, count: int) -> dict[str, int]:
    """Count what is wrong: rows that are lost, doubled, without an end, or shown with a wrong result."""
    there = at_the_service(customer)
    with customer.scope():
        rows = list(Row.objects.filter(job=job))
    shown = {code(n): next(r for r in rows if r.line == n + 2) for n in range(count)}
    return {
        "lost rows": count - len(rows),
        "doubled members": sum(times > 1 for times in there.values()),
        "rows without an end": sum(row.state not in ENDS and row.action != "refused" for row in rows),
        "shown as done, not there": sum(
            row.state == RowState.SUCCEEDED and not there[name] for name, row in shown.items()
        ),
        "shown as refused, but there": sum(
            row.state in (RowState.FAILED, RowState.STOPPED) and bool(there[name]) for name, row in shown.items()
        ),
        "refused without a reason": sum(
            row.state == RowState.FAILED and not (row.code or row.problems) for row in rows
        ),
    }


CLEAN = dict.fromkeys(("lost rows", "doubled members", "rows without an end", "shown as done, not there",
                       "shown as refused, but there", "refused without a reason"), 0)  # fmt: skip


def run(customer: Customer, count: int, seconds: float = 60) -> tuple[Job, dict[str, int]]:
    mirrored(customer)
    job, _ = started(customer, count)
    ended(customer, job, seconds)
    return job, verdict(customer, job, count)


def test_some_fail_and_each_says_why(house: House, stage: Stage) -> None:
    customer = stage.customer()
    _, found = run(customer, 40)
    assert found == CLEAN
    assert len(at_the_service(customer)) == 36
    assert stage.proxy.count(BULK) == 1


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        (faults.answer(429, x_rate_limit_reset="2"), 1),
        pytest.param(faults.answer(413), 1, marks=pytest.mark.quick),
    ],
)
def test_documented_refusals_are_sent_again_in_time_or_in_parts(
    house: House, stage: Stage, fault: Fault, times: int
) -> None:
    customer = stage.customer()
    stage.proxy.on(BULK, fault, times=times)
    _, found = run(customer, 20)
    assert found == CLEAN
    assert len(at_the_service(customer)) == 18


@pytest.mark.soak
def test_failed_half_way(house: House, stage: Stage) -> None:
    customer = stage.customer(behaviour={"bulk_fail_after": 7})
    _, found = run(customer, 20, 90)
    assert found == CLEAN


# Moments at which the worker that sends or follows is killed.
STEPS: dict[str, tuple[str, bool]] = {
    "request on its way": (BULK, False),
    "request accepted": (BULK, True),
    "asking for progress": (POLL, False),
    "progress on its way": (POLL, True),
}


def kill_workers(house: House, customer: Customer, gate: Gate, rule: Rule, job: Job) -> None:
    """Kill both workers while a call waits at the gate, and start new ones."""
    rule.wait()
    if gate.after:
        assert gate.forwarded.wait(60)
    for worker in (house.urgent, house.steady):
        worker.kill()
    gate.open.set()
    house.mend()
    with customer.scope():
        for intent in queries.intents_of(job):
            customer.age(intent, LOST_CLAIM_SECONDS)


def kill_at(house: House, customer: Customer, name: str, count: int, seconds: float) -> dict[str, int]:
    """Kill both workers at that step and start new ones; return what is wrong afterwards."""
    mirrored(customer)
    pattern, after = STEPS[name]
    gate = Gate(after=after)
    rule = customer.stage.proxy.on(pattern, gate, times=1)
    job, _ = started(customer, count)
    kill_workers(house, customer, gate, rule, job)
    ended(customer, job, seconds)
    return verdict(customer, job, count)


def test_killed_while_following(house: House, stage: Stage) -> None:
    assert kill_at(house, stage.customer(), "asking for progress", 20, 90) == CLEAN


@pytest.mark.parametrize("after", [False, True], ids=["request on its way", "request accepted"])
def test_killed_while_an_import_is_undone(house: House, stage: Stage, after: bool) -> None:
    customer = stage.customer()
    job, found = run(customer, 20)
    assert found == CLEAN
    by, gate = customer.asker("facility manager"), Gate(after=after)
    with customer.scope():
        undo = actions.undo(by=by, job=job)
        assert undo is not None
        rule = stage.proxy.on(UNDO, gate, times=1)
        assert job_actions.start(by=by, job=undo)
    kill_workers(house, customer, gate, rule, undo)
    ended(customer, undo, 90)
    with customer.scope():
        states = Counter(Row.objects.filter(job=undo).values_list("state", flat=True))
    assert (states, at_the_service(customer)) == ({RowState.SUCCEEDED: 18}, Counter())


ANSWERS: dict[str, Fault] = {
    "answer lost": faults.reset_after,
    "request lost": faults.reset_before,
    "5xx, applied": faults.answer(502, applied=True),
    "5xx, not applied": faults.answer(503),
    "not JSON": faults.answer(200, b"<html>", applied=True),
    "black hole": faults.swallow,
}


@pytest.mark.soak
def test_a_thousand_rows_against_everything(house: House, figure: Callable[..., None]) -> None:
    """Import 1,000 rows with workers killed at every step, lost answers, 413, 429, and a request that fails midway."""
    promise = "bulk loses, doubles nothing"

    def tell(what: str, found: dict[str, int], customer: Customer, began: float) -> None:
        there = len(at_the_service(customer))
        figure(promise, f"{what} ({there} created, {time.monotonic() - began:.0f} s): wrong rows",
               sum(found.values()), "0")  # fmt: skip
        assert found == CLEAN

    for name in STEPS:
        with house.stage() as stage:
            customer, began = stage.customer(), time.monotonic()
            tell(f"killed, {name}", kill_at(house, customer, name, 1000, 400), customer, began)
    for name, fault in ANSWERS.items():
        with house.stage() as stage:
            customer, began = stage.customer(), time.monotonic()
            stage.proxy.on(BULK, fault, times=1)
            tell(name, run(customer, 1000, 400)[1], customer, began)
    for name, fault in {"413": faults.answer(413), "429": faults.answer(429, x_rate_limit_reset="5")}.items():
        with house.stage() as stage:
            customer, began = stage.customer(), time.monotonic()
            stage.proxy.on(BULK, fault, times=3)
            tell(f"{name} three times", run(customer, 1000, 400)[1], customer, began)
    with house.stage() as stage:
        customer, began = stage.customer(behaviour={"bulk_fail_after": 333}), time.monotonic()
        tell("state failed half-way", run(customer, 1000, 400)[1], customer, began)
