"""Two people change one thing: the later one sees both values and decides; values they did not change stay."""

import re
import uuid

import pytest

from portal.domain.cameras.models import Camera
from portal.domain.notifications.models import AlertRecipients
from portal.domain.rights.models import RightsTemplate
from portal.domain.visits.models import Preset
from portal.history.models import SavedSearch
from portal.plans.models import FloorPlan
from portal.reports.models import Schedule
from portal.reviews.models import Item, Review
from tenants.scope import tenant_scope
from tests.support import evidence
from tests.support.forms import forms_of
from tests.support.members import MembersDesk, said
from tests.support.places import Place
from tests.support.reviews import ReviewsDesk

THEIRS, MINE = "First of two", "Second of two"


@pytest.fixture
def place(make):
    return make(members=3)


def opened(client, address, field):
    """Return the form of a page that has this field."""
    page = client.get(address).content.decode()
    return next(each for each in forms_of(page, address) if field in each.data())


def both_change(place: Place, address: str, field: str, theirs: str = THEIRS, mine: str = MINE, *, shown: str = ""):
    """Let two people open the page and save one after the other. Return the second's browser and the answer to it."""
    first, second = place.client(), place.client(place.staff("owner"))
    ours, other = opened(first, address, field), opened(second, address, field)
    assert first.post(ours.address, ours.data(**{field: theirs})).status_code == 302
    answer = second.post(other.address, other.data(**{field: mine}))
    assert answer.status_code == 422, said(answer)
    words = said(answer)
    assert re.search(rf"Changed to “[^”]*{shown or theirs}[^”]*” after you opened this page\.", words), words
    again = next(each for each in forms_of(answer.content.decode(), other.address) if field in each.data())
    assert again.data()[field] == [mine], "what was typed is there"
    assert opened(first, address, field).data()[field] == [theirs], "nothing was overwritten"
    decided = second.post(again.address, again.data())
    assert decided.status_code == 302, said(decided)
    assert opened(first, address, field).data()[field] == [mine]


def test_a_review(place):
    desk = ReviewsDesk(place)
    desk.start()
    with tenant_scope(place.tenant):
        review = Review.objects.get()
    both_change(place, f"/t/{place.tenant.slug}/reviews/{review.pk}/change/", "title")


def groups_of_a_review(place):
    """Return the address of the page on which the reviewers of a review's groups are chosen; its one group is "a"."""
    desk = ReviewsDesk(place)
    address = desk.link("groups", desk.start().pk)
    with tenant_scope(place.tenant):
        Item.objects.update(group_id="a", group="a")
    return address


def test_who_reviews_a_group_of_a_review(place):
    address = groups_of_a_review(place)
    theirs, mine = place.staff("facility manager"), place.staff("facility manager")
    both_change(place, address, "group-a", str(theirs.pk), str(mine.pk), shown=re.escape(str(theirs)))


def test_a_groups_reviewer_whom_one_left_alone_stays_as_the_other_chose(place):
    address = groups_of_a_review(place)
    old, new = place.staff("facility manager"), place.staff("facility manager")
    first, second = place.client(), place.client(place.staff("owner"))
    first.post(address, opened(first, address, "group-a").data(**{"group-a": str(old.pk)}))
    left_alone = opened(second, address, "group-a")
    first.post(address, opened(first, address, "group-a").data(**{"group-a": str(new.pk)}))
    assert second.post(address, left_alone.data()).status_code == 302
    assert opened(second, address, "group-a").data()["group-a"] == [str(new.pk)]
    with tenant_scope(place.tenant):
        assert set(Item.objects.values_list("reviewer_id", flat=True)) == {new.pk}


def test_an_incident(place):
    evidence.opened(place, place.client())
    both_change(place, evidence.url(place, "edit", 1), "title")


@pytest.mark.parametrize(
    ("address", "field", "theirs", "mine"),
    [
        ("evidence/settings/", "days", "400", "500"),
        ("guests/settings/", "link_minutes", "45", "50"),
        ("alerts/rules/offline/", "minutes", "20", "25"),
    ],
)
def test_settings(place, address, field, theirs, mine):
    both_change(place, f"/t/{place.tenant.slug}/{address}", field, theirs, mine)


def test_lockdown_settings(place):
    address = f"/t/{place.tenant.slug}/lockdown/settings/"
    both_change(place, address, "second", "evacuation", "both", shown="Evacuation")


def test_who_is_told_of_alerts(place):
    address = f"/t/{place.tenant.slug}/alerts/rules/offline/"
    with tenant_scope(place.tenant):
        AlertRecipients.objects.create(kind="offline", roles=["owner"], people=[])
    both_change(place, address, "roles", "guard", "auditor", shown="Guard")


def test_a_saved_search(place):
    with tenant_scope(place.tenant):
        search = SavedSearch.objects.create(name="Night", query="", by=place.owner)
    both_change(place, f"/t/{place.tenant.slug}/logs/searches/{search.pk}/", "name")


def test_a_floor_plan(place):
    with tenant_scope(place.tenant):
        plan = FloorPlan.objects.create(name="1F", content=b"-", mark="m", width=8, height=4, by=place.owner)
    both_change(place, f"/t/{place.tenant.slug}/plans/{plan.pk}/edit/", "name")


def test_a_report_schedule(place):
    with tenant_scope(place.tenant):
        schedule = Schedule.objects.create(
            nonce=uuid.uuid4(),
            kind="keys",
            every="week",
            hour=7,
            language="en",
            recipients=[place.owner.pk],
            by=place.owner,
        )
    address = f"/t/{place.tenant.slug}/reports/schedules/{schedule.pk}/"
    both_change(place, address, "hour", "8", "9", shown="08:00")


def test_a_camera(place):
    with tenant_scope(place.tenant):
        Camera.objects.create(camera_id="C", name="Lobby")
    both_change(place, f"/t/{place.tenant.slug}/cameras/C/edit/", "name")


def test_a_member_and_a_group(make):
    desk = MembersDesk(make(members=3), "owner")
    member, group = desk.members()[0], desk.group
    both_change(desk.place, f"{desk.url}{member.member_id}/edit/", "member_name")
    both_change(desk.place, f"/t/{desk.place.tenant.slug}/groups/{group.membergroup_id}/", "membergroup_name")


def test_a_template_of_hours(place):
    address = f"/t/{place.tenant.slug}/rights/templates/"
    browser = place.client()
    form = opened(browser, f"{address}new/?ready=cleaning", "name")
    assert browser.post(form.address, form.data()).status_code == 302
    with tenant_scope(place.tenant):
        template = RightsTemplate.objects.get()
    both_change(place, f"{address}{template.pk}/", "schedule.s1.1.start", "05:00", "07:00")


def test_what_one_left_alone_stays_as_the_other_saved_it(place):
    address = f"/t/{place.tenant.slug}/guests/presets/new/"
    browser = place.client()
    form = opened(browser, address, "remarks_en")
    assert browser.post(address, form.data(name="Visit", remarks_en="Old")).status_code == 302
    with tenant_scope(place.tenant):
        preset = Preset.objects.get(name="Visit")
    edit = f"/t/{place.tenant.slug}/guests/presets/{preset.pk}/"
    ours, other = opened(browser, edit, "name"), opened(browser, edit, "name")
    assert browser.post(edit, ours.data(name=THEIRS)).status_code == 302
    assert browser.post(edit, other.data(remarks_en=MINE)).status_code == 302
    found = opened(browser, edit, "name").data()
    assert (found["name"], found["remarks_en"]) == ([THEIRS], [MINE])


def test_a_role(place):
    person = place.staff("auditor")
    staff = f"/t/{place.tenant.slug}/staff/"
    first, second = place.client(), place.client(place.staff("owner"))
    page = second.get(staff).content.decode()
    form = next(each for each in forms_of(page, staff) if each.data().get("shown") == ["auditor"])
    first.post(form.address, {"role": "guard"})
    answer = second.post(form.address, form.data(role="owner"), follow=True)
    assert "Another person changed this role to “Guard”. Nothing was changed." in said(answer)
    assert person.pk
