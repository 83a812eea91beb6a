"""What each role sees of the tenant's own pages, and what people without access do not see."""

import re
from html import unescape

import pytest
from django.test import Client

from tenants import roles
from tenants.models import AuditEntry, Connection, Staff, SupportSession, Tenant, User
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tests.support.places import signed_in

PAGES = {
    "connection/": Permission.CONNECTION_VIEW,
    "connection/operations/": Permission.CONNECTION_VIEW,
    "staff/": Permission.STAFF_VIEW,
    "roles/": Permission.TENANT_VIEW,
    "audit/": Permission.AUDIT_VIEW,
}
FORMS = {
    "connection/connect/": Permission.CONNECTION_MANAGE,
    "connection/reissue/": Permission.CONNECTION_MANAGE,
    "connection/revoke/": Permission.CONNECTION_MANAGE,
    "connection/licence-key/": Permission.CONNECTION_MANAGE,
    "connection/webhook/on/": Permission.CONNECTION_MANAGE,
    "connection/webhook/secret/": Permission.CONNECTION_MANAGE,
    "connection/webhook/address/": Permission.CONNECTION_MANAGE,
    "connection/webhook/reveal/": Permission.CONNECTION_MANAGE,
    "staff/invite/": Permission.STAFF_MANAGE,
    "support/allow/": Permission.SUPPORT_MANAGE,
}


@pytest.mark.parametrize("role", roles.TENANT_ROLES, ids=lambda role: role.name)
def test_each_role_opens_its_pages_and_is_told_why_not_the_others(two, role):
    browser = signed_in(two.staff(role.name))
    for page, permission in PAGES.items():
        answer = browser.get(f"/t/a/{page}")
        assert answer.status_code == (200 if permission in role.permissions else 403), page
        assert "no-store" in answer["Cache-Control"]
        if answer.status_code == 403:
            text = unescape(answer.content.decode())
            assert str(permission.label) in text
            assert str(role.title) in text
    for page, permission in FORMS.items():
        if permission not in role.permissions:
            assert browser.post(f"/t/a/{page}").status_code == 403, page


@pytest.mark.parametrize("page", [*PAGES, *FORMS, "nowhere/"])
def test_a_strangers_answer_is_that_of_a_missing_tenant(two, page):
    browser = signed_in(two.owner_b)
    for ask in (browser.get, browser.post, browser.put):
        foreign, missing = ask(f"/t/a/{page}"), ask(f"/t/zz/{page}")
        assert foreign.status_code == missing.status_code == 404
        assert plain(foreign).replace("/t/a/", "/t/zz/") == plain(missing)


def test_nobody_signed_in_is_sent_to_sign_in_whatever_the_tenant(two):
    for slug in ("a", "zz"):
        answer = Client().get(f"/t/{slug}/connection/")
        assert answer.status_code == 302
        assert answer["Location"] == f"/accounts/login/?next=/t/{slug}/connection/"


def plain(answer):
    """Return the page without what differs at each request."""
    return re.sub(r'X-CSRFToken": "[^"]+|(?:csrfmiddlewaretoken|opened_by)" value="[^"]+', "", answer.content.decode())


def test_a_role_withdrawn_counts_at_the_next_request(two):
    person = two.staff("auditor")
    browser = signed_in(person)
    assert browser.get("/t/a/audit/").status_code == 200
    with tenant_scope(two.a):
        Staff.objects.filter(user=person).update(role="receptionist")
    assert browser.get("/t/a/audit/").status_code == 403
    with tenant_scope(two.a):
        Staff.objects.filter(user=person).update(is_active=False)
    assert browser.get("/t/a/audit/").status_code == 404


def test_an_address_that_another_tenant_took_over_leads_there_at_once(two):
    """Check that the cached tenant of an address is dropped as soon as it is wrong."""
    mine, theirs = signed_in(two.staff("auditor")), signed_in(two.owner_b)
    assert mine.get("/t/a/audit/").status_code == 200
    Tenant.objects.filter(pk=two.a.pk).update(slug="moved-away")
    Tenant.objects.filter(pk=two.b.pk).update(slug="a")
    assert mine.get("/t/a/audit/").status_code == 404
    assert mine.get("/t/moved-away/audit/").status_code == 200
    assert theirs.get("/t/a/audit/").status_code == 200


def test_the_wrong_method_is_said_to_be_wrong_to_members_only(two):
    assert signed_in(two.owner_a).get("/t/a/connection/connect/").status_code == 405
    assert signed_in(two.owner_b).get("/t/a/connection/connect/").status_code == 404


def test_the_roles_page_shows_the_whole_matrix(two):
    page = unescape(signed_in(two.staff("auditor")).get("/t/a/roles/").content.decode())
    for role in roles.ROLES:
        assert str(role.title) in page
    for permission in Permission:
        assert str(permission.label) in page


def test_a_missing_thing_inside_a_tenant_and_a_foreign_one_look_alike(two):
    with tenant_scope(two.b):
        foreign = AuditEntry.objects.create(action="x.y", summary="secret of b")
    browser = signed_in(two.owner_a)
    answers = [browser.get(f"/t/a/audit/{pk}/") for pk in (foreign.pk, 10**9, 10**30)]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert plain(answers[0]).replace(f"/audit/{foreign.pk}/", f"/audit/{10**9}/") == plain(answers[1])


# The connection's secrets


def test_a_licence_key_is_stored_sealed_and_never_shown(two):
    browser = signed_in(two.owner_a)
    canary = "CANARY-LICENCE-1234"
    page = browser.post("/t/a/connection/licence-key/", {"licence-value": canary}, follow=True).content.decode()
    assert "The licence key was changed." in page
    assert canary not in page
    with tenant_scope(two.a):
        assert Connection.objects.get().licence_key == canary
        assert canary not in str(list(AuditEntry.objects.values()))
    browser.post("/t/a/connection/licence-key/", {"licence-remove": "on"})
    with tenant_scope(two.a):
        assert Connection.objects.get().licence_key is None


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("licence-key", {}),
        ("licence-key", {"licence-value": "鍵"}),
        ("licence-key", {"licence-value": "a\nb"}),
        ("licence-key", {"licence-value": "x" * 501}),
    ],
)
def test_bad_secrets_are_refused_with_a_message_and_change_nothing(two, form, values):
    answer = signed_in(two.owner_a).post(f"/t/a/connection/{form}/", values)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    with tenant_scope(two.a):
        assert Connection.objects.get().licence_key is None


# Support sessions


def enter(browser, **values):
    return browser.post("/platform/enter/a/", {"reason": "Ticket 12", "minutes": 30} | values)


def test_support_enters_with_a_reason_and_only_while_the_session_lasts(two):
    person = two.platform()
    browser = signed_in(person)
    assert browser.get("/t/a/connection/").status_code == 404
    assert "Tenant a" in browser.get("/platform/").content.decode()
    assert enter(browser, reason="").status_code == 422
    assert enter(browser, minutes=100000).status_code == 422
    assert enter(browser).status_code == 302
    assert browser.get("/t/a/connection/").status_code == 200
    assert browser.get("/t/b/connection/").status_code == 404
    assert browser.post("/t/a/connection/connect/").status_code == 403
    with tenant_scope(two.a):
        assert AuditEntry.objects.get(action="support.enter").support_session.reason == "Ticket 12"
        SupportSession.objects.update(expires_at="2026-01-01T00:00:00Z")
    assert browser.get("/t/a/connection/").status_code == 404


def test_time_limits_are_told_in_the_persons_language(two):
    support = two.platform()
    User.objects.filter(pk=support.pk).update(language="ja")
    assert "30分" in signed_in(support).get("/platform/enter/a/").content.decode()


def test_the_owner_sees_the_session_ends_it_and_refuses_more(two):
    support = signed_in(two.platform())
    enter(support)
    owner = signed_in(two.owner_a)
    assert "Ticket 12" in owner.get("/t/a/staff/").content.decode()
    with tenant_scope(two.a):
        session = SupportSession.objects.get()
    assert owner.post(f"/t/a/support/{session.pk}/end/").status_code == 302
    assert support.get("/t/a/connection/").status_code == 404
    enter(support)
    assert owner.post("/t/a/support/allow/", {"allowed": "no"}).status_code == 302
    assert support.get("/t/a/connection/").status_code == 404
    refused = enter(support)
    assert refused.status_code == 422
    assert "this tenant does not allow support sessions" in refused.content.decode()
    owner.post("/t/a/support/allow/", {"allowed": "yes"})
    assert enter(support).status_code == 302


def test_support_ends_its_own_session_and_not_a_colleagues(two):
    first, second = signed_in(two.platform()), signed_in(two.platform("operator"))
    enter(first)
    with tenant_scope(two.a):
        session = SupportSession.objects.get()
    enter(second)
    assert second.post(f"/t/a/support/{session.pk}/end/").status_code == 403
    assert first.post(f"/t/a/support/{session.pk}/end/")["Location"] == "/platform/"
    assert first.get("/t/a/connection/").status_code == 404
    assert second.get("/t/a/connection/").status_code == 200


def test_the_platforms_pages_are_not_there_for_others(two):
    for browser in (signed_in(two.owner_a), signed_in(two.staff("auditor"))):
        assert browser.get("/platform/").status_code == 404
        assert enter(browser).status_code == 404
    with tenant_scope(two.a):
        assert not SupportSession.objects.exists()


def test_the_board_finds_a_tenant_and_names_no_secret(two):
    page = signed_in(two.platform("operator")).get("/platform/?q=tenant b").content.decode()
    assert "Tenant b" in page
    assert "Tenant a" not in page
    assert "token of" not in page


# The audit log


def test_the_trail_filters_and_pages(two):
    with tenant_scope(two.a):
        AuditEntry.objects.bulk_create([AuditEntry(action="door.unlock", summary=f"n{n:03}") for n in range(60)])
        AuditEntry.objects.create(action="member.edit", target="member:1", summary="other", by=two.owner_a)
    browser = signed_in(two.owner_a)
    first = browser.get("/t/a/audit/?about=devices")
    assert "n059" in first.content.decode()
    assert ">other<" not in first.content.decode()
    assert "n009" not in first.content.decode()
    following = re.search(r'<p class="pager"><a class="btn" href="([^"]+)"', first.content.decode())[1]
    second = browser.get(f"/t/a/audit/{unescape(following)}").content.decode()
    assert "n009" in second
    assert "n059" not in second
    assert "other" in browser.get(f"/t/a/audit/?person={two.owner_a.email}").content.decode()
    for odd in (
        "?since=yesterday",
        "?until=9999-12-31",
        "?after=forged",
        "?about=elsewhere",
        "?person=" + "x" * 500,
    ):
        assert browser.get(f"/t/a/audit/{odd}").status_code == 200, odd


def test_an_entry_shows_what_changed_and_masks_what_opens_doors(two):
    with tenant_scope(two.a):
        entry = AuditEntry.objects.create(
            action="member.edit",
            target="member:1",
            summary="田中",
            before={"member_name": "田中", "card_data": "CANARYCARD", "qrcode": {"data": "CANARYQR"}},
            after={"member_name": "田中 はな", "card_data": "CANARYNEW", "member_code": None},
        )
    page = signed_in(two.owner_a).get(f"/t/a/audit/{entry.pk}/").content.decode()
    assert "田中 はな" in page
    assert '<td class="p-title">Name</td>' in page, "what people call it"
    assert "CANARY" not in page


def test_tenants_of_one_person_are_listed_by_name(two):
    from tenants.access import tenants_of

    with tenant_scope(two.b):
        Staff.objects.create(user=two.owner_a, role="guard")
    found = tenants_of(two.owner_a)
    assert [(tenant.slug, role.name) for tenant, role in found] == [("a", "owner"), ("b", "guard")]
    assert tenants_of(two.platform()) == []


def test_colours_and_initials_tell_tenants_apart(db, two):
    assert two.a.colour
    assert two.a.initials == "TA"
    assert Tenant(slug="x", name="東京ビル").initials == "東"
