"""Access to an area from one date until another: it waits, is recalculated when it runs, and ends automatically."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accessapi.permissions import always
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs.models import Job, JobState, RowState
from tenants.models import AuditEntry
from tests.manager.test_area_access import EVERYWHERE, HOURS, NOTHING, OFFICE, entry, equal, known_and_so, option
from tests.support.areas import AreasDesk
from tests.support.members import said

READ = 5


class ScheduleDesk(AreasDesk):
    def scheduled(self, act, members, *, days=7, **values):
        at = timezone.localtime() + timedelta(days=days)
        return self.prepared(act, members, when="at", at=f"{at:%Y-%m-%dT%H:%M}", **values)

    def start(self, job):
        assert self.post(f"edits/{job.pk}/start/", {}).status_code == 302
        return self.job(job.pk)

    def when_its_moment_has_come(self, job):
        past = timezone.now() - timedelta(seconds=5)
        with self.scope():
            Job.objects.filter(pk=job.pk).update(starts_at=past, due_at=past)
        return self.finish(job)

    def end_of(self, job):
        with self.scope():
            return Job.objects.select_related("tenant").get(undo_of=job)

    def page_of(self, job):
        return said(self.client.get(f"/t/{self.place.tenant.slug}/changes/{job.pk}/"))


@pytest.fixture
def desk(place):
    return ScheduleDesk(place)


def tomorrow():
    return f"{timezone.localtime() + timedelta(days=1):%Y-%m-%dT%H:%M}"


def test_a_scheduled_grant_waits_is_worked_out_anew_and_tells_what_differs_from_its_preview(desk):
    plain, changed, has_it, everywhere = desk.people[:4]
    known_and_so(desk, plain, NOTHING)
    known_and_so(desk, changed, NOTHING)
    known_and_so(desk, has_it, option(entry(desk.area, OFFICE)))
    known_and_so(desk, everywhere, EVERYWHERE)
    job = desk.scheduled("grant", [plain, changed, has_it, everywhere], trust="0", **HOURS)
    page = said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    assert "as of now" in page
    assert "Scheduled for" in page
    job = desk.start(job)
    assert job.state == JobState.WAITING
    assert equal(desk.devices(plain), NOTHING)
    # In the meantime, another person gives one of them other hours here, and removes another one's access.
    desk.set_at_service(changed, option(entry(desk.area, always()), entry(desk.other, OFFICE)))
    desk.set_at_service(has_it, NOTHING)
    job = desk.when_its_moment_has_come(job)
    assert job.state == JobState.DONE
    rows = desk.rows(job)
    assert {row.state for row in rows.values()} == {RowState.SUCCEEDED, RowState.KEPT}
    assert {rows[member.member_id].state for member in (everywhere, changed)} == {RowState.KEPT}
    assert len(desk.devices(plain)["areas_list"]) == len(desk.devices(has_it)["areas_list"]) == 1
    page = desk.page_of(job)
    assert "Different from the preview 2" in page
    assert "Recalculated" in page
    assert "Not applied" not in page


def test_whoever_may_enter_every_area_is_not_failed(desk):
    everywhere, plain = desk.people[:2]
    known_and_so(desk, plain, NOTHING)
    desk.set_at_service(everywhere, EVERYWHERE)  # read first: its rights are not loaded before it runs
    job = desk.run(desk.prepared("grant", [everywhere, plain], **HOURS))
    assert desk.rows(job)[everywhere.member_id].state == RowState.KEPT
    page = desk.page_of(job)
    assert "Unchanged 1" in page
    assert "Already has access to every area." in page
    assert "Retry" not in page
    job = desk.run(desk.prepared("withdraw", [everywhere, plain], trust="0"))
    assert desk.rows(job).get(everywhere.member_id) is None  # loaded by now, and shown in the preview


def test_access_until_a_date_ends_by_itself_for_those_alone_who_got_it(desk):
    plain, has_it, later = desk.people[:3]
    known_and_so(desk, plain, option(entry(desk.other, OFFICE)))
    known_and_so(desk, has_it, option(entry(desk.area, OFFICE)))
    known_and_so(desk, later, NOTHING)
    job = desk.prepared("grant", [plain, has_it, later], until=tomorrow())
    assert "Access given here ends at" in said(desk.client.get(desk.at(f"edits/{job.pk}/")))
    job = desk.run(job)
    end = desk.end_of(job)
    assert (job.state, end.state) == (JobState.DONE, JobState.WAITING)
    assert "End of access to" in desk.page_of(end)
    assert "Ends at" in desk.page_of(job)
    assert "Undo…" in desk.page_of(job)  # by hand, before its time
    known_and_so(desk, later, EVERYWHERE)
    before = len(desk.place.calls(READ))
    end = desk.when_its_moment_has_come(end)
    assert end.state == JobState.DONE, desk.page_of(end)
    assert equal(desk.devices(plain), option(entry(desk.other, OFFICE)))
    assert equal(desk.devices(has_it), option(entry(desk.area, OFFICE)))
    assert equal(desk.devices(later), EVERYWHERE)
    assert len(desk.place.calls(READ)) - before <= 3 + 3  # ours above, and one for each at most


def test_what_is_cancelled_before_it_begins_leaves_an_end_that_does_nothing_and_calls_nobody(desk):
    member = desk.people[0]
    known_and_so(desk, member, option(entry(desk.area, OFFICE)))
    job = desk.start(desk.scheduled("grant", [member], days=0.5, until=tomorrow(), replace="on"))
    with desk.scope():
        actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
        assert actions[-2:] == ["change.prepared", "area.grant"]  # the start and the end are one action
        assert job_actions.stop(by=Requester(desk.place.tenant, desk.user), job=job)
    calls = len(desk.place.calls())
    end = desk.when_its_moment_has_come(desk.end_of(job))
    assert end.state == JobState.DONE
    assert {row.state for row in desk.rows(end).values()} == {RowState.KEPT}
    assert len(desk.place.calls()) == calls


def test_a_retry_brings_an_end_of_its_own(desk):
    plain, busy = desk.people[:2]
    known_and_so(desk, plain, NOTHING)
    known_and_so(desk, busy, NOTHING)
    job = desk.prepared("grant", [plain, busy], until=tomorrow())
    known_and_so(desk, busy, option(entry(desk.other, OFFICE), entry(desk.area, OFFICE)))
    job = desk.run(job)
    assert desk.rows(job)[busy.member_id].state == RowState.FAILED
    known_and_so(desk, busy, NOTHING)
    with desk.scope():
        again = job_actions.retry(by=Requester(desk.place.tenant, desk.user), job=job)
    desk.client.post(f"/t/{desk.place.tenant.slug}/changes/{again.pk}/start/")
    again = desk.finish(desk.job(again.pk))
    assert desk.rows(again)[busy.member_id].state == RowState.SUCCEEDED
    assert set(desk.rows(desk.end_of(again))) == {busy.member_id}


def test_moments_that_cannot_be_are_refused_in_words(desk):
    for values, words in (
        ({"when": "at", "at": ""}, "Enter a date and time."),
        ({"when": "at", "at": "2020-01-01T00:00"}, "This time has passed."),
        ({"until": "2020-01-01T00:00"}, "This time has passed."),
        ({"when": "at", "at": "2030-01-02T00:00", "until": "2030-01-01T00:00"}, "The end is before the start."),
        ({"until": "8990-01-01T00:00"}, "At most five years ahead."),
    ):
        given = {"ids": str(desk.people[0].pk), "step": "preview", "trust": "60", "when": "now"}
        answer = desk.post("grant/?list=area-choice", given | {"pass_.choice": "always"} | values)
        assert words in said(answer)
