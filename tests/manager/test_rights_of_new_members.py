"""New members get rights when they are created, by the form or by an import.

The rights come from a template, another member, or the usual ones of the group.
"""

import pytest
from django.utils import timezone

from accessapi.permissions import always, by_schedule, normalise_devices, weekly
from portal.domain.jobs.models import Job
from portal.domain.people.models import Group, Member
from portal.domain.places.models import Area
from portal.domain.rights.models import RightsTemplate
from tests.imports.conftest import Desk
from tests.manager.test_imports import checked, run, text
from tests.support.members import MembersDesk, said

OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday"))


class NewDesk(MembersDesk):
    def __init__(self, place):
        super().__init__(place)
        with self.scope():
            self.area = Area.objects.order_by("pk")[0]
            self.template = RightsTemplate.objects.create(
                tenant=place.tenant, kind="rights", name="Office", devices_pass=self.devices(OFFICE)
            )

    def devices(self, pass_):
        return {"default_mode": "option", "areas_list": [{"area_id": self.area.area_id, "pass": pass_}]}

    def know(self, members, pass_):
        told = {"devices_pass": self.devices(pass_), "keys_pass": None, "privilege": None}
        with self.scope():
            Member.objects.filter(pk__in=[member.pk for member in members]).update(
                rights=told, rights_read_at=timezone.now(), membergroup_id=self.group.membergroup_id
            )

    def given(self, name):
        """Return the service's rights of the member with this name."""
        with self.scope():
            member = Member.objects.get(member_name=name)
            assert member.rights is not None
        return self.at_service(member.member_id).get("devices_pass")

    def create(self, name, **values):
        return self.send("new/", member_name=name, membergroup_id=self.group.membergroup_id, **values)


@pytest.fixture
def desk(place):
    return NewDesk(place)


def equal(one, other):
    return normalise_devices(one) == normalise_devices(other)


def test_a_new_member_gets_rights_from_a_template_a_member_or_the_group_on_the_same_page(desk):
    first, second, third = desk.members()[:3]
    desk.know([first, second], always())
    desk.know([third], OFFICE)
    page = said(desk.client.get(f"{desk.url}new/"))
    assert "The group's usual rights (shared by more than half of its members)" in page
    desk.create("Usual", rights_source="group")
    desk.create("Templated", rights_source="template", rights_template=str(desk.template.pk))
    desk.create("Copied", rights_source="member", rights_member=third.member_id)
    desk.create("Plain", rights_source="none")
    assert equal(desk.given("Templated"), desk.devices(OFFICE))
    assert equal(desk.given("Copied"), desk.devices(OFFICE))
    assert equal(desk.given("Usual"), desk.devices(always()))
    assert equal(desk.given("Plain"), {"default_mode": "deny_all"})


def test_what_cannot_be_given_is_refused_beside_the_choice_and_nobody_is_created(desk):
    calls = len(desk.place.calls(4))
    with desk.scope():
        Member.objects.update(rights=None)
    for values, words in (
        ({"rights_source": "template"}, "Choose a template."),
        ({"rights_source": "member", "rights_member": "nobody"}, "No member has this code or ID."),
        ({"rights_source": "group"}, "Choose another option: “None for now” creates the member without rights"),
    ):
        assert words in said(desk.create("Nobody", **values))
    assert len(desk.place.calls(4)) == calls


def test_an_import_gives_its_new_members_rights_and_names_those_for_whom_there_are_none(desk):
    there, here = Desk(desk.place), desk.client
    url = f"/t/{desk.place.tenant.slug}/imports/"
    desk.know(desk.members()[:3], always())
    with desk.scope():
        usual, other = desk.group, Group.objects.order_by("pk")[1]
        Member.objects.filter(membergroup_id=other.membergroup_id).update(rights=None)
    rows = f"Name,Group\nAnna,{usual.membergroup_name}\nBert,{other.membergroup_name}\n"
    at = checked(there, here, url, rows, rights_source="group")
    page = text(here.get(at))
    assert "New members get the usual rights of their group." in page
    assert "gets no access rights" in page  # what needs attention comes first
    assert "Bert" in page
    assert "Anna" not in page
    here.post(f"{at}start/")
    run(there, at)
    assert equal(desk.given("Anna"), desk.devices(always()))
    with desk.scope():
        assert Job.objects.get().permission == "rights_edit"
        bert = Member.objects.get(member_name="Bert")
    assert equal(desk.at_service(bert.member_id).get("devices_pass"), {"default_mode": "deny_all"})


def test_an_import_takes_a_template_or_a_member_and_its_rights_are_told_before(desk):
    there, here = Desk(desk.place), desk.client
    url = f"/t/{desk.place.tenant.slug}/imports/"
    rows = f"Name,Group\nCara,{desk.group.membergroup_name}\n"
    at = checked(there, here, url, rows, rights_source="template", rights_template=str(desk.template.pk))
    assert "rights of the template “Office”" in text(here.get(at))
    here.post(f"{at}start/")
    run(there, at)
    assert equal(desk.given("Cara"), desk.devices(OFFICE))
    refused = here.post(f"{at}columns/", {"rights_source": "member"})
    assert refused.status_code == 302  # started already
