"""A person of another tenant gets "not found" for every address, whether the thing exists or not."""

import pytest

from tenants.models import Staff
from tests.support.members import MembersDesk, said

PAGES = ("", "new/", "export/", "{id}/", "{id}/reading/", "{id}/edit/", "{id}/delete/")


@pytest.fixture
def desks(make):
    return MembersDesk(make()), MembersDesk(make())


def test_another_tenants_pages_answer_like_a_missing_tenant(desks):
    ours, theirs = desks
    member = theirs.members()[0].member_id
    before = len(theirs.place.calls())
    for rest in PAGES:
        there = ours.client.get(theirs.url + rest.format(id=member))
        slug = "no-such-".ljust(len(theirs.place.tenant.slug), "x")
        nowhere = ours.client.get(f"/t/{slug}/members/" + rest.format(id=member))
        assert there.status_code == nowhere.status_code == 404
        assert said(there).replace(theirs.place.tenant.slug, slug) == said(nowhere)
    assert len(theirs.place.calls()) == before


def test_another_tenants_member_under_our_address_is_missing_and_nobody_is_asked(desks):
    ours, theirs = desks
    member = theirs.members()[0].member_id
    before = len(ours.place.calls()), len(theirs.place.calls())
    for rest in ("", "reading/", "edit/", "delete/"):
        foreign = ours.client.get(f"{ours.url}{member}/{rest}")
        missing = ours.client.get(f"{ours.url}{'0' * len(member)}/{rest}")
        assert foreign.status_code == missing.status_code == 404
    for rest in ("edit/", "delete/", "reveal/card/"):
        assert ours.client.post(f"{ours.url}{member}/{rest}", {"confirmed": "1"}).status_code == 404
    assert (len(ours.place.calls()), len(theirs.place.calls())) == before


def test_a_form_of_one_tenant_writes_nothing_in_another(desks):
    ours, theirs = desks
    with theirs.scope():
        Staff.objects.create(tenant=theirs.place.tenant, user=ours.user, role="facility manager")
    form = ours.fields("new/") | {"member_name": "Lost", "membergroup_id": theirs.group.membergroup_id}
    answer = ours.client.post(theirs.url + "new/", form)
    assert answer.status_code == 422
    assert "another tenant" in answer.content.decode()
    assert theirs.place.calls(4) == ours.place.calls(4) == []
    member = ours.members()[0]
    edit = ours.fields(f"{member.member_id}/edit/")
    other = theirs.members()[0]
    ours.client.post(f"{theirs.url}{other.member_id}/edit/", edit | {"member_name": "Lost"})
    assert theirs.place.calls(6) == []


def test_nobody_signed_in_is_sent_to_sign_in(desks, client):
    ours, _ = desks
    answer = client.get(ours.url)
    assert answer.status_code == 302
    assert "/accounts/login/" in answer["Location"]
