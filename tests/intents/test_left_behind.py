"""Claims whose process has ended: found by their session's lock, and settled as soon as no answer can arrive."""

import contextlib
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import connection

from accessapi.transport import READ_SECONDS
from portal.base.timers.clock import ClockTime
from portal.domain.intents import tasks, tracking, transitions
from portal.domain.intents.models import (
    LOST_CLAIM_SECONDS,
    LOST_REPEATABLE_CLAIM_SECONDS,
    WRITE_SECONDS,
    Intent,
    Reason,
    State,
)
from portal.domain.intents.recording import Command, record_intent
from portal.domain.intents.sending import claim, send, send_claimed
from portal.domain.intents.transitions import Transition
from tenants.postgresql import session_locks
from tenants.roles import Permission
from tests.support.doors import recorded_command
from tests.support.places import fresh_nonce
from tests.support.waiting import until


@pytest.fixture
def at_once(monkeypatch):
    """Make claims count as left behind at once, instead of after some seconds."""
    monkeypatch.setattr(tasks, "LOST_CLAIM_SECONDS", 0)
    monkeypatch.setattr(tasks, "LOST_REPEATABLE_CLAIM_SECONDS", 0)


@pytest.fixture
def elsewhere(db):
    """Return another session of the same database, as another process has it."""
    params = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}
    with contextlib.closing(psycopg.connect(**params)) as session:
        session.autocommit = True
        yield session


def creation(place):
    intent, _ = record_intent(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title="Create group",
            body={"membergroup_name": "Sales"},
        ),
        by=place.asker,
        nonce=fresh_nonce(),
    )
    return intent


def renaming(place):
    intent, _ = record_intent(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="update_membergroup",
            target="membergroup:G",
            title="Rename",
            path={"membergroup_id": "G"},
            body={"membergroup_name": "Sales"},
        ),
        by=place.asker,
        nonce=fresh_nonce(),
    )
    return intent


def picture(place):
    intent = renaming(place)
    Intent.objects.filter(pk=intent.pk).update(operation="register_profile_image")
    return intent


def claimed_by(session, intent):
    """Return the intent, claimed by a process with this session."""
    token = uuid4()
    session.execute(f"SELECT {session_locks.TAKE_LOCK_SQL}", [token])
    Intent.objects.filter(pk=intent.pk).update(
        state=State.SENDING, claim=token, claimed_at=ClockTime(), sent_at=ClockTime(), due_at=None, attempts=1
    )
    return intent


def left_behind(intent):
    """Return the intent, claimed by a process whose session has ended."""
    Intent.objects.filter(pk=intent.pk).update(
        state=State.SENDING, claim=uuid4(), claimed_at=ClockTime(), due_at=None, attempts=1
    )
    return intent


def swept(intent):
    tasks.process_due()
    intent.refresh_from_db()
    return intent.state


@pytest.mark.usefixtures("at_once")
def test_a_claim_is_left_alone_while_its_session_is_there_and_settled_once_it_has_ended(here, elsewhere):
    intent = claimed_by(elsewhere, recorded_command(here))
    assert swept(intent) == State.SENDING
    elsewhere.close()
    until(lambda: swept(intent) == State.UNCERTAIN, saying="the door is called uncertain")
    assert intent.reason == Reason.PROCESS


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("asked", "state"), [(recorded_command, State.UNCERTAIN), (creation, State.UNCERTAIN), (renaming, State.QUEUED)]
)
def test_only_what_may_be_repeated_is_sent_again(here, asked, state):
    intent = left_behind(asked(here))
    assert swept(intent) == state
    if state == State.QUEUED:
        assert Intent.objects.filter(pk=intent.pk, due_at__lte=ClockTime()).exists(), "it has waited for long enough"


@pytest.mark.parametrize(
    ("asked", "state"), [(recorded_command, State.UNCERTAIN), (creation, State.UNCERTAIN), (renaming, State.SENDING)]
)
def test_what_is_sent_again_waits_for_longer(here, monkeypatch, asked, state):
    """Check that a living process with a lost session does not send an older change after a newer one."""
    monkeypatch.setattr(tasks, "LOST_CLAIM_SECONDS", 0)
    assert swept(left_behind(asked(here))) == state


@pytest.mark.usefixtures("at_once")
def test_an_image_may_be_on_its_way_for_longer_than_any_silence(here):
    assert swept(left_behind(picture(here))) == State.SENDING


def test_nothing_leaves_any_more_when_its_claim_may_count_as_left_behind():
    assert LOST_CLAIM_SECONDS > WRITE_SECONDS
    assert LOST_REPEATABLE_CLAIM_SECONDS > WRITE_SECONDS + READ_SECONDS
    assert LOST_CLAIM_SECONDS < 10
    assert LOST_REPEATABLE_CLAIM_SECONDS < 20


@pytest.mark.usefixtures("at_once")
def test_where_every_session_has_ended_since_a_missing_lock_says_nothing(here, monkeypatch):
    """Check this because senders can survive a restart of the database."""
    monkeypatch.setattr(tasks, "CLAIM_SECONDS", 10**7)
    intent = left_behind(recorded_command(here))
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(backend_start) FROM pg_stat_activity")
        Intent.objects.update(claimed_at=cursor.fetchone()[0] - timedelta(seconds=1))
    assert swept(intent) == State.SENDING
    Intent.objects.update(claimed_at=ClockTime())
    assert swept(intent) == State.UNCERTAIN


def signs():
    """Return the number of advisory locks of senders in this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND classid = %s"
            " AND mode = 'ShareLock'",
            [session_locks.LOCK_KIND],
        )
        return cursor.fetchone()[0]


def test_a_claim_has_a_sign_of_life_until_its_answer_is_recorded_and_none_is_left(here):
    before = signs()
    claimed = claim(recorded_command(here))
    assert signs() == before + 1
    transitions.record_sent(claimed.intent, claimed.token, send_claimed(claimed))
    session_locks.release(claimed.token)
    for asked in (recorded_command, creation, renaming):
        send(asked(here))
    assert not Intent.objects.filter(state=State.SENDING).exists()
    assert signs() == before


def test_the_sign_of_life_costs_a_click_no_statement_of_its_own(here, django_assert_num_queries):
    send(recorded_command(here))
    intent = recorded_command(here)
    # The connection, three for the call that it costs, the claim and the claimed row; two for the transaction.
    with django_assert_num_queries(1 + 3 + 2 + 2):
        assert claim(intent) is not None


@pytest.mark.parametrize("state", [State.ACCEPTED, State.UNCERTAIN])
def test_who_was_killed_asking_is_replaced_and_nobody_else(here, elsewhere, state):
    """Check for both: following an accepted request, and reading the result of an uncertain one."""
    ask, operation = {State.ACCEPTED: (tracking.poll, 34), State.UNCERTAIN: (tracking.reconcile, 26)}[state]
    intent, before = claimed_by(elsewhere, recorded_command(here)), signs() - 1
    later = ClockTime() + timedelta(minutes=10)
    Intent.objects.update(state=state, request_id="r1", due_at=later, woken_at=None)
    tasks.process_due()
    ask(intent)
    assert not here.calls(operation)
    assert Intent.objects.get().woken_at is None
    elsewhere.close()
    until(lambda: swept(intent) and intent.woken_at, 10, saying="somebody is rung for")
    ask(intent)
    assert here.calls(operation)
    intent.refresh_from_db()
    assert intent.claim is None
    assert signs() == before


def cut(elsewhere):
    """End the session from the database's side."""
    elsewhere.execute("SELECT pg_terminate_backend(%s, 60000)", [connection.connection.info.backend_pid])


def made_anew(elsewhere):
    """Check that the session was lost, and that there is a new one."""
    connection.close()
    connection.ensure_connection()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("lost", "states"), [(cut, {State.QUEUED, State.UNCERTAIN}), (made_anew, {State.QUEUED})])
def test_who_lost_its_session_since_the_claim_writes_nothing(here, elsewhere, lost, states):
    claimed = claim(recorded_command(here))
    lost(elsewhere)
    transitions.record_sent(claimed.intent, claimed.token, send_claimed(claimed))
    assert Intent.objects.get().state in states
    assert not here.sandbox.commands(here.service.tenant_id)


@pytest.mark.django_db(transaction=True)
def test_a_session_that_still_works_keeps_the_sign_of_life_while_recording_waits(here, elsewhere):
    """Check this because a sweeper that finds no lock calls the answer lost."""
    claimed, before = claim(recorded_command(here)), signs()
    elsewhere.execute("SET portal.across = 'on'; SET idle_in_transaction_session_timeout = 100; BEGIN;"
                      " SELECT 1 FROM intents_intent FOR UPDATE")  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 20")
    transitions.record_sent(claimed.intent, claimed.token, Transition(State.SUCCEEDED))
    assert Intent.objects.get().state == State.SUCCEEDED
    assert connection.connection is claimed.session
    assert signs() == before
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_the_sweep_passes_by_what_somebody_holds_and_waits_for_nobody(here, elsewhere):
    """Check for a deadlock: settling one request locks the next in line, too."""
    held, free = renaming(here), creation(here)
    Intent.objects.update(woken_at=None, due_at=ClockTime())
    elsewhere.execute("SELECT set_config('portal.across', 'on', false)")
    with elsewhere.transaction(), connection.cursor() as cursor:
        elsewhere.execute("SELECT 1 FROM intents_intent WHERE id = %s FOR UPDATE", [held.pk])
        cursor.execute("SET lock_timeout = '2s'")
        tasks.process_due()
        cursor.execute("SET lock_timeout = 0")
    rung = set(Intent.objects.exclude(woken_at=None).values_list("pk", flat=True))
    assert rung == {free.pk}
    tasks.process_due()
    assert not Intent.objects.filter(woken_at=None).exists(), "the next sweep rings for it"
