"""Who must have a second factor where the portal requires one, and what a person without it sees."""

from html import unescape

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.urls import reverse

from portal.base.ui.tables.listing import Listing
from tenants import roles
from tenants.access import first_page_of
from tenants.roles import REQUIREMENTS, TENANT_ROLES, Permission, Proof
from tests.support.places import signed_in
from tests.tenants.test_reauthentication import FOUND

P = Permission
#: Actions without one: viewing single things, and daily work that opens no door and gives no access.
WITHOUT = {
    P.TENANT_VIEW, P.MEMBERS_VIEW, P.GROUPS_VIEW, P.GROUPS_EDIT, P.AREAS_VIEW, P.DEVICES_VIEW, P.PLANS_EDIT,
    P.ALERTS_VIEW, P.ALERTS_TAKE, P.ROLL_CALL, P.ROLL_CALL_VIEW, P.CAMERAS_VIEW, P.CAMERAS_RECORDED, P.EVIDENCE_VIEW,
    P.LOGS_TODAY, P.CONNECTION_VIEW, P.STAFF_VIEW, P.AUDIT_VIEW,
}  # fmt: skip
#: Lists that are exported as numbers and names of places, without personal data; and the guide's sample.
NOBODYS = {"areas", "groups", "sample"}


@pytest.fixture(autouse=True)
def required(settings):
    settings.REQUIRE_MFA = True


def sent_to_set_it_up(answer):
    return answer.status_code == 302 and answer["Location"] == reverse("mfa_index")


@pytest.mark.parametrize("role", TENANT_ROLES, ids=lambda role: role.name)
def test_every_role_that_there_is_needs_one(two, role):
    person = two.staff(role.name)
    browser = signed_in(person)
    assert sent_to_set_it_up(browser.get(first_page_of(two.a, role.permissions)))
    TOTP.activate(person, generate_totp_secret())
    assert not sent_to_set_it_up(browser.get("/t/a/roles/"))


@pytest.mark.parametrize("permission", Permission)
def test_a_permission_needs_one_unless_it_only_looks(two, permission, monkeypatch):
    monkeypatch.setattr(roles.Reviewer, "permissions", frozenset({P.TENANT_VIEW, permission}))
    answer = signed_in(two.staff("reviewer")).get("/t/a/roles/")
    assert sent_to_set_it_up(answer) == (permission not in WITHOUT)


def test_platform_staff_need_one(two):
    assert sent_to_set_it_up(signed_in(two.platform()).get("/platform/"))


def test_every_permission_is_in_the_table():
    assert set(REQUIREMENTS) == set(Permission)


def test_what_asks_for_proof_needs_one():
    assert {each for each, asks in REQUIREMENTS.items() if asks.proof is not Proof.NONE} <= set(Permission) - WITHOUT
    asking = {
        each.view.writes
        for each in FOUND.values()
        if each.view.proof is not Proof.NONE and hasattr(each.view, "writes")
    }
    # The start of a job needs the job's own permission, the answer to a safety change that of its rule.
    assert asking - {P.MEMBERS_VIEW, P.TENANT_VIEW} <= set(Permission) - WITHOUT


def test_what_leaves_as_a_file_of_somebodys_data_needs_one():
    lists = {name: table.export_permission for name, table in Listing.registry.items() if table.exports}
    assert {name for name, needed in lists.items() if needed is None or not needed.needs_second_factor} <= NOBODYS
    assert all(each.view.writes.needs_second_factor for each in FOUND.values() if each.view.file)


def test_a_person_without_one_reads_why_and_what_to_do(two):
    page = signed_in(two.staff("receptionist")).get("/t/a/guests/", follow=True).content.decode()
    assert "Your role requires two-factor authentication. Set up a passkey or an app, then continue." in page
    assert "Receptionist" in page
    assert "Tenant a" in page
    assert "Answer the intercom: see who is at its doors and unlock them" in page
    assert "Run a roll call" not in page


def test_platform_staff_read_why(two):
    page = signed_in(two.platform("operator")).get("/platform/", follow=True).content.decode()
    assert "Runs the platform." in page


def test_whoever_has_one_or_needs_none_reads_nothing_of_it(two, settings):
    person = two.staff("guard")
    TOTP.activate(person, generate_totp_secret())
    assert "Why it is required" not in signed_in(person).get(reverse("mfa_index")).content.decode()
    settings.REQUIRE_MFA = False
    assert "Why it is required" not in signed_in(two.staff("guard")).get(reverse("mfa_index")).content.decode()


def test_the_roles_page_says_which_roles_need_one(two, settings):
    TOTP.activate(two.owner_a, generate_totp_secret())
    browser = signed_in(two.owner_a)
    page = unescape(browser.get("/t/a/roles/").content.decode())
    assert page.count("Two-factor authentication required") == 1 + len(Permission) - len(WITHOUT)
    settings.REQUIRE_MFA = False
    assert "Two-factor authentication required" not in browser.get("/t/a/roles/").content.decode()
