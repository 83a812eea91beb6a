"""The effects of notifications: joined readings of the log, records while it cannot be read, and no duplicates."""

from datetime import datetime, timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.domain import events as listeners
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.places.models import PassController
from portal.domain.sync import tasks
from portal.domain.sync.models import MirrorState
from portal.webhooks import health, processing
from portal.webhooks.message_queue import MIN_INTERVAL
from portal.webhooks.models import Notification
from tenants.models import Connection
from tenants.scope import across_tenants, tenant_scope
from tests.support.doors import hear, moved, real_doors
from tests.support.hooks import Hook, notification
from tests.support.places import Place
from tests.support.rounds import round_of

LOG = 23


@pytest.fixture
def house(place: Place, hook: Hook) -> Place:
    """Load the log once."""
    hear(place)
    return place


def look(hook: Hook) -> None:
    with tenant_scope(hook.tenant):
        processing.process_pending()


def work(hook: Hook) -> None:
    """Do the work of notified workers."""
    with tenant_scope(hook.tenant):
        tasks.read_due()


def state(hook: Hook) -> MirrorState:
    with tenant_scope(hook.tenant):
        return MirrorState.objects.get(kind=MirrorKind.HISTORIES)


def force(place: Place) -> str:
    """Force a door open, and return the record's history_id."""
    with tenant_scope(place.tenant):
        door = PassController.objects.values_list("device_id", flat=True).first()
    moved(place, door or real_doors(place)[0], "force")
    return place.sandbox.look("histories", tenant_id=place.service.tenant_id)["histories"][-1]["history_id"]


def late(place: Place, at: datetime) -> str:
    """Report a card that was shown while the door was offline, and return the record's history_id."""
    with tenant_scope(place.tenant):
        known = PassController.objects.values_list("device_id", flat=True).first()
    device = known or real_doors(place)[0]
    shown = {"device_id": device, "kind": "card", "value": "UNKNOWN", "at": at.isoformat()}
    place.sandbox.console("present", tenant_id=place.service.tenant_id, **shown)
    return place.sandbox.look("histories", tenant_id=place.service.tenant_id)["histories"][-1]["history_id"]


def records(hook: Hook, history_id: str) -> list[History]:
    with tenant_scope(hook.tenant):
        return list(History.objects.filter(history_id=history_id))


def states(hook: Hook) -> list[str]:
    with tenant_scope(hook.tenant):
        return list(Notification.objects.order_by("pk").values_list("state", flat=True))


def age(hook: Hook, seconds: float) -> None:
    """Make notified events older, instead of waiting."""
    with tenant_scope(hook.tenant):
        for each in Notification.objects.all():
            Notification.objects.filter(pk=each.pk).update(received_at=each.received_at - timedelta(seconds=seconds))


def trouble(hook: Hook, reason: str = "unreachable") -> None:
    with tenant_scope(hook.tenant):
        far = database_now() + timedelta(hours=6)
        MirrorState.objects.update(error=reason, error_at=database_now(), due_at=far)


class TestTheLog:
    def test_is_read_as_soon_as_something_was_told_and_then_left_alone(self, house, hook, post, process):
        assert state(hook).due_at > database_now() + timedelta(seconds=60)
        name = force(house)
        post(notification(name))
        process.flush()
        look(hook)
        assert state(hook).due_at <= database_now()
        work(hook)
        assert [record.notified for record in records(hook, name)] == [False]
        before = len(house.calls(LOG))
        hook.change(due_at=database_now())
        look(hook)
        work(hook)
        assert states(hook) == ["read"]
        assert len(house.calls(LOG)) == before
        assert hook.row.due_at > database_now() + timedelta(seconds=30), "what is left is to look after its health"

    def test_is_not_read_for_what_it_has(self, house, hook, post, process):
        name = force(house)
        hear(house)
        post(notification(name))
        process.flush()
        look(hook)
        assert states(hook) == ["read"]
        assert hook.row.log_read_at is None

    def test_is_read_once_for_all_that_was_told_together(self, house, hook, post, process):
        before = len(house.calls(LOG))
        for _ in range(20):
            post(notification(force(house)))
            process.flush()
            look(hook)
        work(hook)
        assert len(house.calls(LOG)) == before + 1
        assert set(states(hook)) == {"read"}

    def test_is_read_the_later_the_more_was_read_for_it_and_at_once_after_a_quiet_while(
        self, house, hook, post, process
    ):
        pauses = []
        for _ in range(8):
            post(notification())
            process.flush()
            look(hook)
            row = hook.row
            pauses.append(row.pause)
            log_read_at = row.log_read_at
            post(notification())
            process.flush()
            look(hook)
            assert hook.row.log_read_at == log_read_at, "not before the pause is over"
            hook.change(log_read_at=log_read_at - timedelta(seconds=row.pause))
        assert pauses == [1, 1, 2, 3, 4, 5, 5, 6]
        hook.change(log_read_at=database_now() - timedelta(minutes=4))
        post(notification())
        process.flush()
        look(hook)
        assert hook.row.pause == 1

    def test_that_is_read_only_later_is_shown_as_told_until_then(self, house, hook, post, process):
        hook.change(log_read_at=database_now(), pause=15, extra_pause=300)
        name = force(house)
        post(notification(name))
        process.flush()
        before = len(house.calls(LOG))
        look(hook)
        assert [each.notified for each in records(hook, name)] == [True]
        assert (states(hook), len(house.calls(LOG))) == (["shown"], before)
        assert hook.row.due_at == hook.row.log_read_at + timedelta(seconds=15)
        hook.change(log_read_at=database_now() - timedelta(seconds=16), due_at=database_now())
        look(hook)
        work(hook)
        assert [each.notified for each in records(hook, name)] == [False]
        assert (states(hook), len(house.calls(LOG))) == (["read"], before + 1)

    @pytest.mark.parametrize("words", ["forced open", "open too long"])
    def test_is_read_a_second_later_for_an_alarm_however_much_was_told(self, hook, post, process, words):
        log_read_at = database_now() - timedelta(seconds=2)
        hook.change(log_read_at=log_read_at, pause=15, extra_pause=300)
        words = hook.tenant.environment.catalogue.states.service_word(words)
        post(notification(event_name=words, category="emergency"))
        process.flush()
        look(hook)
        assert hook.row.log_read_at > log_read_at
        assert hook.row.pause == 15, "what comes after it waits as before"

    def test_is_read_at_its_pace_for_alarms_upon_alarms(self, hook, post, process):
        log_read_at = database_now() - timedelta(seconds=2)
        hook.change(log_read_at=log_read_at, pause=20, extra_pause=600)
        post(notification(event_name=hook.tenant.environment.catalogue.states.service_word("forced open")))
        process.flush()
        look(hook)
        assert hook.row.due_at == log_read_at + timedelta(seconds=20)

    def test_that_is_read_at_once_has_nothing_shown_before_it(self, house, hook, post, process):
        post(notification("h-1"))
        process.flush()
        look(hook)
        assert (states(hook), records(hook, "h-1")) == (["waiting"], [])

    def test_that_never_has_what_was_shown_is_not_read_for_it_for_ever(self, house, hook, post, process):
        hook.change(log_read_at=database_now(), pause=15)
        post(notification("h-1"))
        process.flush()
        look(hook)
        age(hook, 61)
        hook.change(log_read_at=None, due_at=database_now())
        look(hook)
        assert states(hook) == ["kept"]
        assert [each.notified for each in records(hook, "h-1")] == [True]
        assert hook.row.log_read_at is None

    @pytest.mark.parametrize("minutes", [5, 20, 60])
    def test_has_what_a_device_reported_late_with_the_next_reading(self, house, hook, post, process, minutes):
        force(house)
        hear(house)
        at = database_now() - timedelta(minutes=minutes)
        name = late(house, at)
        hear(house)
        assert records(hook, name) == [], "the log was read from later on"
        post(notification(name, at=at))
        process.flush()
        before = len(house.calls(LOG))
        look(hook)
        work(hook)
        assert [each.notified for each in records(hook, name)] == [False]
        assert len(house.calls(LOG)) == before + 1
        look(hook)
        assert (states(hook), state(hook).late) == (["read"], [])

    def test_is_read_at_the_moments_alone_that_devices_reported_late_where_much_happened_since(
        self, house, hook, post, process, monkeypatch
    ):
        monkeypatch.setattr("portal.domain.history.coverage.MAX_KNOWN_ON_PAGE", 3)
        now = database_now()
        moments = [now - timedelta(minutes=minutes) for minutes in (50, 49, 10)]
        with tenant_scope(hook.tenant):
            History.objects.bulk_create(
                History(history_id=f"k{minutes}", at=now - timedelta(minutes=minutes)) for minutes in range(6, 60, 6)
            )
        names = [late(house, at) for at in moments]
        hear(house)
        for name, at in zip(names, moments, strict=True):
            post(notification(name, at=at))
        process.flush()
        before = len(house.calls(LOG))
        look(hook)
        assert len(state(hook).late) == 2, "those of one page together"
        work(hook)
        assert [len(records(hook, name)) for name in names] == [1, 1, 1]
        assert len(house.calls(LOG)) == before + 3
        assert state(hook).late == []

    def test_is_looked_at_now_and_then_however_much_is_told(
        self, house, hook, post, process, monkeypatch, django_capture_on_commit_callbacks
    ):
        rung = []
        monkeypatch.setattr("portal.base.timers.celery_app.enqueue", lambda task, rows, **_: rung.append(rows))
        hook.change(log_read_at=database_now(), pause=15)
        with django_capture_on_commit_callbacks(execute=True):
            post(notification())
            process.flush()
            look(hook)
            for _ in range(2):
                post(notification())
                process.flush()
        assert rung == [[(hook.tenant.pk,)]]
        assert sorted(states(hook)) == ["shown", "waiting", "waiting"]
        assert hook.row.due_at == hook.row.last_run_at + MIN_INTERVAL

    def test_is_read_at_the_usual_pace_when_the_calls_run_short(self, house, hook, post, process, monkeypatch):
        monkeypatch.setattr(processing, "has_calls_for_log", lambda connection: False)
        hook.change(pause=80, log_read_at=database_now() - timedelta(seconds=80))
        post(notification())
        process.flush()
        look(hook)
        assert hook.row.pause == 120

    def test_is_read_once_when_a_queue_was_overrun(self, house, hook):
        hook.change(lost_at=database_now(), due_at=database_now())
        look(hook)
        before = len(house.calls(LOG))
        work(hook)
        hook.change(due_at=database_now())
        look(hook)
        work(hook)
        assert len(house.calls(LOG)) == before + 1

    def test_that_has_not_what_was_told_is_read_again_and_then_the_word_of_the_notification_stands(
        self, house, hook, post, process
    ):
        post(notification("h-1"))
        process.flush()
        look(hook)
        work(hook)
        hook.change(log_read_at=database_now() - timedelta(seconds=5), due_at=database_now())
        look(hook)
        assert state(hook).due_at <= database_now()
        assert (states(hook), records(hook, "h-1")) == (["waiting"], [])
        age(hook, 61)
        hook.change(due_at=database_now())
        look(hook)
        assert states(hook) == ["kept"]
        assert [record.notified for record in records(hook, "h-1")] == [True]


class TestWithoutTheLog:
    def test_what_was_told_is_shown_marked_and_without_secrets_until_the_log_is_read(
        self, house, hook, post, process, monkeypatch
    ):
        told = []
        monkeypatch.setitem(
            listeners._listeners, MirrorKind.HISTORIES, [lambda tenant, histories: told.extend(histories)]
        )
        name, at = force(house), database_now() - timedelta(minutes=3)
        trouble(hook)
        post(notification(name, at=at, further={"a": 1, "pin": "1234"}))
        process.flush()
        look(hook)
        assert records(hook, name) == [], "a moment is given to the log"
        age(hook, 11)
        hook.change(due_at=database_now())
        look(hook)
        (kept,) = records(hook, name)
        assert kept.notified
        assert (kept.content, kept.status, kept.category) == ("Entered", "occur", "normal")
        assert kept.at == at.replace(microsecond=0)
        assert (kept.device_id, kept.device_name, kept.device_module) == ("D1", "倉庫 入口", "pass")
        assert (kept.member_id, kept.member_name) == ("m1", "山田 太郎")
        assert kept.extra == {"further": {"a": 1}}
        assert told == [], "nobody acts on it"
        hear(house)
        (record,) = records(hook, name)
        assert not record.notified
        assert record.content != "Entered"
        assert name in [each.history_id for each in told]

    @pytest.mark.parametrize("state", [Connection.State.REVOKED, Connection.State.NONE])
    def test_a_tenant_without_connection_sees_what_was_told(self, house, hook, post, process, state):
        with tenant_scope(hook.tenant):
            Connection.objects.update(state=state)
        post(notification("h-1"))
        process.flush()
        age(hook, 11)
        look(hook)
        assert [each.notified for each in records(hook, "h-1")] == [True]

    def test_calls_that_are_used_up_are_no_reason_to_show_nothing(self, house, hook, post, process, monkeypatch):
        monkeypatch.setattr(processing, "has_calls_for_log", lambda connection: False)
        post(notification("h-1"))
        process.flush()
        age(hook, 11)
        look(hook)
        assert states(hook) == ["kept"]

    @pytest.mark.parametrize("body", [
        {"history_id": "h-1", "tenant_id": "somebody else"}, {"event": "test"}, b"no JSON",
    ])  # fmt: skip
    def test_what_names_no_record_of_this_tenant_is_never_shown(self, house, hook, post, process, body):
        trouble(hook)
        with tenant_scope(hook.tenant):
            before = History.objects.count()
        post(body)
        process.flush()
        age(hook, 11)
        look(hook)
        with tenant_scope(hook.tenant):
            assert History.objects.count() == before
        assert "waiting" not in states(hook)

    @pytest.mark.parametrize("odd", [
        {"additional_info": None}, {"additional_info": {"member": "somebody"}}, {"device_id": None}, {"datetime": "x"},
        {"device_id": ["x"]}, {"category": {}}, {"additional_info": {"units": [1, {}, {"unit_no": "1"}]}},
    ])  # fmt: skip
    def test_odd_notifications_are_shown_as_far_as_they_can_be_read(self, house, hook, post, process, odd):
        trouble(hook)
        post(notification("h-1") | odd)
        process.flush()
        age(hook, 11)
        look(hook)
        assert [each.notified for each in records(hook, "h-1")] == [True]


class TestTheTimer:
    def test_finds_what_no_bell_told_and_rings_once_in_a_while(
        self, house, hook, post, process, monkeypatch, django_capture_on_commit_callbacks
    ):
        rung = []
        monkeypatch.setattr("portal.base.timers.celery_app.enqueue", lambda task, rows, **_: rung.append((task, rows)))
        with django_capture_on_commit_callbacks(execute=True):
            post(notification())
            process.flush()
        assert rung == [(processing.MESSAGES.task, [(hook.tenant.pk,)])]
        assert processing.MESSAGES.check_due() == 1
        assert processing.MESSAGES.check_due() == 0

    def test_forgets_old_notifications_alone(self, house, hook, post, process):
        post(notification("old"))
        process.flush()
        age(hook, health.RETAIN_FOR.total_seconds() + 60)
        post(notification("new"))
        process.flush()
        round_of("old_notifications")
        with across_tenants("a test looks at what is left"):
            assert [each.history_id for each in Notification.objects_across_tenants.all()] == ["new"]
