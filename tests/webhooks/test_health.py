"""The health of a webhook: missed notifications, silence, and how often the log is also read."""

from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.sync import tasks
from portal.domain.sync.models import MirrorState
from portal.webhooks import health
from portal.webhooks.models import Webhook
from portal.webhooks.panel import status_of
from tenants.scope import tenant_scope
from tests.support.doors import hear
from tests.support.hooks import Hook, notification
from tests.support.log import happened, record
from tests.support.places import Place
from tests.webhooks.test_hints import force, look, state

W = Webhook.Working
LOG = 23


@pytest.fixture
def house(place: Place, hook: Hook) -> Place:
    """Load the log once, and send a notification."""
    hear(place)
    hook.change(last_received_at=database_now(), due_at=database_now(), unnotified={})
    return place


def check(hook: Hook) -> str:
    hook.change(due_at=database_now())
    look(hook)
    return hook.row.working


def read(hook: Hook) -> None:
    """Read the log at its due time."""
    with tenant_scope(hook.tenant):
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now())
        tasks.read_due()


def watched_long_enough(hook: Hook) -> None:
    ago = (database_now() - timedelta(seconds=61)).isoformat()
    hook.change(unnotified=dict.fromkeys(hook.row.unnotified, ago))


def rhythm(hook: Hook, an_hour: float) -> None:
    """Create so many records in each hour of the week."""
    hook.change(rhythm=[an_hour] * 168, rhythm_at=database_now())


class TestAWebhook:
    def test_is_off_until_it_is_on_and_waits_until_it_was_heard(self, house, hook):
        hook.change(is_on=False)
        assert check(hook) == W.OFF
        assert hook.row.due_at is None
        hook.change(is_on=True, last_received_at=None)
        assert check(hook) == W.WAITING
        hook.change(last_received_at=database_now())
        assert check(hook) == W.WORKING
        hook.change(set_at=database_now())
        assert check(hook) == W.WAITING, "what was heard before it was set anew says nothing"

    def test_that_misses_a_record_loses_notifications_until_an_hour_passes_without(self, house, hook):
        hook.change(set_at=database_now() - timedelta(days=1))
        force(house)
        read(hook)
        assert check(hook) == W.WORKING, "the notification may be on its way"
        watched_long_enough(hook)
        assert check(hook) == W.LOSSY
        assert hook.row.missed == 1
        hour = timedelta(hours=1, seconds=1)
        hook.change(missed_at=hook.row.missed_at - hour)
        assert check(hook) == W.WORKING, "it was heard since"
        hook.change(missed=1, missed_at=database_now() - hour, last_received_at=database_now() - 2 * hour)
        hook.change(set_at=database_now() - 3 * hour)
        assert check(hook) == W.LOSSY, "it was not"

    def test_misses_nothing_as_long_as_its_notifications_name_no_record(self, house, hook, post, process):
        hook.change(set_at=database_now() - timedelta(days=1))
        for number in range(3):
            force(house)
            post({"other": {"shape": number}})
        process.flush()
        read(hook)
        watched_long_enough(hook)
        assert check(hook) == W.WORKING
        assert (hook.row.missed, hook.row.lacks_record_ids) == (0, True)
        assert state(hook).every == health.SAFETY_NET_SECONDS
        with tenant_scope(hook.tenant):
            words = " ".join(status_of(hook.row).sentences)
        assert "Notifications do not name their record, so missing notifications cannot be detected." in words
        for _ in range(4):
            post(notification())
        process.flush()
        check(hook)
        assert not hook.row.lacks_record_ids

    def test_that_names_no_record_has_the_log_read_once_for_each(self, house, hook, post, process):
        before = len(house.calls(LOG))
        for number in range(2):
            hook.change(log_read_at=None)
            post({"other": number})
            process.flush()
            for _ in range(3):
                look(hook)
                with tenant_scope(hook.tenant):
                    tasks.read_due()
                hook.change(log_read_at=None, due_at=database_now())
        assert len(house.calls(LOG)) == before + 2

    def test_misses_nothing_that_it_told_late(self, house, hook, post, process):
        name = force(house)
        read(hook)
        post(notification(name))
        process.flush()
        watched_long_enough(hook)
        assert check(hook) == W.WORKING
        assert hook.row.unnotified == {}

    @pytest.mark.parametrize("values", [
        {"categories": ["normal"]}, {"is_on": False}, {"set_at": None},
    ])  # fmt: skip
    def test_misses_nothing_that_was_not_asked_for(self, house, hook, values):
        hook.change(**values)
        force(house)
        read(hook)
        assert hook.row.unnotified == {}

    def test_misses_nothing_from_before_it_was_set(self, house, hook):
        force(house)
        hook.change(set_at=database_now())
        read(hook)
        assert hook.row.unnotified == {}

    def test_misses_nothing_that_is_older_than_what_is_known_of_notifications(self, house, hook):
        hook.change(set_at=database_now() - timedelta(days=30))
        rows = happened(house, record(database_now() - timedelta(days=8), category="emergency"))
        with tenant_scope(hook.tenant):
            health.watch_unnotified(hook.row, rows, set())
        assert hook.row.unnotified == {}

    def test_is_silent_when_this_house_would_have_told_long_ago(self, house, hook):
        hook.change(last_received_at=database_now() - timedelta(hours=1))
        rhythm(hook, health.SILENT_AFTER_EXPECTED - 1)
        assert check(hook) == W.WORKING
        rhythm(hook, health.SILENT_AFTER_EXPECTED + 1)
        assert check(hook) == W.SILENT
        hook.change(last_received_at=database_now())
        assert check(hook) == W.WORKING

    def test_that_was_never_heard_is_silent_in_time_too(self, house, hook):
        hook.change(last_received_at=None, set_at=database_now() - timedelta(hours=2))
        rhythm(hook, health.SILENT_AFTER_EXPECTED)
        assert check(hook) == W.SILENT

    def test_of_a_quiet_house_is_not_silent_at_night(self, house, hook):
        quiet = [0.0] * 168
        now = database_now()
        hook.change(
            rhythm=quiet, rhythm_at=now, last_received_at=now - timedelta(hours=9), set_at=now - timedelta(days=2)
        )
        assert check(hook) == W.WORKING

    def test_learns_the_rhythm_of_its_house_from_records_of_what_is_asked_for(self, house, hook):
        now = database_now()
        with tenant_scope(hook.tenant):
            History.objects.all().delete()
            state = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
            hour = (now - timedelta(days=7)).replace(minute=0, second=0, microsecond=0)
            known_from = {"known_from": (hour - timedelta(weeks=1, minutes=-10)).isoformat()}
            MirrorState.objects.filter(pk=state.pk).update(memory=state.memory | known_from)
            for week in (0, 1):
                for number in range(6 - 2 * week):
                    for category in ("normal", "of another kind"):
                        at = hour - timedelta(weeks=week, minutes=-number)
                        History.objects.create(history_id=f"{week} {number} {category}", at=at, category=category)
            row = Webhook.objects.get()
            row.rhythm_at = None
            expected = health.expected_messages(row, hour + timedelta(weeks=1), hour + timedelta(weeks=1, minutes=30))
        assert round(sum(row.rhythm), 1) == 3.0, "the second week is outside of what is known"
        assert round(expected, 1) == 1.5


class TestTheLog:
    def test_is_read_once_an_hour_while_webhooks_work(self, house, hook):
        assert check(hook) == W.WORKING
        assert state(hook).every == health.SAFETY_NET_SECONDS
        read(hook)
        assert state(hook).due_at > database_now() + timedelta(minutes=59)

    def test_costs_one_call_for_the_net_and_for_what_devices_told_late(self, house, hook):
        check(hook)
        read(hook)
        with tenant_scope(hook.tenant):
            row = MirrorState.objects.get(kind=MirrorKind.HISTORIES)
            ago = (database_now() - timedelta(seconds=health.SAFETY_NET_SECONDS * 0.9)).isoformat()
            late_at = row.memory["late_at"] | {"hours": ago}
            MirrorState.objects.filter(pk=row.pk).update(memory=row.memory | {"late_at": late_at})
        before = len(house.calls(LOG))
        read(hook)
        assert len(house.calls(LOG)) == before + 1
        assert state(hook).memory["late_at"]["hours"] > ago

    @pytest.mark.parametrize("values", [
        {"is_on": False}, {"last_received_at": None}, {"missed": 1, "missed_at": "2100-01-01T00:00:00Z"},
        {"categories": ["operation"]},
    ])  # fmt: skip
    def test_is_read_as_before_at_once_when_they_do_not(self, house, hook, values):
        check(hook)
        read(hook)
        hook.change(**values)
        check(hook)
        assert state(hook).every is None
        assert state(hook).due_at <= database_now()

    def test_is_read_as_before_where_a_category_is_known_here_alone(self, make):
        place = make(overrides='[records]\ncategories = ["normal", "fire"]')
        hook = Hook(place.tenant, categories=["normal"])
        hear(place)
        hook.change(last_received_at=database_now())
        assert check(hook) == W.WORKING
        assert state(hook).every is None
        hook.change(categories=["normal", "fire"])
        check(hook)
        assert state(hook).every == health.SAFETY_NET_SECONDS


def test_a_change_of_what_is_set_is_judged_at_once(house, hook, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr("portal.base.timers.celery_app.enqueue", lambda task, rows, **_: rung.append(rows))
    with tenant_scope(hook.tenant), django_capture_on_commit_callbacks(execute=True):
        health.request_check(hook.tenant)
    assert rung == [[(hook.tenant.pk,)]]
    assert hook.row.due_at <= database_now()
