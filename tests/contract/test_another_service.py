"""Run the portal against a service that makes the opposite choice wherever the specification leaves one.

The outcomes are the same with an overrides file alone, and no call is refused that no person caused. `make soak` runs
journeys and fault tests against it too.
"""

import contextlib
import time
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.intents import tracking
from portal.domain.intents.actions import submit
from portal.domain.intents.models import Intent, State
from portal.domain.intents.recording import Command
from portal.domain.people.models import Group, Member
from portal.domain.places.models import Area, Key, KeyBox
from portal.domain.sync import schedule, single_reads, tasks
from portal.domain.sync.models import MirrorState
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.changes import ChangesDesk
from tests.support.desk import GuestDesk, fields_of, said
from tests.support.doors import door, real_doors
from tests.support.images import jpeg
from tests.support.members import MembersDesk
from tests.support.places import fresh_nonce, make_place, place_elsewhere
from tests.support.sandbox_building import House
from tests.support.second_service import Elsewhere


@pytest.fixture
def place(contrary, db):
    """Yield a tenant of the contrary sandbox; check at the end that the service refused nothing without a reason."""
    place = make_place(contrary, members=8)
    contrary.settings(place.service.tenant_id, device_seconds=0, face_seconds=0)
    yield place
    assert [call for call in place.calls() if call["status"] >= 400] == []


def time_passes(place):
    """Follow every accepted request to its end."""
    with tenant_scope(place.tenant):
        for _ in range(100):
            waiting = list(Intent.objects.filter(state=State.ACCEPTED))
            if not waiting:
                return
            Intent.objects.update(due_at=database_now())
            for intent in waiting:
                tracking.poll(intent)


@pytest.mark.parametrize("start", ["", "+1440"], ids=["that works", "that has not begun"])
def test_a_guests_code_is_issued_extended_and_cut(place, start):
    desk = GuestDesk(place)
    begin = {"start": f"{timezone.localtime() + timedelta(days=1):%Y-%m-%dT%H:%M}", "until": ""} if start else {}
    visit = desk.issued(**begin)
    desk.act(visit, "extend", to="30")
    assert "confirmed" in said(desk.act(visit, "cut"))
    assert desk.visit(visit).ended_confirmed_at
    assert desk.end_at_service(visit) <= timezone.now()


def test_many_members_are_changed_and_changed_back(place):
    desk = ChangesDesk(place)
    member, later = desk.members()[:2]
    tomorrow = (timezone.now() + timedelta(days=1)).replace(microsecond=0)
    desk.send(f"{later.member_id}/edit/", use_date_start=f"{timezone.localtime(tomorrow):%Y-%m-%dT%H:%M}",
              use_date_end="")  # fmt: skip
    job = desk.changed("suspend", [desk.known(member), desk.known(later)])
    assert set(desk.rows_by_state(job)) == {"succeeded"}
    shown = desk.at_service(later.member_id)
    assert datetime.fromisoformat(shown["use_date_end"]) > datetime.fromisoformat(shown["use_date_start"])
    job = desk.changed("move", desk.members(), group=desk.group.membergroup_id)
    assert set(desk.rows_by_state(job)) == {"succeeded"}


def test_a_members_code_picture_and_face_are_set_and_taken_away(place):
    desk = MembersDesk(place)
    member = desk.members()[0]
    edit, face = f"{member.member_id}/edit/", f"{member.member_id}/face/"
    desk.send(edit, qr="one_time", qr_data="GATE-7", qr_timestep="3600")
    assert desk.at_service(member.member_id)["qrcode"]["one_time_qr"]["timestep"] == 3600
    desk.send(edit, qr="remove")
    assert "qrcode" not in desk.at_service(member.member_id)
    for colour in (40, 200):
        picture = SimpleUploadedFile("a.jpg", jpeg(colour=colour), "image/jpeg")
        desk.client.post(desk.url + face, {"nonce": desk.fields(face)["nonce"], "image": picture})
        time_passes(place)
        assert desk.at_service(member.member_id)["face_data"]
    desk.send(face + "delete/", confirmed="1")
    assert "face_data" not in desk.at_service(member.member_id)
    desk.send(f"{member.member_id}/delete/", confirmed="1")
    assert member.member_id not in {each.member_id for each in desk.members()}


def test_a_door_is_unlocked_held_and_locked_again(place):
    device = real_doors(place)[0]
    client = place.client(place.staff("facility manager"))
    page = f"/t/{place.tenant.slug}/devices/{device}/"
    for control, locked in (("cont_unlock", "Unlocked"), ("lock", "Locked")):
        fields = fields_of(client.get(page).content.decode(), "/command/")
        client.post(page + "command/", {**fields, "control": control, "end": "15"})
        time_passes(place)
        assert locked in said(client.get(page + "status/"))
    assert [command["control"] for command in place.sandbox.commands(place.service.tenant_id)] == [
        "cont_unlock", "lock",
    ]  # fmt: skip
    assert door(place, device).status["door_status"]["lock"] == "locked"


def test_where_a_key_is_is_known_by_other_words(place):
    box = place.sandbox.api("GET", "/v1/devices/keys", token=place.service.token).json()["key_devices"][0]
    with tenant_scope(place.tenant):
        KeyBox.objects.create(key_device_id=box["key_device_id"], key_device_name="Keys", units=box["units"])
        single_reads.read_key_box_status(place.connection, box["key_device_id"], Priority.PEOPLE)
        states = set(Key.objects.values_list("read_state", flat=True))
        raw = {key.word for key in Key.objects.all()}
    assert (states, raw) == ({"in", "out"}, {"placed", "lent"})


def test_who_has_a_key_is_known_by_other_words_of_the_log(place):
    box = place.sandbox.api("GET", "/v1/devices/keys", token=place.service.token).json()["key_devices"][0]
    house = House(place.sandbox, place.service)
    holder = house.member(card_data="CARD1")
    with tenant_scope(place.tenant):
        KeyBox.objects.create(key_device_id=box["key_device_id"], key_device_name="Keys", units=box["units"])
        single_reads.read_key_box_status(place.connection, box["key_device_id"], Priority.PEOPLE)
        unit = Key.objects.filter(read_state="in", restriction=False).order_by("number_order")[0].unit_no
        told = []
        for act in ("take", "return"):
            time.sleep(1.01 - time.time() % 1)  # the log has whole seconds, and no person does both within one
            assert house.key(act, unit, "CARD1")["admitted"] is True
            schedule.schedule_all(place.tenant)
            MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(due_at=database_now())
            tasks.read_due()
            key = Key.objects.get(key_box__key_device_id=box["key_device_id"], unit_no=unit)
            told.append((key.state, key.holder_id, key.differs))
    assert told == [("out", holder, False), ("in", "", False)]


def test_a_service_that_allows_far_fewer_calls_is_never_asked_too_often(contrary, db):
    place = make_place(contrary, members=3)
    contrary.settings(place.service.tenant_id, general_limit=60, device_limit=20)
    desk = MembersDesk(place)
    member = desk.members()[0].member_id
    with desk.scope(), contextlib.suppress(BudgetExhausted):
        for _ in range(80):
            single_reads.read_member(place.connection, member, Priority.PEOPLE)
    statuses = [call["status"] for call in place.calls()]
    assert (40 < len(statuses) <= 60, statuses.count(429)) == (True, 0)


# The service that was written from the specification alone


@pytest.fixture
def elsewhere(db):
    """Return a tenant at the service that shares no code with the sandbox."""
    with Elsewhere(deletes_once=True, lively=False) as service:
        place = place_elsewhere(service)
        with tenant_scope(place.tenant):
            yield place
        assert [entry for entry in service.world.log if entry[1] >= 400] == []


def ask(place, operation, **more):
    values = {"permission": Permission.MEMBERS_EDIT, "title": operation, **more}
    intent = submit(Command(operation=operation, **values), by=place.asker, nonce=fresh_nonce())
    time_passes(place)
    intent.refresh_from_db()
    return intent


def test_elsewhere_lists_are_read_too(elsewhere):
    assert (Member.objects.count(), Group.objects.count(), Area.objects.count()) == (5, 3, 2)


def test_elsewhere_members_are_changed_relieved_of_their_qr_code_and_deleted(elsewhere):
    member = Member.objects.first().member_id
    target = {"path": {"member_id": member}, "target": f"member:{member}"}
    changed = ask(elsewhere, "update_member", body={"member_name": "新しい名前", "qrcode": None}, **target)
    assert (changed.state, ask(elsewhere, "delete_member", **target).state) == (State.SUCCEEDED, State.SUCCEEDED)


def test_elsewhere_bulk_requests_and_doors_are_followed_to_their_outcome(elsewhere):
    group = ask(elsewhere, "create_membergroup", body={"membergroup_name": "営業部"})
    members = [{"member_name": f"会員{n}", "membergroup_id": group.result["membergroup_id"]} for n in range(3)]
    assert ask(elsewhere, "bulk_create_members", body={"members": members}).state == State.SUCCEEDED
    order = {"tag": "lock_operation", "control": "unlock"}
    assert ask(elsewhere, "operate_door", path={"device_id": "mock_succeeded"}, body=order).state == State.SUCCEEDED
