"""A receptionist extends, cuts short and edits; and a code that must die dies at the service in the end."""

import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.resources import write_moment
from portal.guests import cutting, tasks
from portal.guests.models import Stage, Visit
from portal.intents import sending, sweeping
from portal.intents.clock import ClockTime
from portal.intents.models import Intent
from portal.intents.states import State
from portal.mirror.models import Area, Guest
from tenants.models import AuditEntry, Staff
from tenants.scope import across_tenants
from tests.support.desk import NAME, GuestDesk, said
from tests.support.effort import one_in

CREATE, READ, UPDATE = 20, 21, 22


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def end_at_service(desk, visit):
    return datetime.fromisoformat(desk.at_service(visit.guest_id)["use_date_end"])


def test_the_guests_page_is_read_once_when_it_is_opened_and_not_right_after_issuing(desk):
    visit = desk.issued()
    with desk.scope():
        other = Visit.objects.filter(intent__isnull=True, gone_at__isnull=True).order_by("-use_date_end")[0]
    assert 'hx-trigger="load' not in desk.get(f"{visit.guest_id}/")
    assert 'hx-trigger="load' in desk.get(f"{other.guest_id}/")
    before = len(desk.calls())
    facts = desk.client.get(f"{desk.url}{other.guest_id}/reading/", headers={"HX-Request": "true"})
    assert desk.calls(before) == [READ]
    assert "Read from the service just now" in said(facts)


def test_an_extension_is_one_press(desk):
    visit = desk.issued()
    for to, minutes in (("30", 30), ("60", 60), ("until", 240)):
        old = timezone.now() if to == "until" else desk.visit(visit).use_date_end
        answer = desk.act(visit, "extend", to=to, until=f"+{minutes}" if to == "until" else "")
        assert answer.redirect_chain
        end = end_at_service(desk, visit)
        assert abs(end - old - timedelta(minutes=minutes)) <= timedelta(seconds=120)
        assert desk.visit(visit).use_date_end == end
    changes = [intent for intent in desk.intents() if intent.operation == "update_guest"]
    assert [list(change.body) for change in changes] == [["use_date_end"]] * 3
    assert "Extend" in said(desk.client.get(f"{desk.url}{visit.guest_id}/"))


def test_until_closing_comes_from_the_presets(desk):
    desk.preset("Day", minutes=None, until="23:59")
    visit = desk.issued(until="+5")
    page = desk.get(f"{visit.guest_id}/")
    if "Until closing" in page:  # not in the last minutes of a day
        desk.act(visit, "extend", to="closing")
        assert f"{timezone.localtime(end_at_service(desk, visit)):%H:%M}" == "23:59"


def test_until_closing_never_shortens_a_code_from_a_page_that_stood_open(desk):
    desk.preset("Day", minutes=None, until="00:00")  # today's was over as the day began
    visit = desk.issued(until="+60")
    end = end_at_service(desk, visit)
    assert "no later than the end there is" in said(desk.act(visit, "extend", to="closing"))
    assert end_at_service(desk, visit) == end


def test_a_code_that_is_cut_short_is_dead_at_the_service_when_the_page_comes_back(desk):
    visit = desk.issued()
    answer = desk.act(visit, "cut")
    assert "confirmed" in said(answer)
    visit = desk.visit(visit)
    assert visit.ended_confirmed_at is not None
    assert end_at_service(desk, visit) == visit.must_end_at <= timezone.now()
    assert "may still open" not in said(desk.client.get(desk.url + "new/"))
    again = desk.client.post(f"{desk.url}{visit.guest_id}/cut/", desk.fields(f"{visit.guest_id}/"), follow=True)
    assert "nothing to cut short" in said(again)


def test_a_code_that_has_not_begun_is_cut_too(desk):
    tomorrow = timezone.localtime() + timedelta(days=1)
    visit = desk.issued(start=f"{tomorrow:%Y-%m-%dT%H:%M}", until="+60")
    desk.act(visit, "cut")
    told = desk.at_service(visit.guest_id)
    assert told["use_date_start"] == told["use_date_end"] == write_moment(desk.visit(visit).must_end_at)
    assert desk.visit(visit).ended_confirmed_at is not None


FAULTS = {
    "an answer that is lost": [("drop_after", {})],
    "a connection that breaks": [("drop_before", {})],
    "a fault of the service": [("status", {"status": 503})],
    "a page that is no answer": [("not_json", {})],
    "all of them, and then some": [("drop_before", {"count": 2}), ("status", {"status": 500, "count": 4})],
    "a refusal": [("status", {"status": 400, "error_code": "40002", "error_detail": "use_date_end: not now"})],
}


@pytest.mark.parametrize("fault", one_in(2, FAULTS))
def test_a_code_that_must_die_dies_whatever_happens_to_the_request(desk, fault):
    visit = desk.issued()
    for kind, values in FAULTS[fault]:
        desk.fault(kind, "update_guest", **values)
    desk.fault("status", "read_guest", status=502)
    answer = desk.act(visit, "cut")
    assert desk.visit(visit).may_still_open
    assert "may still open doors" in said(answer)
    assert "may still open doors" in said(desk.client.get(desk.url + "new/")), "on every page of the desk"
    see_to_it(desk, visit)
    visit = desk.visit(visit)
    assert visit.ended_confirmed_at is not None
    assert end_at_service(desk, visit) <= visit.must_end_at
    assert len(desk.all_at_service()) == 1
    assert "may still open doors" not in said(desk.client.get(desk.url + "new/"))


def see_to_it(desk, visit, most=40):
    """What workers, the sweeper and the tick do, one after another, with every timer's wait left out."""
    with desk.scope():
        for _ in range(most):
            for intent in Intent.objects.filter(state=State.QUEUED, operation="update_guest").order_by("pk"):
                Intent.objects.filter(pk=intent.pk).update(due_at=ClockTime())
                sending.send(intent)
            last = timezone.now() - timedelta(hours=1)  # what was finished is long ago
            Intent.objects.filter(finished_at__isnull=False).update(finished_at=last, sent_at=last)
            if not Visit.objects.get(pk=visit.pk).may_still_open:
                return
            Visit.objects.filter(pk=visit.pk, cut_due_at__isnull=False).update(cut_due_at=ClockTime())
            cutting.step(visit.pk)
    raise AssertionError("the code is still not known to be dead")


def test_a_process_that_dies_after_the_claim_loses_nothing(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "cut")
    with desk.scope():  # killed between claim and answer: the row stays claimed until a sweeper finds it
        intent = desk.visit(visit).cut_intent
        long_ago = timezone.now() - timedelta(minutes=5)
        Intent.objects.filter(pk=intent.pk).update(state=State.SENDING, claimed_at=long_ago, due_at=None)
    sweeping.sweep()
    assert desk.visit(visit).cut_intent.state == State.QUEUED
    see_to_it(desk, visit)
    assert end_at_service(desk, visit) <= desk.visit(visit).must_end_at


def test_the_tick_rings_for_whatever_is_due_and_for_nothing_else(desk):
    one, other = desk.issued(name="客 一"), desk.issued(name="客 二")
    desk.fault("status", "update_guest", status=503, count=1)
    desk.act(one, "cut")
    desk.act(other, "cut")
    with desk.scope():
        Visit.objects.filter(pk=one.pk).update(cut_due_at=ClockTime())
    with across_tenants("the test looks as the tick does"):
        due = [visit_id for _tenant, visit_id in cutting.due()]
    assert one.pk in due
    assert other.pk not in due
    assert tasks.tick.promise == "tick"


def test_whoever_lost_the_right_is_replaced_by_whoever_presses_next(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "cut")
    with desk.scope():
        Staff.objects.filter(user=desk.user).update(is_active=False)
        Intent.objects.filter(pk=desk.visit(visit).cut_intent_id).update(due_at=ClockTime())
        sending.send(desk.visit(visit).cut_intent)
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=ClockTime())
        cutting.step(visit.pk)
    assert desk.visit(visit).may_still_open
    next_one = GuestDesk(desk.place)
    assert "not do so any more" in said(next_one.client.get(f"{next_one.url}{visit.guest_id}/"))
    next_one.act(visit, "cut")
    assert desk.visit(visit).ended_confirmed_at is not None
    assert desk.visit(visit).cut_by == next_one.user


def test_an_extension_that_is_still_on_its_way_does_not_outlive_the_cut(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "extend", to="60")
    (extension,) = [intent for intent in desk.intents() if intent.operation == "update_guest"]
    assert extension.state == State.QUEUED
    desk.act(visit, "cut")
    with desk.scope():
        extension.refresh_from_db()
        assert extension.state == State.CANCELLED
        row = desk.visit(visit)
        assert row.ended_confirmed_at is None, "the lost one may still arrive at the service"
        assert row.cut_due_at > timezone.now()
    see_to_it(desk, visit)
    assert end_at_service(desk, visit) <= desk.visit(visit).must_end_at


def test_an_ended_code_whose_extension_was_lost_can_still_be_cut(desk):
    visit = desk.issued(until="+60")
    desk.fault("drop_after", "update_guest")
    desk.act(visit, "extend", to="60")
    with desk.scope():  # its time is over, as far as anybody here knows
        Visit.objects.filter(pk=visit.pk).update(use_date_end=timezone.now() - timedelta(seconds=5))
    assert end_at_service(desk, visit) > timezone.now()
    desk.act(visit, "cut")
    see_to_it(desk, visit)
    assert end_at_service(desk, visit) <= desk.visit(visit).must_end_at


def test_a_cut_code_does_not_come_back_to_life_silently(desk):
    visit = desk.issued()
    desk.act(visit, "cut")
    dead = end_at_service(desk, visit)
    answer = desk.act(visit, "extend", to="60")
    assert end_at_service(desk, visit) == dead
    assert "let it work again" in said(answer)
    in_an_hour = timezone.localtime() + timedelta(hours=1)
    desk.edit(visit, end=f"{in_an_hour:%Y-%m-%dT%H:%M:%S}")
    assert end_at_service(desk, visit) == dead
    desk.edit(visit, guest_name="x", name="別の名")
    assert desk.at_service(visit.guest_id)["guest_name"] == "別の名", "all else may be changed"
    assert end_at_service(desk, visit) == dead
    desk.act(visit, "extend", to="60", revive="on")
    assert end_at_service(desk, visit) > timezone.now()
    assert not desk.visit(visit).is_cut


def unconfirmed_cut(desk):
    """A code whose cut never arrived, so that it may still open doors."""
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "cut")
    assert desk.visit(visit).may_still_open
    return visit


def test_a_later_end_that_is_refused_leaves_the_cut_as_it_was(desk):
    visit = unconfirmed_cut(desk)
    desk.fault("status", "update_guest", status=400, error_code="40002", error_detail="use_date_end: not now")
    assert "not now" in said(desk.act(visit, "extend", to="60", revive="on"))
    assert desk.visit(visit).may_still_open
    assert "may still open doors" in said(desk.client.get(desk.url + "new/"))
    see_to_it(desk, visit)
    assert desk.visit(visit).ended_confirmed_at is not None
    assert end_at_service(desk, visit) <= desk.visit(visit).must_end_at


@pytest.mark.parametrize("pressed_again", [False, True])
def test_while_a_later_end_is_on_its_way_nobody_cuts_but_a_person(desk, pressed_again):
    visit = unconfirmed_cut(desk)
    desk.fault("status", "update_guest", status=503)
    page = desk.act(visit, "extend", to="60", revive="on")
    assert "A later end was asked for" in said(page)
    assert desk.visit(visit).may_still_open
    before = len(desk.calls())
    with desk.scope():
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=ClockTime())
        cutting.step(visit.pk)
    assert desk.calls(before) == [READ]
    if pressed_again:
        desk.act(visit, "cut")
    see_to_it(desk, visit)
    assert desk.visit(visit).is_cut is pressed_again
    assert (end_at_service(desk, visit) <= timezone.now()) is pressed_again


def test_only_what_was_changed_is_sent_and_edits_elsewhere_stay(desk):
    with desk.scope():
        areas = list(Area.objects.values_list("area_id", flat=True)[:3])
    visit = desk.issued(area_ids=areas[:1])
    fields = desk.fields(f"{visit.guest_id}/edit/")
    token = desk.place.service.token
    elsewhere = {"guest_name": "変えられた名", "area_id_list": areas[:2]}
    desk.place.sandbox.api("PUT", f"/v1/guests/{visit.guest_id}", elsewhere, token=token)
    desk.get(f"{visit.guest_id}/reading/")
    given = fields | {"area_ids": [areas[0], areas[2]], "grace_minutes": "30", "company": "青葉"}
    desk.client.post(f"{desk.url}{visit.guest_id}/edit/", given)
    (change,) = [intent for intent in desk.intents() if intent.operation == "update_guest"]
    assert change.body == {"return_grace_period": 30, "area_id_list": [areas[0], areas[1], areas[2]]}
    assert desk.at_service(visit.guest_id)["guest_name"] == "変えられた名"
    assert desk.visit(visit).company == "青葉"
    before = len(desk.calls())
    assert "nothing was sent" in said(desk.edit(visit, company="青葉製作所"))
    assert UPDATE not in desk.calls(before)


def test_a_code_is_replaced_by_another_one_and_told_to_nobody(desk):
    visit = desk.issued()
    old = desk.at_service(visit.guest_id)["qrcode_data"]
    shown = desk.client.post(f"{desk.url}{visit.guest_id}/link/").content.decode()
    link = re.search(r"/g/[\w-]+/", shown)[0]
    assert Client().get(link).status_code == 200
    desk.edit(visit, new_code="on", email="yamada@example.test")
    assert Client().get(link).status_code == 404, "whoever has the old link does not get the new code"
    told = desk.at_service(visit.guest_id)
    assert told["qrcode_data"] != old
    with desk.scope():
        assert Guest.objects.get(guest_id=visit.guest_id).qrcode_data == told["qrcode_data"]
        trail = str(list(AuditEntry.objects.values_list("before", "after", "summary")))
    assert told["qrcode_data"] not in trail
    assert "yamada@example.test" not in trail
    page = said(desk.client.get(f"{desk.url}{visit.guest_id}/"))
    assert told["qrcode_data"] not in page
    assert "yamada@example.test" in page


BAD = [
    ({"name": ""}, "Give a name"),
    ({"end": "2020-01-01T00:00:00"}, "before the start"),
    ({"start": ""}, "Give a date"),
    ({"email": "no"}, "valid email"),
    ({"remarks": "x" * 201}, "200"),
    ({"grace_minutes": "10081"}, "10080"),
    ({"area_ids": ["nobody"]}, "not there any more"),
]


def test_bad_input_stands_beside_its_field_and_nothing_is_sent(desk):
    visit = desk.issued()
    before = len(desk.calls())
    for values, words in BAD:
        assert words in said(desk.edit(visit, **values)), values
    assert UPDATE not in desk.calls(before)


def test_a_refusal_of_a_change_is_told_and_a_guest_that_is_gone_says_so(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=400, error_code="40002", error_detail="remarks: too loud")
    answer = desk.edit(visit, remarks="こんにちは")
    assert "too loud" in said(answer)
    desk.fault("status", "update_guest", status=404, error_code="40401", error_detail="guest_id")
    desk.act(visit, "extend", to="30")
    assert desk.visit(visit).gone_at is not None
    assert "no longer has this guest" in said(desk.client.get(f"{desk.url}{visit.guest_id}/"))


def test_an_ended_guest_says_when_the_service_deletes_it(desk):
    visit = desk.issued()
    desk.act(visit, "cut")
    page = said(desk.client.get(f"{desk.url}{visit.guest_id}/"))
    deleted = timezone.localtime(desk.visit(visit).use_date_end + timedelta(days=7))
    assert f"{deleted:%Y-%m-%d %H:%M}" in page


def test_a_creation_that_nobody_wants_any_more_is_cut_as_soon_as_it_is_known(desk):
    desk.fault("drop_after", "create_guest")
    desk.issue()
    (visit,) = desk.visits()
    fields = desk.fields(f"visits/{visit.pk}/", "/withdraw/")
    desk.client.post(f"{desk.url}visits/{visit.pk}/withdraw/", fields)
    assert "may still open doors" in said(desk.client.get(desk.url + "new/"))
    with desk.scope():
        from portal.intents import reconciling

        Intent.objects.filter(pk=visit.intent_id).update(due_at=ClockTime())
        reconciling.reconcile(Intent.objects.get(pk=visit.intent_id))
    assert desk.visit(visit).stage == Stage.ISSUED
    see_to_it(desk, visit)
    assert end_at_service(desk, desk.visit(visit)) <= timezone.now()


def test_who_came_and_left_is_marked_on_the_guests_page_too(desk):
    with desk.scope():
        area = Area.objects.order_by("pk")[0].area_id
    visit = desk.issued(area_ids=[area])
    rest = f"{visit.guest_id}/"

    def press(step):
        fields = desk.fields(rest, "/presence/")
        answer = desk.client.post(f"{desk.url}visits/{visit.pk}/presence/{step}/", fields, follow=True)
        assert answer.redirect_chain[-1][0] == desk.url + rest
        return said(answer)

    assert "is here since" in press("arrived")
    assert desk.visit(visit).arrived_at is not None
    assert "left at" in press("left")
    assert desk.visit(visit).left_at is not None
    assert "is here since" in press("back")
    page = press("not-arrived")
    assert "has not arrived" in page
    assert "Recorded by Desk" in page
    assert "arrived_at" not in page
    assert desk.visit(visit).arrived_at is None
    with CaptureQueriesContext(connection) as queries:
        desk.get(rest)
    assert len(queries) <= 13  # 12, and one for the names of the areas


# Those who may not


def test_an_auditor_sees_no_code_and_no_forms(desk):
    visit = desk.issued(email="yamada@example.test")
    guard, client = (desk.place.client(desk.place.staff(role)) for role in ("guard", "auditor"))
    assert guard.get(f"{desk.url}{visit.guest_id}/").status_code == 403
    page = client.get(f"{desk.url}{visit.guest_id}/")
    assert NAME in said(page)
    for word in ("guest-code-paper", "yamada@example.test", "/cut/", "/extend/", "/edit/", "/presence/"):
        assert word not in page.content.decode()
    before = len(desk.calls())
    for rest in ("cut/", "extend/", "edit/"):
        assert client.post(f"{desk.url}{visit.guest_id}/{rest}", {"to": "30"}).status_code == 403
    assert client.get(desk.url + "new/").status_code == 403
    assert client.get(desk.url + "presets/").status_code == 403
    assert UPDATE not in desk.calls(before)


def test_strangers_and_other_tenants_find_nothing(desk, make):
    visit = desk.issued()
    other = GuestDesk(make())
    for rest in (f"{visit.guest_id}/", f"{visit.guest_id}/edit/", f"visits/{visit.pk}/", f"party/{visit.party}/"):
        assert other.client.get(desk.url + rest).status_code == 404
        assert other.client.get(other.url + rest).status_code == 404
    for rest in (f"{visit.guest_id}/cut/", f"{visit.guest_id}/extend/", f"visits/{visit.pk}/withdraw/"):
        assert other.client.post(other.url + rest, {"to": "30"}).status_code == 404
    assert other.client.get(f"{other.url}visits/99999999999999999999/").status_code == 404
