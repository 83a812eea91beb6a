"""A receptionist extends, edits and replaces codes: only changed values are sent."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain.people.models import Guest
from portal.domain.places.models import Area
from portal.domain.visits.models import Visit
from tenants.models import AuditEntry
from tests.support.desk import NAME, GuestDesk, said

CREATE, READ, UPDATE = 20, 21, 22


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def test_the_guests_page_is_read_once_when_it_is_opened_and_not_right_after_issuing(desk):
    visit = desk.issued()
    with desk.scope():
        other = Visit.objects.filter(intent__isnull=True, gone_at__isnull=True).order_by("-use_date_end")[0]
    assert 'hx-trigger="load' not in desk.get(f"{visit.guest_id}/")
    assert 'hx-trigger="load' in desk.get(f"{other.guest_id}/")
    before = len(desk.calls())
    facts = desk.client.get(f"{desk.url}{other.guest_id}/reading/", headers={"HX-Request": "true"})
    assert desk.calls(before) == [READ]
    assert "Just loaded from the service." in said(facts)


def test_an_extension_is_one_press(desk):
    visit = desk.issued()
    for to, minutes in (("30", 30), ("60", 60), ("until", 240)):
        old = timezone.now() if to == "until" else desk.visit(visit).use_date_end
        answer = desk.act(visit, "extend", to=to, until=f"+{minutes}" if to == "until" else "")
        assert answer.redirect_chain
        end = desk.end_at_service(visit)
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
        assert f"{timezone.localtime(desk.end_at_service(visit)):%H:%M}" == "23:59"


def test_until_closing_never_shortens_a_code_from_a_page_that_stood_open(desk):
    desk.preset("Day", minutes=None, until="00:00")  # today's was over as the day began
    visit = desk.issued(until="+60")
    end = desk.end_at_service(visit)
    assert "Closing time is not later than the current end time. Nothing was changed." in said(
        desk.act(visit, "extend", to="closing")
    )
    assert desk.end_at_service(visit) == end


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
    answer = desk.client.post(f"{desk.url}{visit.guest_id}/edit/", given, follow=True)
    assert "Someone else changed this in the meantime: Areas. Both changes were sent." in said(answer)
    (change,) = [intent for intent in desk.intents() if intent.operation == "update_guest"]
    assert change.body == {"return_grace_period": 30, "area_id_list": [areas[0], areas[1], areas[2]]}
    assert desk.at_service(visit.guest_id)["guest_name"] == "変えられた名"
    assert desk.visit(visit).company == "青葉"
    before = len(desk.calls())
    assert "No changes to send" in said(desk.edit(visit, company="青葉製作所"))
    assert UPDATE not in desk.calls(before)


def test_a_company_that_two_changed_is_shown_and_one_left_alone_stays(desk):
    visit = desk.issued(company="青葉")
    page = f"{desk.url}{visit.guest_id}/edit/"
    mine, left = desk.fields(f"{visit.guest_id}/edit/"), desk.fields(f"{visit.guest_id}/edit/")
    desk.edit(visit, company="青葉製作所")
    answer = desk.client.post(page, mine | {"company": "若葉"})
    assert answer.status_code == 422
    assert "Changed to “青葉製作所” after you opened this page." in said(answer)
    desk.client.post(page, left | {"host": "総務部"})
    assert (desk.visit(visit).company, desk.visit(visit).host_name) == ("青葉製作所", "総務部")


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


def test_nobody_says_of_a_code_that_replaced_a_mailed_one_that_it_was_mailed(desk):
    visit = desk.issued(email="yamada@example.test", delivery="mail")
    page = f"{desk.url}{visit.guest_id}/"
    assert "This code was e-mailed and cannot be sent again." in said(desk.client.get(page))
    desk.edit(visit, new_code="on")
    assert "code was e-mailed" not in said(desk.client.get(page))


BAD = [
    ({"name": ""}, "Enter a name"),
    ({"end": "2020-01-01T00:00:00"}, "before the start"),
    ({"start": ""}, "Enter a date and time."),
    ({"email": "no"}, "valid email"),
    ({"remarks": "x" * 201}, "200"),
    ({"grace_minutes": "10081"}, "at most 7 days"),
    ({"area_ids": ["nobody"]}, "no longer exists"),
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
    assert "The code no longer opens any door. The desk's records are kept" in said(
        desk.client.get(f"{desk.url}{visit.guest_id}/")
    )


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

    assert "on site since" in press("arrived")
    assert desk.visit(visit).arrived_at is not None
    assert "left at" in press("left")
    assert desk.visit(visit).left_at is not None
    assert "on site since" in press("back")
    page = press("not-arrived")
    assert "is not checked in" in page
    assert "Recorded by Desk" in page
    assert "arrived_at" not in page
    assert desk.visit(visit).arrived_at is None
    with CaptureQueriesContext(connection) as queries:
        desk.get(rest)
    assert len(queries) <= 13  # 12, and one for the names of the areas


# Staff without the permission


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
