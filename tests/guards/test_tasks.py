"""Every task says which queue it waits in, what it promises, and for how long it may run."""

import inspect

import pytest

from portal.celery import QUEUES, PromisedTask, app

app.loader.import_default_modules()
OURS = dict(sorted((name, task) for name, task in app.tasks.items() if name.startswith("portal.")))
PROMISES = {"idempotent", "tick"}


def test_there_are_tasks_to_guard():
    assert "portal.intents.tasks.send" in OURS


@pytest.mark.parametrize("task", OURS.values(), ids=list(OURS))
def test_a_task_names_its_queue_its_promise_and_its_limits(task):
    assert isinstance(task, PromisedTask)
    assert task.queue in QUEUES
    assert task.promise in PROMISES
    assert task.acks_late
    assert 0 < task.soft_time_limit < task.time_limit <= app.conf.broker_transport_options["visibility_timeout"]


@pytest.mark.parametrize("task", OURS.values(), ids=list(OURS))
def test_a_task_takes_ids_and_nothing_else(task):
    for parameter in inspect.signature(task.run).parameters.values():
        assert parameter.name.endswith("_id"), f"{task.name} takes {parameter.name}: everything else is in the database"
        assert parameter.annotation in (int, "int")


def test_what_beat_rings_for_exists():
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(OURS)


def test_no_timer_is_left_to_the_broker():
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    timers = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in (root / "portal").rglob("*.py")
        for line in path.read_text().splitlines()
        if "countdown=" in line or "eta=" in line
    ]
    assert timers == [], "timers are due_at columns"
