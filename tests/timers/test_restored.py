"""A database that was restored from a backup does not act automatically: it is checked before anything is sent."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import Ignore
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from portal.base.restore import marking
from portal.base.restore.models import Restore
from portal.base.timers import beat, celery_app, database_identity
from portal.base.timers.celery_app import app
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.models import Lease
from portal.domain.alerts.models import Alert, Severity
from portal.domain.events import MirrorKind
from portal.domain.intents import actions
from portal.domain.intents import sending as intent_sending
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.recording import Command
from portal.domain.jobs.models import Action, Halt, Job, JobState, Row, RowState
from portal.domain.notifications import alert_messages
from portal.domain.notifications.models import OutgoingMessage, WebAddress
from portal.domain.notifications.models import State as Sent
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import Visit
from stack.processes import free_port
from tenants import mails
from tenants.models import AccountMail, AuditEntry
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import Place, fresh_nonce, staff_of

CREATE_GROUP = 12


@contextmanager
def scope(place: Place) -> Iterator[None]:
    with tenant_scope(place.tenant):
        yield


def restore(**facts: Any) -> None:
    """Make this database look like one that was last used as another one, a day ago."""
    values = {"identity": "another", "ticked_at": database_now() - timedelta(days=1)} | facts
    Lease.objects.update_or_create(pk=1, defaults=values)


class Memory:
    """The broker's memory of this database's position."""

    @property
    def position(self) -> int:
        with celery_app.broker_client() as client:
            found: Any = client.get(self._key())
        return int(found or 0)

    @position.setter
    def position(self, value: int) -> None:
        with celery_app.broker_client() as client:
            client.set(self._key(), value)

    def forget(self) -> None:
        with celery_app.broker_client() as client:
            client.delete(self._key())

    def _key(self) -> str:
        place = database_identity.read_position()
        assert place is not None
        return f"portal.position.{place.database}"


@pytest.fixture
def memory(db: None) -> Iterator[Memory]:
    """Yield the broker's memory of this database, in a session in which writes wait until they are stored.

    Without this setting of the session, which the tests' server does not use, the database has no position.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
        Lease.objects.create(pk=1)
        marking.declare_unchanged()
        memory = Memory()
        yield memory
        memory.forget()
        cursor.execute("SET synchronous_commit = off")


def begin_process() -> None:
    """Make this process one that has compared nothing yet."""
    database_identity._compared = None


def asked(place: Place, **facts: Any) -> Intent:
    intent = actions.submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title="Create group",
            body={"membergroup_name": "Sales"},
        ),
        by=place.asker,
        nonce=fresh_nonce(),
    )
    values = {"state": State.QUEUED, "due_at": ClockTime(), "woken_at": None, "finished_at": None} | facts
    Intent.objects.filter(pk=intent.pk).update(**values)
    return Intent.objects.get(pk=intent.pk)


class TestBefore:
    """Until the database was checked, nothing is sent."""

    def test_no_request_is_claimed(self, place: Place) -> None:
        with scope(place):
            intent, other = asked(place), asked(place)
            assert intent_sending.claim(other) is not None
            restore()
            assert intent_sending.claim(intent) is None
            assert Intent.objects.get(pk=intent.pk).state == State.QUEUED

    @pytest.mark.django_db
    def test_no_task_of_a_worker_runs(self) -> None:
        task = app.tasks["portal.timers.sweep"]
        task()
        restore()
        with pytest.raises(Ignore):
            task()

    @pytest.mark.usefixtures("place")
    def test_a_clock_looks_it_through_before_it_leads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(beat.Clock, "producer", None)
        monkeypatch.setattr(beat.Clock, "apply_entry", lambda *_args, **_more: None)
        restore()
        clock = beat.Clock(app)
        clock.tick()
        assert clock.holder.is_leader
        assert not marking.is_restored_copy()
        assert Restore.objects_across_tenants is not None

    @pytest.mark.django_db
    def test_a_database_that_is_the_same_or_new_is_no_copy(self) -> None:
        assert not marking.is_restored_copy()
        Lease.objects.create(pk=1)
        assert not marking.is_restored_copy(), "of a version that kept no identity"
        marking.declare_unchanged()
        assert not marking.is_restored_copy()
        restore()
        assert marking.is_restored_copy()

    def test_a_disk_that_was_set_back_is_found_once_and_what_is_lost_counts_from_then_on(self, memory: Memory) -> None:
        begins = memory.position
        begin_process()
        database_identity.store_position(database_identity.read_position())
        assert memory.position == begins, "before it has compared, a process hides nothing"
        assert not marking.is_restored_copy()
        database_identity.store_position(database_identity.read_position())
        assert memory.position > begins
        memory.position += 2**20
        begin_process()
        assert marking.is_restored_copy(), "the same database had come further"
        begin_process()
        assert marking.is_restored_copy(), "until it was looked through"
        assert marking.mark_all_tenants()
        begin_process()
        assert not marking.is_restored_copy()

    def test_a_clock_that_ticks_while_a_process_compares_sets_nothing_back(self, memory: Memory) -> None:
        assert not marking.is_restored_copy(), "the clock has compared"
        read_before = database_identity.read_position()
        assert read_before is not None
        Lease.objects.update(ticked_at=ClockTime())
        database_identity.store_position(database_identity.read_position())
        assert memory.position > int(read_before.wal_bytes or 0)
        begin_process()
        assert not database_identity.is_behind(read_before)

    def test_a_broker_that_is_away_or_has_forgotten_says_nothing_of_the_disk(self, memory: Memory) -> None:
        memory.position += 2**20
        begin_process()
        with override_settings(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"):
            assert not marking.is_restored_copy()
        assert marking.is_restored_copy(), "asked again, as soon as it answers"
        assert marking.mark_all_tenants()
        memory.forget()
        begin_process()
        assert not marking.is_restored_copy()


class TestMarks:
    """What can no longer be known is marked."""

    def test_requests_that_had_not_left_are_uncertain_and_accepted_ones_are_followed(self, place: Place) -> None:
        with scope(place):
            queued = asked(place)
            sending = asked(place, state=State.SENDING, claimed_at=ClockTime(), due_at=None)
            held = asked(place, due_at=None, reason=Reason.STEP_BEFORE)
            accepted = asked(place, state=State.ACCEPTED, request_id="r1")
            done = asked(place, state=State.SUCCEEDED, due_at=None)
        restore()
        marking.mark_all_tenants()
        with scope(place):
            states = dict(Intent.objects.values_list("pk", "state"))
            for intent in (queued, sending, held):
                assert states[intent.pk] == State.UNCERTAIN
                assert Intent.objects.get(pk=intent.pk).reason == Reason.RESTORED
            assert states[accepted.pk] == State.ACCEPTED
            assert states[done.pk] == State.SUCCEEDED
            assert Restore.objects.get().counts["requests"] == 3

    def test_jobs_stop_and_their_open_rows_are_for_a_person_to_decide(self, place: Place) -> None:
        made = {}
        with scope(place):
            for state in (JobState.CHECKED, JobState.WAITING, JobState.RUNNING, JobState.STOPPED, JobState.DONE):
                job = Job.objects.create(kind="import", permission="", state=state, by=place.owner, due_at=None)
                for line, row in enumerate((RowState.PENDING, RowState.STOPPED, RowState.CHECKED, RowState.FAILED)):
                    Row.objects.create(job=job, line=line, action=Action.CREATE, state=row, content={"body": {}})
                made[state] = job
        restore()
        marking.mark_all_tenants()
        with scope(place):
            for state, job in made.items():
                rows = list(Row.objects.filter(job=job).order_by("line").values_list("state", flat=True))
                now = Job.objects.get(pk=job.pk)
                if state == JobState.DONE:
                    assert rows[0] == RowState.PENDING
                    continue
                assert rows == [RowState.UNCERTAIN] * 3 + [RowState.FAILED]
                if state == JobState.RUNNING:
                    assert (now.stop_requested, now.halt) == (True, Halt.RESTORED)
                else:
                    assert now.state == JobState.STOPPED

    def test_no_mail_is_sent_a_second_time(self, place: Place) -> None:
        with scope(place):
            address = WebAddress.objects.create(name="x", url="https://x", secret="s", language="en")
            OutgoingMessage.objects.create(kind="alert", address=address)
        mails.queue(to=place.owner, kind=mails.RESET_LINK, values={"address": "https://x"})
        restore()
        marking.mark_all_tenants()
        with scope(place):
            message = OutgoingMessage.objects.get()
        assert (message.state, message.due_at, message.answer) == (Sent.UNCERTAIN, None, "restored")
        assert {mail.kind for mail in AccountMail.objects.all()} == {marking.MAIL_KIND}

    def test_an_alert_that_began_before_is_not_told_again_and_a_new_one_is(self, place: Place) -> None:
        restore()
        marking.mark_all_tenants()
        with scope(place):
            WebAddress.objects.create(name="x", url="https://x", secret="s", language="en", least=Severity.INFO)
            for hours, expected in ((-2, Sent.UNCERTAIN), (1, Sent.WAITING)):
                at = database_now() + timedelta(hours=hours)
                facts = {"severity": Severity.ALARM, "weight": 3, "began_at": at, "last_at": at}
                alert = Alert.objects.create(kind="forced", subject=f"door:{hours}", **facts)
                alert_messages.on_new_alerts([alert])
                states = OutgoingMessage.objects.filter(subject=alert.pk).values_list("state", flat=True)
                assert set(states) == {expected}

    def test_everything_is_read_again_and_everyone_signs_in_again(self, place: Place) -> None:
        browser = place.client()
        assert browser.get(f"/t/{place.tenant.slug}/").status_code == 200
        with scope(place):
            later = database_now() + timedelta(hours=1)
            MirrorState.objects.update_or_create(kind=MirrorKind.MEMBERS, defaults={"due_at": later})
        restore()
        marking.mark_all_tenants()
        assert browser.get(f"/t/{place.tenant.slug}/").status_code == 302
        with scope(place):
            assert MirrorState.objects.get(kind=MirrorKind.MEMBERS).due_at <= database_now()

    def test_owners_and_operators_are_written_to(self, place: Place) -> None:
        from tenants.models import User

        operator = User.objects.create_user("op@example.test", "x", name="op", platform_role="operator")
        restore()
        marking.mark_all_tenants()
        to = {mail.user_id: mails.build_message(mail) for mail in AccountMail.objects.select_related("user")}
        assert {place.owner.pk, operator.pk} <= to.keys()
        assert f"/t/{place.tenant.slug}/restore/" in to[place.owner.pk].body
        assert "restored from a backup" in to[operator.pk].subject
        with scope(place):
            assert AuditEntry.objects.filter(action="restore.found").count() == 1

    def test_a_process_that_dies_on_the_way_is_followed_and_marks_nothing_twice(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        restore()
        with monkeypatch.context() as dying:
            dying.setattr(marking, "_unlock_site", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                marking.mark_all_tenants()
        assert marking.is_restored_copy(), "nothing leaves yet"
        with scope(place):
            before = Restore.objects.get()
        assert marking.mark_all_tenants()
        assert not marking.is_restored_copy()
        with scope(place):
            assert Restore.objects.get().found_at == before.found_at
            assert AuditEntry.objects.filter(action="restore.found").count() == 1


class TestRelease:
    """Automatic actions wait until an owner has checked the portal."""

    def code(self) -> Visit:
        now = database_now()
        return Visit.objects.create(
            guest_name="佐藤 花子", name_key="佐藤花子", use_date_start=now, use_date_end=now + timedelta(hours=1),
            must_end_at=now, cut_due_at=ClockTime(), guest_id="G1", stage="issued",
        )  # fmt: skip

    def test_the_page_says_what_waits_and_an_owner_resumes_it(self, place: Place) -> None:
        with scope(place):
            visit = self.code()
        restore()
        marking.mark_all_tenants()
        browser, page = place.client(), f"/t/{place.tenant.slug}/restore/"
        said = browser.get(page).content.decode()
        assert "1 guest code would be ended. It may still open doors." in said
        banner = re.search(
            r"restored from a backup of [\d-]+ [\d:]+\.", browser.get(f"/t/{place.tenant.slug}/").content.decode()
        )
        assert banner, "the moment is written out"
        with scope(place):
            assert Visit.objects.get(pk=visit.pk).cut_due_at is None
        assert browser.post(f"{page}release/").status_code == 302
        with scope(place):
            assert Visit.objects.get(pk=visit.pk).cut_due_at is not None
        said = browser.get(page).content.decode()
        assert "resumed automatic work" in said
        assert "Automatic work is paused." not in said

    def test_what_waits_is_not_done_by_a_late_message_either(self, place: Place) -> None:
        from portal.guests import deactivation

        with scope(place):
            visit = self.code()
        restore()
        marking.mark_all_tenants()
        with scope(place):
            Visit.objects.update(cut_due_at=ClockTime())
            deactivation.process_due(visit.pk)
            assert Visit.objects.get(pk=visit.pk).cut_due_at is None
        assert place.calls(21) == place.calls(22) == [], "the code was neither read nor changed"

    def test_the_platform_page_names_the_tenant_until_then(self, place: Place) -> None:
        from tenants.models import User

        operator = User.objects.create_user("op@example.test", "x", name="op", platform_role="operator")
        restore()
        marking.mark_all_tenants()
        platform = place.client(operator)
        waits = "Automatic work is paused until an owner resumes it."
        page = platform.get("/platform/").content.decode()
        assert waits in page
        assert place.tenant.name in page.partition(waits)[2].partition("</ul>")[0]
        place.client().post(f"/t/{place.tenant.slug}/restore/release/")
        assert waits not in platform.get("/platform/").content.decode()

    def test_a_guard_sees_it_and_cannot_resume_it(self, place: Place) -> None:
        restore()
        marking.mark_all_tenants()
        with scope(place):
            guard = staff_of(place.tenant, "guard")
        browser, page = place.client(guard), f"/t/{place.tenant.slug}/restore/"
        assert "An owner can resume it." in browser.get(page).content.decode()
        assert browser.post(f"{page}release/").status_code == 403

    def test_a_tenant_that_was_never_restored_has_no_such_page(self, place: Place) -> None:
        assert place.client().get(f"/t/{place.tenant.slug}/restore/").status_code == 404


class TestByHand:
    """An operator reports a restore that the clock cannot notice."""

    def test_the_command_marks_all(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        Lease.objects.create(pk=1)
        marking.declare_unchanged()
        with scope(place):
            asked(place)
        call_command("after_restore")
        with scope(place):
            assert Intent.objects.get().state == State.UNCERTAIN
        assert "can no longer be known is marked" in capsys.readouterr().out

    def test_a_database_that_was_moved_goes_on(self, place: Place) -> None:
        restore()
        with scope(place):
            intent = asked(place)
        call_command("after_restore", nothing_lost=True)
        assert not marking.is_restored_copy()
        with scope(place):
            assert Intent.objects.get(pk=intent.pk).state == State.QUEUED
