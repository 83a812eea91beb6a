"""A receptionist ends a code early: it is finally ended at the service, even if requests fail."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.base.timers.clock import ClockTime
from portal.domain.intents import sending, tasks
from portal.domain.intents.models import Intent, State
from portal.domain.visits.models import Stage, Visit
from portal.guests import deactivation
from tenants.models import Staff
from tenants.scope import across_tenants
from tests.support.desk import GuestDesk, said
from tests.support.effort import one_in

CREATE, READ, UPDATE = 20, 21, 22


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def test_a_code_that_is_cut_short_is_dead_at_the_service_when_the_page_comes_back(desk):
    visit = desk.issued()
    answer = desk.act(visit, "cut")
    assert "confirmed" in said(answer)
    visit = desk.visit(visit)
    assert visit.ended_confirmed_at is not None
    assert desk.end_at_service(visit) == visit.must_end_at <= timezone.now()
    assert "may still open" not in said(desk.client.get(desk.url + "new/"))
    again = desk.client.post(f"{desk.url}{visit.guest_id}/cut/", desk.fields(f"{visit.guest_id}/"), follow=True)
    assert "This code had already ended." in said(again)


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
    assert desk.end_at_service(visit) <= visit.must_end_at
    assert len(desk.all_at_service()) == 1
    assert "may still open doors" not in said(desk.client.get(desk.url + "new/"))


def see_to_it(desk, visit, most=40):
    """Run workers, the sweeper and the tick in turn, without waiting for timers."""
    with desk.scope():
        for _ in range(most):
            for intent in Intent.objects.filter(state=State.QUEUED, operation="update_guest").order_by("pk"):
                Intent.objects.filter(pk=intent.pk).update(due_at=ClockTime())
                sending.send(intent)
            last = timezone.now() - timedelta(hours=1)  # move finished requests into the past
            Intent.objects.filter(finished_at__isnull=False).update(finished_at=last, sent_at=last)
            if not Visit.objects.get(pk=visit.pk).may_still_open:
                return
            Visit.objects.filter(pk=visit.pk, cut_due_at__isnull=False).update(cut_due_at=ClockTime())
            deactivation.process_due(visit.pk)
    raise AssertionError("the code is still not known to be dead")


def test_a_process_that_dies_after_the_claim_loses_nothing(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "cut")
    with desk.scope():  # killed between claim and answer: the row stays claimed until a sweeper finds it
        intent = desk.visit(visit).cut_intent
        long_ago = timezone.now() - timedelta(minutes=5)
        Intent.objects.filter(pk=intent.pk).update(state=State.SENDING, claimed_at=long_ago, due_at=None)
    tasks.process_due()
    assert desk.visit(visit).cut_intent.state == State.QUEUED
    see_to_it(desk, visit)
    assert desk.end_at_service(visit) <= desk.visit(visit).must_end_at


def test_the_tick_rings_for_whatever_is_due_and_for_nothing_else(desk):
    one, other = desk.issued(name="客 一"), desk.issued(name="客 二")
    desk.fault("status", "update_guest", status=503, count=1)
    desk.act(one, "cut")
    desk.act(other, "cut")
    with desk.scope():
        Visit.objects.filter(pk=one.pk).update(cut_due_at=ClockTime())
    with across_tenants("the test looks as the tick does"):
        due = [visit_id for _tenant, visit_id in deactivation.ENDS.rows().values_list("tenant_id", "pk")]
    assert one.pk in due
    assert other.pk not in due


def test_whoever_lost_the_right_is_replaced_by_whoever_presses_next(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503)
    desk.act(visit, "cut")
    with desk.scope():
        Staff.objects.filter(user=desk.user).update(is_active=False)
        Intent.objects.filter(pk=desk.visit(visit).cut_intent_id).update(due_at=ClockTime())
        sending.send(desk.visit(visit).cut_intent)
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=ClockTime())
        deactivation.process_due(visit.pk)
    assert desk.visit(visit).may_still_open
    next_one = GuestDesk(desk.place)
    assert (
        "The person who requested it no longer has permission. Select “Deactivate now” again to send it in your name."
        in said(next_one.client.get(f"{next_one.url}{visit.guest_id}/"))
    )
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
    assert desk.end_at_service(visit) <= desk.visit(visit).must_end_at


def test_an_ended_code_whose_extension_was_lost_can_still_be_cut(desk):
    visit = desk.issued(until="+60")
    desk.fault("drop_after", "update_guest")
    desk.act(visit, "extend", to="60")
    with desk.scope():  # its time is over, as far as the portal knows
        Visit.objects.filter(pk=visit.pk).update(use_date_end=timezone.now() - timedelta(seconds=5))
    assert desk.end_at_service(visit) > timezone.now()
    desk.act(visit, "cut")
    see_to_it(desk, visit)
    assert desk.end_at_service(visit) <= desk.visit(visit).must_end_at


def test_a_cut_code_does_not_come_back_to_life_silently(desk):
    visit = desk.issued()
    desk.act(visit, "cut")
    dead = desk.end_at_service(visit)
    answer = desk.act(visit, "extend", to="60")
    assert desk.end_at_service(visit) == dead
    assert "reactivate it" in said(answer)
    in_an_hour = timezone.localtime() + timedelta(hours=1)
    desk.edit(visit, end=f"{in_an_hour:%Y-%m-%dT%H:%M:%S}")
    assert desk.end_at_service(visit) == dead
    desk.edit(visit, guest_name="x", name="別の名")
    assert desk.at_service(visit.guest_id)["guest_name"] == "別の名", "all else may be changed"
    assert desk.end_at_service(visit) == dead
    desk.act(visit, "extend", to="60", revive="on")
    assert desk.end_at_service(visit) > timezone.now()
    assert not desk.visit(visit).is_cut


def unconfirmed_cut(desk):
    """Return a code whose ending request never arrived, so that it may still open doors."""
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
    assert desk.end_at_service(visit) <= desk.visit(visit).must_end_at


@pytest.mark.parametrize("pressed_again", [False, True])
def test_while_a_later_end_is_on_its_way_nobody_cuts_but_a_person(desk, pressed_again):
    visit = unconfirmed_cut(desk)
    desk.fault("status", "update_guest", status=503)
    page = desk.act(visit, "extend", to="60", revive="on")
    assert "A later end time was requested. The code stays deactivated until this is confirmed." in said(page)
    assert desk.visit(visit).may_still_open
    before = len(desk.calls())
    with desk.scope():  # the last try was long enough ago
        Intent.objects.filter(finished_at__isnull=False).update(finished_at=timezone.now() - timedelta(hours=1))
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=ClockTime())
        deactivation.process_due(visit.pk)
    assert desk.calls(before) == [READ]
    if pressed_again:
        desk.act(visit, "cut")
    see_to_it(desk, visit)
    assert desk.visit(visit).is_cut is pressed_again
    assert (desk.end_at_service(visit) <= timezone.now()) is pressed_again


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
        from portal.domain.intents import tracking

        Intent.objects.filter(pk=visit.intent_id).update(due_at=ClockTime())
        tracking.reconcile(Intent.objects.get(pk=visit.intent_id))
    assert desk.visit(visit).stage == Stage.ISSUED
    see_to_it(desk, visit)
    assert desk.end_at_service(desk.visit(visit)) <= timezone.now()
