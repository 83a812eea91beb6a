"""Walk-ins are checked in with their code, a party is checked in together, and undo covers a person's whole step."""

import re
import uuid
from datetime import timedelta

import pytest

from portal.domain.visits.days import Day
from portal.domain.visits.models import By, Visit
from portal.domain.visits.visit_status import VisitStatus, status_of
from tenants.models import AuditEntry
from tests.receptionist.desk import again, names, visit
from tests.support.desk import GuestDesk, said
from tests.support.members import said as words_of
from tests.support.rounds import round_of


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def press(desk, who, step, **values):
    address = f"{desk.url}visits/{who.pk}/presence/{step}/"
    return desk.client.post(address, values, headers={"HX-Request": "true"})


def undo(desk):
    return desk.client.post(desk.url + "undo/", headers={"HX-Request": "true"})


def trail(desk):
    with desk.scope():
        return list(AuditEntry.objects.filter(action__startswith="guest.").order_by("pk"))


def test_a_walk_in_is_checked_in_with_the_code(desk):
    who = desk.issued()
    assert (status_of(who), who.arrived_by, who.arrived_at) == (VisitStatus.HERE, By.ISSUE, who.created_at)
    assert str(who) in names(desk.get("", show="here"))
    written = [(entry.action, entry.by) for entry in trail(desk) if entry.target == f"visit:{who.pk}"]
    assert written == [("guest.arrived", desk.user)]
    undo(desk)
    assert status_of(desk.visit(who)) == VisitStatus.EXPECTED


LATER = {"start": "2031-01-01T10:00", "until": "2031-01-01 12:00"}
ELSEWHERE = {
    "whose code begins later": LATER,
    "who gets it by mail": {"delivery": "mail", "email": "a@example.test"},
    "who made a reservation": {"is_for_reserve": "on"},
}


@pytest.mark.parametrize("who", ELSEWHERE)
def test_somebody_who_does_not_stand_at_the_desk_is_expected(desk, who):
    assert status_of(desk.issued(**ELSEWHERE[who])) == VisitStatus.EXPECTED


def test_a_visit_type_can_say_otherwise(desk):
    manager = GuestDesk(desk.place, "facility manager")
    desk.preset()
    page = manager.get("presets/")
    address = re.search(r"presets/\d+/(?=\")", page)[0]
    kept = {"name": "Visitor", "ends": "minutes", "minutes": "60", "grace_minutes": "0"}
    manager.client.post(manager.url + address, kept)
    assert "not checked in with the code" in said(manager.client.get(manager.url + "presets/"))
    assert status_of(desk.issued()) == VisitStatus.EXPECTED
    manager.client.post(manager.url + address, kept | {"arrives": "on"})
    assert status_of(desk.issued(name="別の客")) == VisitStatus.HERE


def test_whoever_got_no_code_is_not_checked_in_by_asking_for_one(desk):
    desk.fault("status", "create_guest", status=400, error_code="40002", error_detail="guest_name: not this one")
    desk.issue()
    assert desk.visits()[-1].arrived_at is None


def test_a_walk_in_whose_departure_nobody_marked_has_left_the_next_day(desk):
    who = desk.issued()
    yesterday = Day.today().start - timedelta(hours=3)
    with desk.scope():
        over = {"arrived_at": yesterday, "use_date_start": yesterday, "use_date_end": yesterday + timedelta(hours=1)}
        Visit.objects.filter(pk=who.pk).update(**over)
    long = desk.issued(name="夜勤 太郎", until="2031-01-01 12:00")
    with desk.scope():
        Visit.objects.filter(pk=long.pk).update(arrived_at=yesterday)
    round_of("open_visits")
    assert desk.visit(who).left_at is not None
    assert desk.visit(long).left_at is None, "the code goes on, so the visit may"


@pytest.fixture
def party(place):
    name = uuid.uuid4()
    return [visit(place, f"客 {n}", party=name) for n in range(3)]


def test_a_party_is_checked_in_together_and_undone_together(desk, party):
    place = desk.place
    alone = visit(place, "一人")
    board = desk.get()
    assert board.count("Check in all 3") == 3
    assert "客 0 and 2 more: on site since" in words_of(press(desk, party[0], "arrived", together="1"))
    rows = [again(place, who) for who in party]
    assert len({row.arrived_at for row in rows} - {None}) == 1
    assert again(place, alone).arrived_at is None
    (entry,) = [entry for entry in trail(desk) if entry.target.startswith("party:")]
    assert entry.after["visits"] == [who.pk for who in party]
    assert "客 0 and 2 more: not checked in" in words_of(undo(desk))
    assert [again(place, who).arrived_at for who in party] == [None] * 3


def test_one_of_a_party_can_come_first_and_the_others_follow(desk, party):
    press(desk, party[1], "arrived")
    first = again(desk.place, party[1]).arrived_at
    board = desk.get()
    assert "Check in all 2" in board
    assert "<kbd>Shift</kbd> <kbd>a</kbd> only this guest" in board
    press(desk, party[0], "arrived", together="1")
    rows = [again(desk.place, who) for who in party]
    assert rows[1].arrived_at == first
    assert all(row.arrived_at for row in rows)


def test_undo_goes_back_through_all_that_this_person_did_and_touches_nothing_else(desk):
    place = desk.place
    one, two, three = (visit(place, name) for name in ("一郎", "二郎", "三郎"))
    for who, step in ((one, "arrived"), (two, "arrived"), (one, "left"), (one, "back")):
        press(desk, who, step)
    other = GuestDesk(place)
    press(other, three, "arrived")
    assert "Undo: 一郎" in words_of(undo(desk))
    assert again(place, one).left_at is not None, "“here again” is taken back: the departure is there as it was"
    assert "Undo: 二郎" in words_of(undo(desk))
    assert again(place, one).left_at is None
    undo(desk)
    assert again(place, two).arrived_at is None
    undo(desk)
    assert again(place, one).arrived_at is None
    assert "Nothing to undo." in words_of(undo(desk))
    assert again(place, three).arrived_at is not None


def test_what_somebody_else_changed_meanwhile_is_not_taken_back(desk):
    place = desk.place
    who, before = visit(place, "一郎"), visit(place, "二郎")
    press(desk, before, "arrived")
    press(desk, who, "arrived")
    press(GuestDesk(place), who, "left")
    told = words_of(undo(desk))
    assert "changed since" in told
    assert "Undo: 二郎" in told
    assert again(place, who).left_at is not None
    undo(desk)
    assert again(place, before).arrived_at is None


def test_without_script_undo_is_a_button_too(desk):
    who = visit(desk.place, "一郎")
    page = desk.client.post(f"{desk.url}visits/{who.pk}/presence/arrived/", {"back": ""}, follow=True)
    assert f'formaction="{desk.url}undo/"' in page.content.decode()
    page = desk.client.post(desk.url + "undo/", {"back": ""}, follow=True)
    assert "一郎 is not checked in" in said(page)
