"""Lists that were uploaded before they were jobs are there as they were: addresses, rows, visits and requests."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from portal.core.intents.models import Intent
from portal.core.intents.outcome import settle_unsent
from portal.core.intents.states import Reason, State
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action, JobState, RowState
from portal.core.visits.models import Visit
from portal.expected.reading import stored
from portal.guests.issuing import Order, issue
from portal.today import erasing
from tenants.scope import across_tenants, tenant_scope
from tests.receptionist.test_expected import Desk
from tests.support.codes import url
from tests.support.members import said
from tests.support.places import fresh_nonce


def migrate(name):
    executor = MigrationExecutor(connection)
    state = executor.migrate([("expected", name)])
    return state.apps


def order(name):
    start = timezone.now() + timedelta(days=1)
    return Order(name=name, start=start, end=start + timedelta(hours=2))


def asked(place, name):
    """A visit that a list asked for."""
    [visit] = issue(orders=[order(name)], by=place.asker, nonce=fresh_nonce(), inline=False)
    return visit


@pytest.fixture
def old(place):
    """A running list as it was kept before, with a row in every state, and one that was erased."""
    apps = migrate("0001_initial")
    lists, rows = apps.get_model("expected", "ExpectedList"), apps.get_model("expected", "ExpectedRow")
    with tenant_scope(place.tenant):
        under_way, issued, unclear = (asked(place, name) for name in ("Way", "Issued", "Unclear"))
        Intent.objects.filter(pk=issued.intent_id).update(state=State.SUCCEEDED)
        Visit.objects.filter(pk=issued.pk).update(stage="issued", guest_id="G1")
        Intent.objects.filter(pk=unclear.intent_id).update(state=State.UNCERTAIN)
        stopped = asked(place, "Stopped")
        settle_unsent(stopped.intent, State.CANCELLED, Reason.STOPPED)
    told = {
        "tenant_id": place.tenant.pk,
        "by_id": place.asker.user.pk,
        "started_at": timezone.now(),
        "headings": ["Name"],
    }
    with across_tenants("a test writes what was"):
        for _ in range(3):
            gone = lists.objects.create(**told, name="", fingerprint=b"2", state="done", erased_at=timezone.now())
        kept = lists.objects.create(
            **told,
            name="day.csv",
            fingerprint=b"1",
            mail=True,
            with_doubles=True,
            state="running",
            last_end=timezone.now(),
        )
        twin = ["name", "double_line", {"line": 2}]
        made = [
            ("ready", "asked", under_way, []), ("double", "asked", issued, [twin]),
            ("ready", "asked", unclear, [["remarks", "unsent_remarks", {}]]), ("ready", "asked", stopped, []),
            ("ready", "pending", None, [["name", "waits", {}]]), ("double", "left_out", None, [twin]),
            ("ready", "left_out", None, [["name", "appeared", {}]]), ("refused", "", None, [["name", "missing", {}]]),
            ("ready", "left_out", None, [["", "stopped", {}]]),
        ]  # fmt: skip
        for line, (verdict, state, visit, problems) in enumerate(made, start=2):
            rows.objects.create(
                tenant_id=place.tenant.pk, job=kept, line=line, verdict=verdict, state=state, problems=problems,
                marks=[7], visit_id=visit and visit.pk,
                content={"cells": ["a"], "order": stored(order(f"N{line}"))},
            )  # fmt: skip
        rows.objects.create(tenant_id=place.tenant.pk, job=gone, line=2, verdict="ready", content=None)
    return kept.pk, gone.pk, under_way.intent_id


def test_every_list_is_a_job_and_is_found_by_its_number(place, old):
    kept, gone, under_way = old
    migrate("0002_lists_are_jobs")
    with tenant_scope(place.tenant):
        job = Job.objects.get(kind="expected", options__list=kept)
        assert (str(job.title), job.state, job.size) == ("day.csv", JobState.RUNNING, 9)
        assert job.options["mail"]
        assert job.options["doubles"]
        assert job.pk > kept
        rows = {row.line: row for row in Row.objects.filter(job=job)}
        assert {line: (row.action, row.state) for line, row in rows.items()} == {
            2: (Action.CREATE, RowState.SENT), 3: (Action.CREATE, RowState.SUCCEEDED),
            4: (Action.CREATE, RowState.UNCERTAIN), 5: (Action.CREATE, RowState.STOPPED),
            6: (Action.CREATE, RowState.PENDING), 7: (Action.DOUBLE, RowState.STOPPED),
            8: (Action.CREATE, RowState.FAILED), 9: (Action.REFUSED, RowState.CHECKED),
            10: (Action.CREATE, RowState.STOPPED),
        }  # fmt: skip
        assert rows[2].intent_id == under_way
        assert rows[3].content["marks"] == [7]
        assert rows[3].content["order"]["name"] == "N3"
        assert [word for _field, word, _facts in rows[4].notes] == ["unsent_remarks"]
        assert (rows[5].attempts, rows[5].intent_id, rows[10].problems) == (1, None, [])
        Intent.objects.filter(pk=under_way).update(state=State.QUEUED)
        settle_unsent(Intent.objects.get(pk=under_way), State.EXPIRED, Reason.NOT_SENT)
        assert Row.objects.get(pk=rows[2].pk).state == RowState.FAILED
    desk = Desk(place)
    assert "day.csv" in said(desk.client.get(url(place, f"expected/{kept}/")))
    assert "when the retention period for guest data ended" in said(desk.client.get(url(place, f"expected/{gone}/")))


def test_such_a_list_is_erased_with_its_visits_all_the_same(place, old):
    kept, _gone, _under_way = old
    migrate("0002_lists_are_jobs")
    with tenant_scope(place.tenant):
        ago = timezone.now() - timedelta(days=100)
        Job.objects.filter(options__list=kept).update(created_at=ago, last_end=ago, state=JobState.DONE)
        erasing.erase(place.tenant)
        job = Job.objects.get(options__list=kept)
        assert (str(job.title), job.headings) == ("", None)
        assert {row.content for row in Row.objects.filter(job=job)} == {None}
