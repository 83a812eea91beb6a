"""The messages on all pages of a tenant with a lost connection, and the confirmation before disconnecting."""

from html import unescape

import pytest

from tenants.models import Connection, Staff
from tenants.scope import tenant_scope
from tests.support.places import signed_in

WORKS = "Lists and search still show loaded data. You cannot make changes or operate doors until an owner reconnects."


def lose(tenant, state):
    with tenant_scope(tenant):
        Connection.objects.update_or_create(tenant=tenant, defaults={"state": state})


def page(user, path):
    answer = signed_in(user).get(path)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


@pytest.mark.parametrize("state", ["broken", "revoked"])
def test_every_page_says_what_still_works_and_who_may_connects_again(two, state):
    lose(two.a, state)
    owners = page(two.owner_a, "/t/a/audit/")
    assert WORKS in owners
    assert "Reconnect…" in owners
    others = page(two.staff("guard"), "/t/a/roles/")
    assert WORKS in others
    assert "Reconnect…" not in others
    assert 'href="/t/a/connection/"' not in others


@pytest.mark.parametrize("state", ["none", "connected"])
def test_nothing_is_said_of_a_connection_that_is_not_lost(two, state):
    lose(two.a, state)
    assert WORKS not in page(two.owner_a, "/t/a/audit/")


def test_revoking_and_removing_ask_first(two):
    lose(two.a, "connected")
    assert "Data already loaded stays and can be searched." in page(two.owner_a, "/t/a/connection/revoke/")
    person = two.staff("guard")
    with tenant_scope(two.a):
        row = Staff.objects.get(user=person)
    assert person.email in page(two.owner_a, f"/t/a/staff/{row.pk}/remove/")
    with tenant_scope(two.a):
        assert Staff.objects.get(pk=row.pk).is_active
        assert Connection.objects.get().state == "connected"


def test_an_invitation_names_no_role_by_itself(two):
    answer = signed_in(two.owner_a).post("/t/a/staff/invite/", {"email": "n@example.test", "role": ""})
    assert answer.status_code == 422
