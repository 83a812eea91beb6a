"""The access check as a facility manager uses it: yes, no or unknown, by which rule, and when it changes."""

import html
import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.limits import JST
from accessapi.permissions import always, between, by_schedule, never, weekly
from portal.domain.people.models import Member
from portal.domain.places.models import Area, KeyBox, TenantRecord
from tests.support.members import MembersDesk, said, tight

READ = 5
OFFICE = by_schedule(weekly("08:00:00", "18:59:59", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))
FRIDAY = "2026-11-20T10:00"


@pytest.fixture
def desk(place):
    desk = MembersDesk(place)
    holidays(desk)
    return desk


class Asked:
    """One person at one place of a tenant, and what the page shows for them."""

    def __init__(self, desk):
        self.desk, self.url = desk, f"/t/{desk.place.tenant.slug}/explain/"
        with desk.scope():
            self.member = Member.objects.filter(has_card=True).order_by("name_key")[0]
            self.area, self.other = Area.objects.order_by("pk")[:2]
            self.box = KeyBox.objects.order_by("pk")[0]

    def holds(self, pass_=None, *, devices=None, keys=None, **fields):
        """Store rights and fields as if they had been loaded a moment ago."""
        if pass_ is not None:
            entry = {"area_id": self.area.area_id, "pass": pass_}
            devices = {"default_mode": "option", "areas_list": [entry]}
        told = {"devices_pass": devices, "keys_pass": keys, "privilege": None}
        fields = {
            "use_date_start": None,
            "use_date_end": None,
            "rights": told,
            "rights_read_at": timezone.now(),
            **fields,
        }
        with self.desk.scope():
            Member.objects.filter(pk=self.member.pk).update(**fields)

    def ask(self, at=FRIDAY, **query):
        asked = {"member": self.member.member_id, "place": f"area:{self.area.area_id}", "at": at} | query
        answer = self.desk.client.get(self.url, {name: value for name, value in asked.items() if value})
        assert answer.status_code == 200, answer.content
        return answer

    def word(self, **query):
        """Return the large word, and the sentence below it."""
        page = tight(self.ask(**query).content.decode())
        word = re.search(r'id="verdict-word"[^>]*>([^<]*)<', page)[1]
        return word, html.unescape(re.search(r'verdict-because">([^<]*)<', page)[1])


@pytest.fixture
def asked(desk):
    return Asked(desk)


def holidays(desk, **settings):
    with desk.scope():
        TenantRecord.objects.update_or_create(defaults={"holiday": settings, "read_at": timezone.now()})


def test_each_rule_is_said_in_plain_words(asked):
    for pass_, word, rule in (
        (always(), "Yes", "is allowed at any time"),
        (OFFICE, "Yes", "Within the scheduled hours"),
        (by_schedule(weekly("20:00:00", "21:00:00", "Friday")), "No", "Outside the scheduled hours."),
        (never(), "No", "is set to “never”"),
        ({"effect": "allow_once"}, "Unknown", "a setting this portal does not recognise"),
    ):
        asked.holds(pass_)
        assert (asked.word()[0], rule in asked.word()[1]) == (word, True), (pass_, asked.word())
    for devices, word, rule in (
        ({"default_mode": "allow_all"}, "Yes", "Every area is allowed at any time"),
        ({"default_mode": "deny_all"}, "No", "No area is allowed."),
        ({"default_mode": "option", "areas_list": []}, "No", "No access right for 正面エントランス."),
        (None, "No", "This person has no rights of this kind."),
        ({"default_mode": "sometimes"}, "Unknown", "a setting this portal does not recognise"),
    ):
        asked.holds(devices=devices)
        assert (asked.word()[0], rule in asked.word()[1]) == (word, True), (devices, asked.word())


def test_the_use_period_a_missing_credential_and_a_missing_contract_decide_before_rights(asked):
    begins = datetime(2026, 11, 21, 9, tzinfo=JST)
    asked.holds(always(), use_date_start=begins)
    assert asked.word() == ("No", "The use period has not begun yet.")
    assert "Next access from 2026-11-21 09:00" in said(asked.ask())
    asked.holds(always(), use_date_end=begins - timedelta(days=9))
    assert asked.word() == ("No", "The use period is over.")
    assert "No upcoming access" in said(asked.ask())
    asked.holds(always(), has_card=False, has_qr=False, has_face=False)
    assert asked.word() == ("No", "No card, QR code or face is registered.")
    asked.holds(always(), has_card=True, extra={"use_date_end": "soon"})
    assert asked.word()[0] == "Unknown"
    assert "soon" in said(asked.ask())
    asked.holds(always(), extra={})
    connection_ = asked.desk.place.connection
    connection_.contracts_refused = ["door"]
    with asked.desk.scope():
        connection_.save()
    assert asked.word() == ("No", "Doors are not available: the contract has no door entry.")


def test_a_holiday_stands_by_its_name_and_changes_the_answer(asked):
    asked.holds(OFFICE)
    holidays(asked.desk, is_include_public_holiday=True, public_holiday={"2026-11-23": "勤労感謝の日"})
    weekdays_apply = asked.desk.place.tenant.environment.catalogue.rules.weekdays_on_holidays
    assert asked.word(at="2026-11-23T10:00")[0] == ("Yes" if weekdays_apply else "No")
    page = said(asked.ask(at="2026-11-23T10:00"))
    assert "2026-11-23 is a holiday: 勤労感謝の日" in page
    assert weekdays_apply or "Next access from 2026-11-24 08:00 to 19:00" in page
    asked.holds(by_schedule(weekly("09:00:00", "12:00:00", "Holiday")))
    assert asked.word(at="2026-11-23T10:00")[0] == "Yes"


def test_how_long_still_and_the_moment_in_the_week_are_shown(asked):
    asked.holds(OFFICE)
    page = asked.ask()
    assert "Until 19:00, for another 9 h" in said(page)
    assert 'class="week-moment"' in page.content.decode()
    assert "2026-11-20 Fri 08:00–19:00" in said(page)
    assert "2026-11-21 Sat closed" in said(page)
    asked.holds(by_schedule(between(datetime(2031, 1, 1, 9, tzinfo=JST), datetime(2031, 1, 1, 10, tzinfo=JST))))
    assert "Next access from 2031-01-01 09:00 to 10:00" in said(asked.ask())
    asked.holds(always())
    assert "No end date" in said(asked.ask())


def test_a_key_is_explained_like_an_area(asked):
    unit = asked.box.units[0]["unit_no"]
    units = [{"unit_no": unit, "pass": OFFICE}]
    box = {"key_device_id": asked.box.key_device_id, "default_mode": "option", "units": units}
    asked.holds(keys={"default_mode": "option", "key_devices_list": [box]})
    key = f"key:{unit}:{asked.box.key_device_id}"
    assert asked.word(place=key)[0] == "Yes"
    assert asked.word(place=key, at="2026-11-21T10:00")[0] == "No"
    assert asked.word(place="", box=asked.box.key_device_id, unit=unit)[0] == "Yes"


def test_a_person_is_found_by_name_and_the_address_holds_the_whole_question(asked):
    page = asked.desk.client.get(asked.url, {"q": asked.member.member_name, "place": f"area:{asked.area.area_id}"})
    link = re.search(r'<ul class="hits"><li><a href="([^"]+)"', tight(page.content.decode()))[1]
    shown = asked.desk.client.get(html.unescape(link))
    assert asked.member.member_name.replace("\u3000", " ") in said(shown)
    assert "verdict" in shown.content.decode()
    nobody = asked.desk.client.get(asked.url, {"q": "zzzz"})
    assert "No member with this name or code." in said(nobody)


def test_rights_not_read_yet_are_read_by_one_call_and_the_page_says_as_of_when(asked):
    asked.holds(rights=None, rights_read_at=None)
    assert asked.word()[0] == "Unknown"
    assert 'hx-trigger="load"' in asked.ask().content.decode()
    before = len(asked.desk.place.calls(READ))
    query = {"member": asked.member.member_id, "place": f"area:{asked.area.area_id}", "at": FRIDAY}
    back = asked.desk.client.get(f"{asked.url}reading/", query)
    assert (back.status_code, len(asked.desk.place.calls(READ))) == (302, before + 1)
    page = said(asked.desk.client.get(back["Location"]))
    assert "Rights as of" in page
    assert "load again" in page
    part = asked.desk.client.get(f"{asked.url}reading/", query, headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert len(asked.desk.place.calls(READ)) == before + 2


def test_a_member_that_is_gone_and_a_lost_connection_are_said_without_fault(asked):
    query = {"member": asked.member.member_id, "place": f"area:{asked.area.area_id}"}
    asked.desk.place.sandbox.api(
        "DELETE", f"/v1/members/{asked.member.member_id}", token=asked.desk.place.service.token
    )
    part = asked.desk.client.get(f"{asked.url}reading/", query, headers={"HX-Request": "true"})
    assert "no longer" in said(part) or "any more" in said(part)
    assert asked.desk.client.get(asked.url, query).status_code == 404


def test_what_the_tenant_does_not_have_is_not_found(asked):
    absent = ["member=nobody", "place=area:nowhere", "place=key:01:nowhere", "place=window:1", "area=x"]
    for query in [*absent, "box=x"]:
        assert asked.desk.client.get(f"{asked.url}?{query}").status_code == 404, query


def test_any_moment_is_answered(asked):
    asked.holds(OFFICE)
    for at in ("yesterday", "0001-01-01T00:00", "9999-12-31T23:59", "2026-13-01", "2026-11-20T10:00+14:00"):
        asked.ask(at=at)


def test_roles_and_strangers(asked, make):
    query = {"member": asked.member.member_id, "place": f"area:{asked.area.area_id}"}
    place = asked.desk.place
    for role, status in (("auditor", 200), ("receptionist", 403), ("guard", 403)):
        assert place.client(place.staff(role)).get(asked.url, query).status_code == status
    other = MembersDesk(make())
    assert other.client.get(asked.url, query).status_code == 404
    assert other.client.get(f"/t/{other.place.tenant.slug}/explain/", query).status_code == 404


def test_a_question_costs_few_queries_whatever_there_is(asked):
    asked.holds(OFFICE)
    for at, most in (("", 14), (FRIDAY, 18)):
        asked.ask(at=at)
        with CaptureQueriesContext(connection) as counted:
            asked.ask(at=at)
        assert len(counted) <= most, [query["sql"][:80] for query in counted]
