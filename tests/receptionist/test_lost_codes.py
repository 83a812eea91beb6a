"""A lost answer to issuing a code: the service is read before anything is sent again; a person decides."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accessapi.client import Client as ServiceClient
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents import tracking
from portal.domain.intents.handlers import MIN_ABSENCE_INTERVAL
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.people.models import Guest
from portal.domain.visits.models import Stage, Visit
from portal.guests import request_outcomes
from tests.support.desk import NAME, GuestDesk, order, said

CREATE, READ, LIST = 20, 21, 19


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def lost(desk, **values):
    """Return a creation whose answer was lost after the service had carried it out."""
    desk.fault("drop_after", "create_guest")
    answer = desk.issue(**values)
    visit = desk.visits()[-1]
    assert visit.intent.state == State.UNCERTAIN
    return visit, answer


def test_no_tick_of_a_person_lets_a_second_code_out_while_nobody_knows_of_the_first(desk):
    visit, _ = lost(desk)
    assert "Not issued: a code for this name was requested, and it is not known yet whether it was issued." in said(
        desk.issue(confirmed=[str(visit.pk)])
    )
    assert desk.calls().count(CREATE) == len(desk.visits()) == 1


def settle(desk, visit):
    with desk.scope():
        Intent.objects.filter(pk=visit.intent_id).update(due_at=ClockTime())
        tracking.reconcile(Intent.objects.get(pk=visit.intent_id))
    return desk.visit(visit)


def test_a_lost_answer_is_read_before_anything_is_sent_again(desk):
    visit, answer = lost(desk)
    assert answer.redirect_chain[-1][0] == f"{desk.url}visits/{visit.pk}/"
    again = desk.issue()
    assert "Not issued: a code for this name was requested, and it is not known yet whether it was issued." in said(
        again
    )
    assert "Issue another code" not in said(again)
    assert desk.calls().count(CREATE) == 1
    request = f"{desk.url}requests/{visit.intent_id}/"
    hasty = desk.client.post(f"{request}decide/", {"applied": "no"}, follow=True)
    assert "Nothing was recorded. The check with the service is still running. Try again when it has ended." in said(
        hasty
    ), "nobody decides before reading had its turn"
    assert "It was not applied" not in said(hasty)
    visit = settle(desk, visit)
    assert visit.stage == Stage.ISSUED
    assert desk.calls().count(CREATE) == len(desk.all_at_service()) == 1
    code = desk.at_service(visit.guest_id)["qrcode_data"]
    with desk.scope():
        assert Guest.objects.get(guest_id=visit.guest_id).qrcode_data == code
    assert desk.client.get(f"{desk.url}visits/{visit.pk}/").headers["Location"] == f"{desk.url}{visit.guest_id}/"


def test_a_guest_that_the_list_names_without_its_id_is_not_called_absent(desk, monkeypatch):
    visit, _ = lost(desk)
    call = ServiceClient.call

    def without_ids(self, name, **more):
        answer = call(self, name, **more)
        for item in answer.data["guests"] if name == "list_guests" else ():
            item.pop("guest_id")
        return answer

    monkeypatch.setattr(ServiceClient, "call", without_ids)
    for _reading in range(2):
        with desk.scope():
            missed = {"first seen missing": (timezone.now() - MIN_ABSENCE_INTERVAL * 2).isoformat()}
            Intent.objects.filter(pk=visit.intent_id).update(result={"evidence": missed})
        visit = settle(desk, visit)
    assert (visit.stage, visit.intent.state) == (Stage.REQUESTED, State.UNCERTAIN)
    assert len(desk.all_at_service()) == 1


@pytest.mark.parametrize("mail", [False, True])
def test_what_surely_is_not_there_may_be_issued_again_by_a_person(desk, mail):
    desk.fault("drop_before", "create_guest")
    given = {"delivery": "mail", "email": "yamada@example.test"} if mail else {}
    desk.issue(**given)
    visit = settle(desk, desk.visits()[-1])
    assert visit.stage == Stage.REQUESTED, "one reading is not enough"
    with desk.scope():
        intent = Intent.objects.get(pk=visit.intent_id)
        evidence = dict(intent.result["evidence"])
        evidence["first seen missing"] = (timezone.now() - MIN_ABSENCE_INTERVAL * 2).isoformat()
        Intent.objects.filter(pk=intent.pk).update(result={"evidence": evidence})
    visit = settle(desk, visit)
    assert (visit.stage, visit.intent.reason) == (Stage.NOT_ISSUED, Reason.ABSENT)
    assert "No code was issued for this guest." in said(desk.client.get(f"{desk.url}visits/{visit.pk}/"))
    assert desk.issue(desk.fields(f"new/?again={visit.pk}")).redirect_chain
    assert len(desk.all_at_service()) == 1


def test_a_namesake_that_was_there_or_came_from_elsewhere_is_not_taken_for_ours(desk):
    body = order().body() | {"guest_name": NAME}
    before = desk.place.sandbox.api("POST", "/v1/guests", body, token=desk.place.service.token)
    assert before.status_code == 200
    visit, _ = lost(desk)
    elsewhere = order().body()
    desk.place.sandbox.api("POST", "/v1/guests", elsewhere, token=desk.place.service.token)
    visit = settle(desk, visit)
    assert visit.stage == Stage.ISSUED
    with desk.scope():
        assert (
            desk.at_service(visit.guest_id)["qrcode_data"] == visit.intent.body["qrcode_issuing_method"]["qrcode_data"]
        )


def test_two_mailed_ones_that_look_alike_are_left_to_a_person_and_the_list_tells_which(desk):
    values = {"delivery": "mail", "email": "yamada@example.test"}
    visit, _ = lost(desk, **values)
    with desk.scope():
        desk.place.sandbox.api("POST", "/v1/guests", visit.intent.body, token=desk.place.service.token)
    visit = settle(desk, visit)
    assert visit.stage == Stage.REQUESTED
    assert visit.intent.due_at is None
    with desk.scope():
        tracking.resolve(visit.intent, applied=True, by=desk.place.asker)
    assert desk.visit(visit).stage == Stage.REQUESTED, "nobody knows which guest it is"
    page = said(desk.client.get(f"{desk.url}visits/{visit.pk}/"))
    assert NAME in page


def test_hours_are_compared_as_moments_however_the_list_writes_them():
    start, end = "2026-11-22T09:00:00+09:00", "2026-11-22T18:00:00+09:00"
    body = {"qrcode_issuing_method": {"email": "A@b.test"}, "use_date_start": start, "use_date_end": end}
    listed = {"guest_id": "g", "email": "a@b.test", "use_date_start": "2026-11-22T00:00:00.000Z", "use_date_end": end}
    assert request_outcomes._by_fields(body, [listed]) == (["g"], [])
    assert request_outcomes._by_fields(body, [listed | {"use_date_end": "18 o'clock"}]) == ([], ["g"])
    assert request_outcomes._by_fields(body, [listed | {"use_date_end": start}]) == ([], [])


def test_a_list_read_in_between_makes_one_visit_of_it(desk):
    visit, _ = lost(desk)
    from portal.domain.events import MirrorKind
    from portal.domain.sync import tasks
    from portal.domain.sync.models import MirrorState

    with desk.scope():
        MirrorState.objects.filter(kind=MirrorKind.GUESTS).update(due_at=ClockTime())
        tasks.read_due()
        Visit.objects.filter(intent__isnull=True).update(arrived_at=timezone.now(), arrived_by="desk")
    assert len(desk.visits()) == 2
    settle(desk, visit)
    (only,) = desk.visits()
    assert only.pk == visit.pk
    assert only.arrived_at is not None


def test_what_somebody_declared_applied_forbids_no_name_for_good(desk):
    """Check that the name can be used again when later lists show no such guest."""
    with desk.scope():
        desk.issue(name="山田 空")
        visit = desk.visits()[-1]
        nobody = {"guest_name": "誰でもない", "name_key": "誰でもない"}
        Visit.objects.filter(pk=visit.pk).update(stage=Stage.REQUESTED, guest_id=None, **nobody)
        request_outcomes.match_declared(desk.place.tenant)
        assert desk.visit(visit).stage == Stage.REQUESTED
        earlier = database_now() - timedelta(minutes=20)
        Intent.objects.filter(pk=visit.intent_id).update(finished_at=earlier)
        request_outcomes.match_declared(desk.place.tenant)
        assert desk.visit(visit).stage == Stage.NOT_ISSUED
