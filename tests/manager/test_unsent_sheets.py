"""Pages that are drawn from posted data: after a proof of identity, what was typed is there again, line by line.

Nothing was done before the proof.
"""

import pytest

from accessapi.permissions import by_schedule, weekly
from portal.domain.jobs.models import Job
from portal.domain.rights.models import RightsTemplate
from tests.rights.page import posted
from tests.support.areas import AreasDesk
from tests.support.changes import ChangesDesk
from tests.support.forms import forms_of
from tests.support.members import said
from tests.support.places import PASSWORD, age_proof
from tests.tenants.test_unsent import end_session, sign_in

HOUR = 3700


def interrupted(desk, address, data):
    """Return the page after this post was interrupted by a proof; it has the same entries."""
    age_proof(desk.client.session, HOUR)
    asked = desk.client.post(address, data, headers={"referer": f"http://testserver{address}"})
    assert "unsent%3D" in asked["Location"], said(asked)
    back = desk.client.post(asked["Location"], {"password": PASSWORD})["Location"]
    page = desk.client.get(back)
    assert "Not sent yet." in said(page)
    return posted(page.content.decode())


def kept(found, data):
    """Check whether a page would send all of these values."""
    return {name: found.getlist(name) for name in data} == {
        name: value if isinstance(value, list) else [value] for name, value in data.items()
    }


LINES = {
    "schedule.choice": "schedule", "schedule.schedule": "s1",
    "schedule.s1.1.kind": "weekly", "schedule.s1.1.day": ["Monday"], "schedule.s1.1.start": "08:00",
    "schedule.s1.1.end": "09:00", "schedule.s1.2.kind": "weekly", "schedule.s1.2.day": ["Friday", "Saturday"],
    "schedule.s1.2.start": "18:00", "schedule.s1.2.end": "19:30",
}  # fmt: skip


def test_a_template_with_more_lines_than_the_empty_one(place):
    desk = AreasDesk(place, "owner")
    data = {"name": "清掃", "name_ja": ""} | LINES
    found = interrupted(desk, f"/t/{place.tenant.slug}/rights/templates/new/", data)
    assert kept(found, data)
    with desk.scope():
        assert not RightsTemplate.objects.exists()


def test_rights_of_a_member_with_a_line_more(place):
    desk = AreasDesk(place, "owner")
    member = desk.people[0]
    office = by_schedule(weekly("08:00:00", "19:00:00", "Monday"))
    desk.set_at_service(
        member,
        {"default_mode": "option", "areas_list": [{"area_id": desk.area.area_id, "pass": office}]},
    )
    calls = len(place.calls(6))
    address = f"/t/{place.tenant.slug}/members/{member.member_id}/rights/"
    drawn = posted(desk.client.get(address).content.decode())
    drawn["act"] = "row s1 range"
    data = posted(desk.client.post(address, dict(drawn.lists())).content.decode())
    data[f"devices.area.{desk.other.area_id}"] = "s1"
    data["s1.1.end"] = "20:15"
    found = interrupted(desk, address, dict(data.lists()))
    lines = {name: data.getlist(name) for name in data if name.startswith(("devices.", "s1."))}
    assert len([name for name in lines if name.endswith(".kind")]) == 2
    assert kept(found, lines)
    assert len(place.calls(6)) == calls


@pytest.mark.parametrize("act", ["grant", "withdraw"])
def test_an_edit_of_an_area_keeps_its_members(place, act):
    desk = AreasDesk(place)
    data = {"ids": f"{desk.people[0].pk},{desk.people[2].pk}", "trust": "60", "when": "at", "at": "2027-01-05T08:00"}
    if act == "grant":
        data |= {name.replace("schedule.", "pass_.", 1): value for name, value in LINES.items()}
    found = interrupted(desk, desk.at(f"{act}/?list=area-choice"), data | {"step": "preview"})
    assert kept(found, data)
    with desk.scope():
        assert not Job.objects.exists()


def test_a_change_of_many_members_keeps_them_and_its_reason(make):
    desk = ChangesDesk(make(members=5))
    data = {"ids": desk.ids(desk.members()[:2]), "why": "Holiday — 休暇", "when": "now"}
    # Its preview needs no proof: here, the session ends.
    age_proof(desk.client.session, HOUR)
    address = desk.changes("new/suspend/")
    session = desk.client.session
    fresh = dict(session.items())
    signed_out = {key: value for key, value in fresh.items() if not key.startswith("_auth")}
    page = desk.client.post(address, data).content.decode()
    data["opened_by"] = posted(page)["opened_by"]
    session.clear()
    session.update(signed_out)
    session.save()
    answer = desk.client.post(address, data | {"preview": "1"}, headers={"referer": f"http://testserver{address}"})
    assert "unsent%3D" in answer["Location"]
    session = desk.client.session
    session.update({**fresh, **dict(session.items())})
    session.save()
    token = session["tenants.interrupted_requests"]["token"]
    found = posted(desk.client.get(f"{address}?unsent={token}").content.decode())
    del data["opened_by"]
    assert kept(found, {key: value for key, value in data.items() if key != "why"})
    assert found.getlist("why") == [data["why"]]
    with desk.scope():
        assert not Job.objects.exists()


def test_a_button_without_fields_is_to_be_pressed_again_and_nothing_was_entered(place):
    desk = AreasDesk(place)
    person = place.staff("facility manager")
    browser = place.client(person)
    page = f"/t/{place.tenant.slug}/members/{desk.people[0].member_id}/"
    forms = forms_of(browser.get(page).content.decode(), page)
    form = next(each for each in forms if each.address.endswith("/suspend/"))
    end_session(browser)
    asked = browser.post(form.address, form.data(), headers={"referer": f"http://testserver{page}"})
    words = said(browser.get(sign_in(browser, person, asked)))
    assert "Not sent yet. Press the button again." in words
    assert "Your entries are filled in again" not in words
