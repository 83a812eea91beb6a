"""Every task names its queue and its time limit, and works for one tenant or looks for due work."""

import inspect

import pytest
from django.db import connection

from portal.base.timers.celery_app import QUEUES, PortalTask, TenantTask, app
from portal.base.timers.timer_registry import TIMERS
from tenants.models import ServiceEnvironment, Tenant
from tenants.scope import current_scope
from tests.support.sources import sources

app.loader.import_default_modules()
OURS = dict(sorted((name, task) for name, task in app.tasks.items() if name.startswith("portal.")))
OF_TENANTS = [task for task in OURS.values() if isinstance(task, TenantTask)]


def test_there_are_tasks_to_guard():
    assert "portal.domain.intents.tasks.send" in OURS


@pytest.mark.parametrize("task", OURS.values(), ids=list(OURS))
def test_a_task_names_its_queue_and_its_limits(task):
    assert isinstance(task, PortalTask)
    assert task.queue in QUEUES
    assert task.acks_late
    assert 0 < task.soft_time_limit < task.time_limit <= app.conf.broker_transport_options["visibility_timeout"]


def test_a_task_without_a_tenant_looks_for_due_work():
    others = {name for name, task in OURS.items() if task not in OF_TENANTS}
    assert others == {f"portal.timers.{name}" for name in TIMERS}


@pytest.mark.parametrize("task", OURS.values(), ids=list(OURS))
def test_a_task_takes_ids_and_nothing_else(task):
    for parameter in inspect.signature(task.run).parameters.values():
        assert parameter.name.endswith("_id"), f"{task.name} takes {parameter.name}: everything else is in the database"
        assert parameter.annotation in (int, "int")


def test_what_beat_rings_for_exists():
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(OURS)


def test_no_timer_is_left_to_the_broker():
    timers = [
        f"{module.name}: {line.strip()}"
        for module in sources("portal")
        for line in module.lines
        if "countdown=" in line or "eta=" in line
    ]
    assert timers == [], "timers are due_at columns"


@pytest.mark.django_db
@pytest.mark.parametrize("task", OF_TENANTS, ids=lambda task: task.name)
def test_a_task_works_for_the_tenant_that_it_is_given_and_no_other(task):
    """Check that the row is looked up among the tenant's own rows, and that nothing is done if it is not there."""
    environment = ServiceEnvironment.objects.create(
        name="x", base_url="http://127.0.0.1:9", client_id="c", client_secret="s"
    )
    tenant = Tenant.objects.create(slug="a", name="A", environment=environment)
    entered = set()

    def watch(execute, *given):
        scope = current_scope()
        entered.add((scope and scope.tenant_id, scope and scope.across_reason))
        return execute(*given)

    with connection.execute_wrapper(watch):
        task(tenant.pk, *[1] * len(inspect.signature(task.run).parameters))
    assert entered - {(None, None)} == {(tenant.pk, "")}
