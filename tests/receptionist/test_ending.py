"""A code that must end is ended at any service, for all hours it may refuse; or a person sees what remains to do."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents.models import Intent, Reason
from portal.domain.places.models import Area
from portal.domain.visits.models import Visit
from portal.guests import deactivation, deactivation_methods
from tenants.connections.oauth_grant import connected
from tenants.models import AuditEntry, Connection
from tests.support.desk import GuestDesk, said

READ, UPDATE = 21, 22
REFUSAL = {"status": 400, "error_code": "40002", "error_detail": "use_date_end: not like this"}


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def refuse(desk, times=99, **values):
    desk.fault("status", "update_guest", count=times, **REFUSAL | values)


def relent(desk):
    desk.place.sandbox.clear_faults(desk.place.service.tenant_id)


def tomorrow():
    return f"{timezone.localtime() + timedelta(days=1):%Y-%m-%dT%H:%M}"


def told(desk, visit):
    guest = desk.at_service(visit.guest_id)
    return guest, *(datetime.fromisoformat(guest[name]) for name in ("use_date_start", "use_date_end"))


def cuts(desk):
    with desk.scope():
        return list(AuditEntry.objects.filter(action="update_guest").order_by("pk"))


def test_a_code_that_has_not_begun_ends_before_now_in_a_period_that_is_not_empty(desk):
    visit = desk.issued(start=tomorrow(), until="+60")
    answer = desk.act(visit, "cut")
    _, start, end = told(desk, visit)
    assert start < end <= timezone.now()
    assert "confirmed" in said(answer)
    assert not desk.visit(visit).may_still_open


@pytest.mark.parametrize("start", ["", "tomorrow"])
def test_a_service_that_takes_nothing_past_gets_another_code_for_some_moments(desk, start):
    with desk.scope():
        area = Area.objects.order_by("pk")[0].area_id
    visit = desk.issued(start=tomorrow() if start else "", until="+60", area_ids=[area])
    code = told(desk, visit)[0]["qrcode_data"]
    refuse(desk, 1)
    before = len(desk.calls())
    answer = desk.act(visit, "cut")
    guest, begin, end = told(desk, visit)
    assert guest["qrcode_data"] != code, "whoever has the old one opens nothing"
    assert guest["devices_pass"] == {"default_mode": "deny_all"}
    assert begin < end <= timezone.now() + timedelta(minutes=2)
    assert "confirmed" in said(answer)
    assert desk.calls(before)[:3] == [UPDATE, UPDATE, READ]
    page = desk.get(f"{visit.guest_id}/")
    assert '<svg class="qr' not in page, "the new one is nobody's"


def test_a_service_that_leaves_the_hours_alone_is_left_with_a_code_that_opens_nothing(desk):
    visit = desk.issued()
    code, _, end = told(desk, visit)[0]["qrcode_data"], *told(desk, visit)[1:]
    refuse(desk, 2)
    answer = desk.act(visit, "cut")
    guest, _, still = told(desk, visit)
    assert guest["qrcode_data"] != code
    assert still == end
    assert "confirmed" in said(answer)
    page = said(desk.client.get(f"{desk.url}{visit.guest_id}/"))
    assert "The code was replaced, and its areas and keys were removed." in page
    assert "may still open" not in page
    again = desk.act(visit, "extend", to="60")
    assert "reactivate it" in said(again)
    revived = desk.edit(visit, new_code="on")
    assert "To reactivate it, select" in said(revived), "another code would open doors again"


def test_a_sentence_of_ours_is_not_told_as_the_services(desk):
    visit = desk.issued()
    refuse(desk)
    desk.act(visit, "cut")
    with desk.scope():
        ours = {"reason": Reason.INVALID, "http_status": None, "error_code": "", "error_detail": "use_date_end: no"}
        Intent.objects.filter(pk=desk.visit(visit).cut_intent_id).update(**ours)
    page = said(desk.client.get(f"{desk.url}{visit.guest_id}/"))
    assert "Not sent: outside the service's limits. use_date_end: no" in page
    assert "The service refuses every way" not in page


def test_when_every_way_is_refused_the_portal_stops_asking_and_says_what_a_person_can_do(desk):
    visit = desk.issued()
    refuse(desk)
    before = len(desk.calls())
    answer = desk.act(visit, "cut")
    page = said(answer)
    assert "may still open doors" in page
    assert "use_date_end: not like this" in page
    assert "40002" in page
    assert "member site" in page
    assert "See what to do" in page
    row = desk.visit(visit)
    assert deactivation.are_all_methods_refused(row)
    assert abs(row.cut_due_at - row.use_date_end) < timedelta(seconds=5), "looked at once more when its hours are over"
    asked = desk.calls(before)
    assert asked.count(UPDATE) <= len(deactivation_methods.METHODS)
    with desk.scope():
        for _ in range(5):
            deactivation.process_due(visit.pk)
    assert desk.calls(before) == asked, "nothing is asked before"
    entries = cuts(desk)
    assert [entry.by == desk.user for entry in entries] == [True] + [False] * (len(entries) - 1)
    assert {entry.by_label for entry in entries[1:]} == {"portal"}


def test_what_was_done_on_the_member_site_ends_the_warning(desk):
    visit = desk.issued()
    refuse(desk)
    desk.act(visit, "cut")
    relent(desk)
    now = timezone.localtime()
    past = {"use_date_start": now - timedelta(hours=1), "use_date_end": now - timedelta(seconds=2)}
    hours = {name: at.isoformat(timespec="seconds") for name, at in past.items()}
    answer = desk.place.sandbox.api("PUT", f"/v1/guests/{visit.guest_id}", hours, token=desk.place.service.token)
    assert answer.is_success, answer.text
    page = said(desk.client.get(f"{desk.url}{visit.guest_id}/reading/"))
    assert ", confirmed at" in page, page
    assert not desk.visit(visit).may_still_open
    assert "may still open" not in said(desk.client.get(desk.url))


def test_a_list_that_shows_the_end_has_it_confirmed(desk):
    visit = desk.issued()
    refuse(desk)
    desk.act(visit, "cut")
    with desk.scope():
        Visit.objects.filter(pk=visit.pk).update(use_date_end=timezone.now() - timedelta(seconds=1))
        deactivation.check_ended()
        assert Visit.objects.get(pk=visit.pk).cut_due_at <= database_now()


def test_a_missing_permission_that_is_given_has_it_tried_again(desk):
    visit = desk.issued()
    refuse(desk, status=403, error_code="40301", error_detail="scope guests:write is missing")
    desk.act(visit, "cut")
    assert deactivation.are_all_methods_refused(desk.visit(visit))
    relent(desk)
    with desk.scope():
        connected.send(Connection, connection=Connection.objects.get(), first=False)
    row = desk.visit(visit)
    assert not deactivation.are_all_methods_refused(row)
    assert row.cut_due_at <= timezone.now()


def test_tries_that_are_not_answered_come_ever_more_rarely_and_in_the_portals_name(desk):
    visit = desk.issued()
    desk.fault("status", "update_guest", status=503, count=999)
    desk.act(visit, "cut")
    waits = []
    with desk.scope():
        for attempts in (1, 3, 6, 9, 30):
            row = Visit.objects.get(pk=visit.pk)
            row.cut_attempts = attempts
            waits.append(deactivation._retry_delay(row))
    assert waits == sorted(waits)
    assert waits[-1] >= 300


def test_a_way_that_was_taken_and_changed_nothing_gives_place_to_the_next(desk):
    visit = desk.issued()
    desk.act(visit, "cut")
    with desk.scope():  # the service said yes, but a later reading shows that the code works
        later = timezone.now() + timedelta(hours=1)
        rows = Visit.objects.filter(pk=visit.pk)
        rows.update(ended_confirmed_at=None, cut_due_at=ClockTime())
    desk.place.sandbox.api(
        "PUT",
        f"/v1/guests/{visit.guest_id}",
        {"use_date_end": later.astimezone().isoformat(timespec="seconds")},
        token=desk.place.service.token,
    )
    with desk.scope():
        from portal.domain.intents.models import Intent

        Intent.objects.filter(pk=desk.visit(visit).cut_intent_id).update(
            finished_at=timezone.now() - timedelta(hours=1)
        )
        deactivation.process_due(visit.pk)
        Visit.objects.filter(pk=visit.pk).update(cut_due_at=ClockTime())
        deactivation.process_due(visit.pk)
    assert desk.visit(visit).cut_way == 1
    assert not desk.visit(visit).may_still_open
