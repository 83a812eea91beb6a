"""A guard and the keys: which are out, who has them since when, who had one before, and releasing them."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accessapi.keys import KeyEvent
from portal.base.timers.clock import database_now
from portal.domain.alerts import detection
from portal.domain.alerts.models import Alert
from portal.domain.intents import sending, tracking
from portal.domain.intents.models import Intent, State
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox
from portal.keys import status_reading
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.desk import said
from tests.support.keys import key, key_box, reads, tells
from tests.support.log import loaded

HOUR = timedelta(hours=1)


@pytest.fixture
def one(place):
    key_box(place)
    loaded(place)
    return place


@pytest.fixture
def guard(one):
    return one.client(one.staff("guard"))


def page(place, rest=""):
    return f"/t/{place.tenant.slug}/keys/{rest}"


def ago(hours):
    return database_now() - hours * HOUR


def test_the_list_says_which_keys_are_out_with_whom_and_what_it_does_not_know(one, guard):
    reads(one, u01="return", u02="return")
    tells(one, "02", "Key taken", database_now() + HOUR / 60)
    words = said(guard.get(page(one)))
    assert "1 of 3 keys out" in words
    assert "(1 unknown)" in words
    assert "佐藤 花子" in words
    assert words.index("02 社用車") < words.index("03 倉庫") < words.index("01 正面玄関 予備")


def test_a_key_that_is_out_for_longer_than_the_rule_allows_is_overdue_and_an_alert(one, guard):
    tells(one, "02", "Key taken", ago(13))
    words = said(guard.get(page(one)))
    assert "1 of 3 keys out, 1 overdue" in words
    with tenant_scope(one.tenant):
        detection.check_tenant()
        alert = Alert.objects.get(kind="key_overdue")
    words = said(one.client(one.owner).get(f"/t/{one.tenant.slug}/alerts/{alert.pk}/"))
    assert "総務キーボックス 02 社用車 has been out for over 12 hours." in words
    assert "1 log record" in words
    assert "佐藤 花子" in words
    tells(one, "02", "Key returned", ago(0))
    with tenant_scope(one.tenant):
        detection.check_tenant()
        assert Alert.objects.get().ended_at is not None


def test_where_box_and_log_disagree_it_is_said(one, guard):
    tells(one, "01", "Key taken", ago(2))
    reads(one, u01="return")
    assert "1 discrepancy" in said(guard.get(page(one)))
    assert "Key box and activity log don’t match" in said(guard.get(page(one, "K1/")))
    words = said(guard.get(page(one, "K1/01/")))
    assert "The key box and the activity log don" in words


def test_an_error_of_a_keys_place_is_said_where_the_key_is_released(one, guard):
    tells(one, "02", "Key taken", ago(2))
    reads(one, errors={"01": ["key_unlock_error"], "02": ["key_unlock_error"]}, u01="return", u02="return")
    assert "1 discrepancy, 2 faulty" in said(guard.get(page(one)))
    words = said(guard.get(page(one, "?state=faulty")))
    assert "Releasing the key failed, Key box and activity log don’t match" in words
    for rest in ("K1/", "K1/01/"):
        assert "Releasing the key failed" in said(guard.get(page(one, rest)))


def test_a_key_in_the_place_of_another_is_marked_and_an_alert(one, guard):
    reads(one, errors={"01": ["wrong_key"]}, u01="return")
    for rest in ("", "K1/", "K1/01/"):
        words = said(guard.get(page(one, rest)))
        assert "Wrong key" in words
        assert "Another key is in its place" in words
    with tenant_scope(one.tenant):
        detection.check_tenant()
        alert = Alert.objects.get(kind="key_wrong")
    words = said(guard.get(f"/t/{one.tenant.slug}/alerts/{alert.pk}/"))
    assert "総務キーボックス 01 正面玄関 予備: another key is in its place." in words
    reads(one, u01="return")
    with tenant_scope(one.tenant):
        detection.check_tenant()
        assert Alert.objects.get().ended_at is not None


def test_a_time_is_shown_where_the_change_was_seen_alone(one, guard):
    reads(one, ago=60, u01="taken", u02="return")
    for rest in ("", "K1/", "K1/01/"):
        assert not re.search(r"[\d:]+ at the latest", said(guard.get(page(one, rest))))
    reads(one, u01="taken", u02="taken")
    assert len(re.findall(r"taken [\d:]+ at the latest", said(guard.get(page(one, "K1/"))))) == 1


def test_a_key_box_that_is_offline_is_marked_where_it_is_counted(one, guard):
    key_box(one, "K2", "別館キーボックス", size=1)
    reads(one, u01="return", u02="return", u03="return")
    reads(one, "K2", u01="return")
    reads(one, "K2", line="disconnected")
    answer = guard.get(page(one))
    assert "1 key box offline" in said(answer)
    [tile] = re.findall(r'<li class="tile tile-hatched">.*?</li>', answer.content.decode(), re.DOTALL)
    assert "別館キーボックス" in tile
    assert "Offline" in tile
    assert said(answer).count("Key box offline") == 1


def test_a_keys_page_tells_its_holders_and_the_gaps_between_them(one):
    manager = one.client(one.staff("facility manager"))
    tells(one, "01", "Key taken", ago(9), who="m-1", name="佐藤 花子")
    tells(one, "01", "Key returned", ago(8), who="m-1", name="佐藤 花子")
    tells(one, "01", "Key taken", ago(7), who="m-2", name="鈴木 一郎")
    tells(one, "01", "Key taken", ago(6), who="m-3", name="高橋 美咲")
    tells(one, "01", "Key returned", ago(5), who="m-3", name="高橋 美咲")
    tells(one, "01", "Key returned", ago(4), who="m-4", name="田中 実")
    words = said(manager.get(page(one, "K1/01/")))
    names = ["田中 実", "高橋 美咲", "鈴木 一郎", "佐藤 花子"]
    assert sorted(names, key=words.rindex) == names
    assert "Taken again with no return recorded" in words
    assert "Returned, never recorded as taken" in words


def test_who_may_not_see_the_log_sees_what_the_box_says_and_nobody(one, make):
    reads(one, ago=7200, u01="return", u02="taken")
    tells(one, "01", "Key taken", ago(1))
    support = one.client(one.staff("guard"))
    assert "佐藤 花子" in said(support.get(page(one)))
    from portal.keys import queries
    from tenants import roles

    class Nobody(roles.Role):
        name, title, permissions = "nobody", "Nobody", roles.VIEW_PERMISSIONS - {roles.Permission.LOGS_VIEW}

    request = support.get(page(one)).wsgi_request
    with tenant_scope(one.tenant):
        request.access = type("A", (), {"can": lambda self, p: p in Nobody.permissions})()
        request.tenant = one.tenant
        found = {each.key.unit_no: each for each in queries.describe_keys(request, queries.visible_keys(request))}
    assert (found["01"].state, found["01"].holder) == ("in", "")
    assert found["02"].state == "out"


def test_keys_are_released_and_locked_and_the_outcome_is_followed(one, guard):
    real = one.sandbox.api("GET", "/v1/devices/keys", token=one.service.token).json()["key_devices"][0]
    box = real["key_device_id"]
    with tenant_scope(one.tenant):
        KeyBox.objects.filter(key_device_id="K1").update(key_device_id=box)
    one.sandbox.settings(one.service.tenant_id, device_seconds=0)
    form = guard.get(page(one, f"{box}/")).content.decode()
    nonce = re.search(r'name="nonce" value="([^"]*)"', form)[1]
    answer = guard.post(page(one, f"{box}/command/"), {"nonce": nonce, "control": "unlock", "unit": ["01", "02"]})
    assert answer.status_code == 302
    with tenant_scope(one.tenant):
        intent = Intent.objects.get(operation="operate_keys")
        assert (intent.body["targets"], intent.body["control"]) == (["01", "02"], "unlock")
        if intent.state == State.QUEUED:
            sending.send(intent)
        Intent.objects.filter(state=State.ACCEPTED).update(due_at=database_now())
        for each in Intent.objects.filter(state=State.ACCEPTED):
            tracking.poll(each)
        assert Intent.objects.get().state == State.SUCCEEDED
    assert "Release key 01, 02: 総務キーボックス" in said(guard.get(page(one, f"{box}/")))


@pytest.mark.parametrize("units", [[], ["77"], ["01", "99"]])
def test_nothing_is_sent_for_keys_that_the_box_does_not_have(one, guard, units):
    form = guard.get(page(one, "K1/")).content.decode()
    if "control" not in form:
        pytest.skip("no licence")
    nonce = re.search(r'name="nonce" value="([^"]*)"', form)[1]
    told = guard.post(page(one, "K1/command/"), {"nonce": nonce, "control": "unlock", "unit": units}, follow=True)
    assert "Nothing was sent." in said(told)
    with tenant_scope(one.tenant):
        assert not Intent.objects.exists()


def test_a_key_is_lent_to_a_member_from_its_page(one):
    manager = one.client(one.staff("facility manager"))
    with tenant_scope(one.tenant):
        Member.objects.create(member_id="m-9", member_name="Ichiro Suzuki", name_key="ichiro suzuki")
    found = manager.get(page(one, "K1/02/") + "?who=m-9").content.decode()
    assert "Temporary keys" in found
    form = manager.get(f"/t/{one.tenant.slug}/members/m-9/keys/?units=02@K1").content.decode()
    assert re.search(r'value="02@K1"\s+checked', form)


def test_a_due_box_is_read_within_budget_and_only_once(one):
    real = one.sandbox.api("GET", "/v1/devices/keys", token=one.service.token).json()["key_devices"][0]
    with tenant_scope(one.tenant):
        KeyBox.objects.filter(key_device_id="K1").update(key_device_id=real["key_device_id"], units=real["units"])
        assert (status_reading.read_due_boxes(), status_reading.read_due_boxes()) == (1, 0)
    assert key(one, "01", real["key_device_id"]).read_at is not None


def test_where_the_contract_lacks_key_boxes_one_is_asked_now_and_then(make):
    house = make(contracts=("door", "qr"))
    for number in range(3):
        key_box(house, f"K{number}")
    with tenant_scope(house.tenant):
        Connection.objects.update(contracts_refused=["key_box"])
        before = len(house.sandbox.calls(house.service.tenant_id, 28))
        assert [status_reading.read_due_boxes() for _ in range(3)] == [0, 0, 0]
        assert len(house.sandbox.calls(house.service.tenant_id, 28)) == before + 1
        assert KeyBox.objects.filter(look_at__gt=database_now()).count() == 3


def test_many_keys_take_as_many_statements_as_few(one, guard):
    with CaptureQueriesContext(connection) as few:
        guard.get(page(one))
    for number in range(2, 12):
        key_box(one, f"K{number}", f"キーボックス {number}", size=30)
    with CaptureQueriesContext(connection) as many:
        guard.get(page(one))
    assert len(many) <= len(few) + 1


def test_other_words_for_keys_are_known_by_the_overrides(one):
    states = one.tenant.environment.catalogue.states
    assert states.key_event_of([states.service_word("Key taken")]) is KeyEvent.TAKEN
    assert states.key_state("levitating") == ""


def test_the_record_of_a_command_is_that_of_the_key_it_was_for(one, guard):
    """Check that a record is matched with its command by the key's number, with two keys of one box."""
    from portal.domain.history import request_matching

    def asked(unit):
        return Intent(path={"key_device_id": "K1"}, body={"targets": [unit]})

    said_of = request_matching.RecordContent("", "K1", [], frozenset({"01"}))
    assert [request_matching._is_about(said_of, asked(unit)) for unit in ("01", "02")] == [True, False]
