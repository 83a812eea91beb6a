"""The state of a key: the newer of the last reading and the newest record, and how contradictions are marked."""

from datetime import timedelta

import pytest

from accessapi.resources.histories import History
from portal.base.timers.clock import database_now
from portal.domain.alerts.overdue_keys import FAULTY
from portal.domain.places import key_states
from portal.domain.places.models import Key, KeyBox, KeyState
from tenants.scope import tenant_scope
from tests.support.keys import key, key_box, reads, tells

MINUTE = timedelta(minutes=1)


@pytest.fixture
def one(place):
    key_box(place)
    return place


def ago(minutes):
    return database_now() - minutes * MINUTE


def test_of_a_key_that_nobody_told_of_nothing_is_known(one):
    assert (key(one).state, key(one).since, key(one).known_at) == (KeyState.UNKNOWN, None, None)


def test_a_record_tells_who_took_it_and_since_when(one):
    at = ago(30)
    tells(one, "01", "Key taken", at)
    assert (key(one).state, key(one).holder_id, key(one).since) == (KeyState.OUT, "m-1", at)
    assert key(one, "02").state == KeyState.UNKNOWN
    tells(one, "01", "Key returned", ago(5), who="m-2")
    assert (key(one).state, key(one).holder_id) == (KeyState.IN, "")


def test_a_record_tells_of_a_key_in_the_label_beside_another_text(one):
    label = one.tenant.environment.catalogue.states.service_word("Key taken")
    tells(one, "01", "総務キーボックス", ago(30), member_label=label)
    assert key(one).state == KeyState.OUT


@pytest.mark.parametrize("number", [1, "1", "01"])
def test_a_number_of_a_unit_means_the_same_key_in_every_form(one, number):
    with tenant_scope(one.tenant):
        KeyBox.objects.update(units={"unit_no": number, "unit_name": "玄関"})
        key_states.on_key_boxes(one.tenant)
        assert list(Key.objects.values_list("unit_no", "unit_name")) == [("01", "玄関")]
        words = one.tenant.environment.catalogue.states
        said = {"unit_no": number, "key": words.service_word("return", "key_in"), "errors": "key_unlock_error"}
        key_states.apply_reading(one.tenant, "K1", {"units_status": said}, database_now())
        assert key(one).state == KeyState.IN
        assert Key.objects.filter(FAULTY).count() == 1, "one error is told as a list of one"
    record = History.model_validate({"history_id": "h", "device": {"units": {"unit_no": number}}})
    assert [unit.unit_no for unit in record.device.units] == ["01"]


def test_an_older_record_that_comes_late_changes_nothing(one):
    tells(one, "01", "Key returned", ago(5))
    tells(one, "01", "Key taken", ago(30))
    assert key(one).state == KeyState.IN


def test_a_reading_after_the_record_counts_and_the_contradiction_is_said(one):
    tells(one, "01", "Key taken", ago(30))
    reads(one, u01="return")
    found = key(one)
    assert (found.state, found.differs, found.holder_id) == (KeyState.IN, True, "")
    with tenant_scope(one.tenant):
        box = KeyBox.objects.get()
    assert box.look_at - box.status_as_of == key_states.CONFLICT_INTERVAL
    tells(one, "01", "Key returned", ago(2))
    assert (key(one).state, key(one).differs) == (KeyState.IN, False)


def test_a_late_record_that_contradicts_the_reading_has_the_box_read_soon(one):
    reads(one, u01="return")
    with tenant_scope(one.tenant):
        KeyBox.objects.update(look_at=database_now() + key_states.USUAL_INTERVAL)
    tells(one, "01", "Key taken", ago(30))
    assert key(one).differs
    with tenant_scope(one.tenant):
        assert KeyBox.objects.get().look_at <= database_now() + key_states.CONFLICT_INTERVAL


def test_a_record_after_the_reading_is_news_and_no_contradiction(one):
    reads(one, ago=600, u01="return")
    tells(one, "01", "Key taken", ago(1))
    assert (key(one).state, key(one).differs) == (KeyState.OUT, False)


def test_a_reading_that_agrees_leaves_since_when_and_with_whom(one):
    at = ago(30)
    tells(one, "01", "Key taken", at)
    reads(one, u01="taken")
    assert (key(one).state, key(one).since, key(one).holder_id) == (KeyState.OUT, at, "m-1")


def test_without_any_record_a_key_is_out_since_the_first_reading_that_showed_it(one):
    reads(one, ago=600, u01="taken")
    first = key(one).since
    reads(one, u01="taken")
    assert (key(one).state, key(one).since) == (KeyState.OUT, first)


def test_a_box_out_of_reach_tells_nothing_of_its_keys(one):
    tells(one, "01", "Key taken", ago(30))
    reads(one, line="disconnected", u01="return")
    assert (key(one).state, key(one).differs, key(one).read_at) == (KeyState.OUT, False, None)


def test_a_word_that_nobody_knows_is_kept_and_the_record_counts(one):
    reads(one, u01="levitating")
    assert (key(one).state, key(one).word) == (KeyState.UNKNOWN, "levitating")


def test_a_contradiction_that_nothing_ends_has_its_box_read_ever_less(one):
    tells(one, "01", "Key taken", ago(200))
    pauses = []
    for minutes in (150, 145, 138, 120, 60, 0):
        reads(one, ago=60 * minutes, u01="return")
        with tenant_scope(one.tenant):
            box = KeyBox.objects.get()
        pauses.append(round((box.look_at - box.status_as_of).total_seconds() / 60))
    assert key(one).differs
    assert pauses == [5, 5, 12, 30, 30, 30]


def test_a_service_clock_that_goes_before_ours_cannot_outdo_readings_to_come(one):
    tells(one, "01", "Key taken", database_now() + timedelta(hours=5))
    reads(one, u01="return")
    assert key(one).state == KeyState.IN


def test_an_older_reading_that_comes_late_changes_nothing(one):
    reads(one, u01="return")
    reads(one, ago=60, u01="taken")
    assert key(one).state == KeyState.IN


def test_records_that_a_listener_missed_are_taken_by_the_next_reading(one):
    from tests.support.log import happened, record

    units = [{"unit_no": "01", "unit_name": ""}]
    happened(one, record(ago(20), content="Key taken", device_id="K1", units=units, member_id="m-7"))
    assert key(one).state == KeyState.UNKNOWN
    reads(one, u01="taken")
    assert key(one).holder_id == "m-7"


def test_keys_come_and_go_with_the_list(one):
    with tenant_scope(one.tenant):
        box = KeyBox.objects.get()
        box.units = [{"unit_no": "01", "unit_name": "新しい名前"}, {"unit_no": "09"}, "nonsense", {"unit_name": "x"}]
        box.save()
        key_states.on_key_boxes(one.tenant)
        assert [str(each) for each in Key.objects.order_by("unit_no")] == ["01 新しい名前", "09"]


@pytest.mark.parametrize("status", [{}, {"units_status": None}, {"units_status": [None, {"unit_no": []}, {"key": 3}]}])
def test_an_answer_of_another_shape_is_kept_and_harms_nothing(one, status):
    tells(one, "01", "Key taken", ago(30))
    with tenant_scope(one.tenant):
        key_states.apply_reading(one.tenant, "K1", status, database_now())
        assert KeyBox.objects.get().status == status
    assert key(one).state == KeyState.OUT


def test_a_first_reading_does_not_say_since_when(one):
    reads(one, ago=600, u01="taken")
    assert key(one).since_seen() == (None, False)
    reads(one, ago=60, u01="return")
    since, at_least = key(one).since_seen()
    assert (database_now() - since < 2 * MINUTE, at_least) == (True, True)
    reads(one, u01="return")
    assert key(one).since_seen()[0] == since


def test_a_word_that_means_nothing_is_no_change_that_was_seen(one):
    for seconds, word in ((60, "return"), (50, "???"), (40, "taken")):
        reads(one, ago=seconds, u01=word)
    assert key(one).since_seen() == (None, False)


def test_of_a_key_in_whose_place_another_is_nothing_is_known_but_that(one):
    tells(one, "01", "Key returned", ago(30))
    tells(one, "02", "Key taken", ago(30))
    reads(one, errors={"01": ["wrong_key"]}, u01="return", u02="wrong")
    found = key(one)
    assert (found.wrong, found.state, found.since_seen()) == (True, KeyState.UNKNOWN, (None, False))
    assert (key(one, "02").wrong, key(one, "02").state) == (True, KeyState.OUT)
    reads(one, u01="return", u02="wrong")
    assert (key(one).wrong, key(one).state) == (False, KeyState.IN)
