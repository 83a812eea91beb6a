"""Attacks that failed on the running site: a part of each in every run, all of it in a soak run."""

import re
import uuid
from urllib.parse import urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.http import HttpResponse
from django.middleware.csrf import CSRF_SESSION_KEY
from django.test import Client

from tenants.models import AccountMail, AuditEntry, Invitation, Staff, User
from tenants.roles import TENANT_ROLES, find_role
from tenants.scope import across_tenants, tenant_scope
from tests.support.crawl import PLAIN, addresses, addresses_of_tenants
from tests.support.effort import SOAK, one_in
from tests.support.places import PASSWORD, signed_in

# Requests that prove their sender in another way: the service signs its notifications.
SIGNED = {"hooks/<str:token>/"}
ELSEWHERE = (
    "https://evil.test/",
    "//evil.test",
    "/\\evil.test",
    "https:evil.test",
    "javascript:alert(1)",
    "///evil.test",
)
NEW = "tiny violet harbour 88"


ROUTES = {each.route: each for each in addresses()}
VALUES = {**PLAIN, "uuid": str(uuid.UUID(int=1))}


def counts() -> tuple[int, int, int, int]:
    """Return how many people, places on the staff, invitations and audit entries there are."""
    with across_tenants("a test counts what an attack left behind"):
        rows = Staff.objects_across_tenants, Invitation.objects_across_tenants, AuditEntry.objects_across_tenants
        return User.objects.count(), *(each.count() for each in rows)  # type: ignore[return-value]


@pytest.mark.share
class TestOfARole:
    @pytest.mark.parametrize("name", [each.name for each in TENANT_ROLES])
    def test_nothing_beyond_its_permissions_is_answered_or_done(self, two, name):
        person, permissions = two.staff(name), find_role(name).permissions
        browser, before, refused = signed_in(person), counts(), 0
        for number, address in enumerate(addresses_of_tenants()):
            view = address.view
            if view.permission in permissions or (number % 9 and not SOAK):
                continue
            path = address.path_by_kind("a", VALUES)
            for method in ("GET", "POST", "PUT", "DELETE"):
                answer = browser.generic(method, path)
                if path == "/t/a/" and method in view.methods:
                    assert (answer.status_code, answer.content) == (302, b""), "leads to the role's first page"
                    continue
                assert answer.status_code == (403 if method in view.methods else 405), (method, path)
                refused += 1
        assert refused > 50 or name in ("owner", "facility manager")
        assert counts() == before

    @pytest.mark.parametrize("name", ["support", "operator"])
    def test_of_the_platform_nothing_is_there_without_a_support_session(self, two, name):
        browser = signed_in(two.platform(name))
        for address in addresses_of_tenants()[:: 1 if SOAK else 9]:
            path = address.path_by_kind("a", VALUES)
            assert browser.get(path).status_code == 404, path
            assert browser.post(path).status_code == 404, path


class TestOfAFormElsewhere:
    def test_only_what_is_signed_needs_no_token(self):
        assert {route for route, each in ROUTES.items() if getattr(each.view, "csrf_exempt", False)} == SIGNED

    @pytest.mark.django_db
    @pytest.mark.parametrize("route", one_in(9, sorted(set(ROUTES) - SIGNED)))
    def test_every_post_needs_its_own_browsers_token(self, two, route):
        owner, path = signed_in(two.owner_a), ROUTES[route].path_by_kind("a", VALUES)
        victim = Client(enforce_csrf_checks=True)
        victim.cookies = owner.cookies
        token = self.token(victim)
        stranger = self.token(Client())
        before = counts()
        for posted, headers in (
            ({}, {}),
            ({"csrfmiddlewaretoken": stranger}, {}),
            ({}, {"X-CSRFToken": stranger}),
            ({"csrfmiddlewaretoken": token}, {"Origin": "https://evil.test"}),
            ({"csrfmiddlewaretoken": token}, {"Origin": "null"}),
        ):
            answer = victim.post(path, posted, headers=headers)
            assert answer.status_code in (403, 404, 405), (posted, headers)
            assert answer.status_code != 403 or "evil" not in answer.content.decode()
        assert counts() == before

    def token(self, browser: Client) -> str:
        page = browser.get("/accounts/login/", follow=True).content.decode()
        found = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page)
        assert found
        return found[1]


@pytest.mark.django_db
class TestOfASession:
    def test_one_that_was_planted_before_sign_in_is_not_the_persons_afterwards(self, two):
        browser = Client()
        browser.get("/accounts/login/?next=/t/a/")
        planted = browser.session
        planted[CSRF_SESSION_KEY] = "x" * 32
        planted.save()
        browser.cookies["sessionid"] = planted.session_key
        browser.post("/accounts/login/", {"login": two.owner_a.email, "password": PASSWORD})
        assert browser.get("/t/a/").status_code == 200
        assert browser.cookies["sessionid"].value != planted.session_key
        attacker = Client()
        attacker.cookies["sessionid"] = planted.session_key
        assert attacker.get("/t/a/").status_code == 302
        assert not Session.objects.filter(session_key=planted.session_key).exists()

    def test_one_that_was_copied_ends_with_the_sign_out(self, two):
        browser = signed_in(two.owner_a)
        copied = Client()
        copied.cookies["sessionid"] = browser.cookies["sessionid"].value
        assert copied.get("/t/a/").status_code == 200
        browser.post("/accounts/logout/")
        assert copied.get("/t/a/").status_code == 302


@pytest.mark.django_db
class TestOfAnAddress:
    @pytest.mark.parametrize("elsewhere", ELSEWHERE)
    def test_nothing_leads_to_another_site(self, two, elsewhere):
        person = {"login": two.owner_a.email, "password": PASSWORD, "next": elsewhere}
        answers = [
            Client().post("/accounts/login/", person),
            Client().post(f"/accounts/login/?next={elsewhere}", person),
            signed_in(two.owner_a).get("/accounts/login/", {"next": elsewhere}),
            signed_in(two.owner_a).post("/accounts/reauthenticate/", {"password": PASSWORD, "next": elsewhere}),
            signed_in(two.owner_a).post("/accounts/logout/", {"next": elsewhere}),
            signed_in(two.owner_a).post("/look/", {"theme": "dark", "next": elsewhere}),
            signed_in(two.owner_a).post("/t/a/staff/invite/", headers={"Referer": elsewhere}),
        ]
        for answer in answers:
            assert not re.search(r"evil|javascript|^//|^[^/]", answer.get("Location", "/"))

    @pytest.mark.parametrize("host", ["evil.test", "127.0.0.1.evil.test", "localhost:80@evil.test", "evil.test:80", ""])
    def test_of_another_host_is_refused_by_every_page(self, two, host):
        browser = signed_in(two.owner_a)
        for path in ("/", "/t/a/", "/accounts/login/", "/accounts/password/reset/", "/signing-keys/"):
            answer = browser.get(path, headers={"Host": host})
            assert (answer.status_code, "evil" in answer.content.decode()) == (400, False), path
        told = browser.get("/t/a/staff/", headers={"X-Forwarded-Host": "evil.test", "Forwarded": "host=evil.test"})
        assert (told.status_code, "evil" in told.content.decode()) == (200, False)


@pytest.mark.django_db
class TestOfALink:
    def test_to_a_new_password_works_once_for_one_account_alone(self, two):
        address = self.asked(two.owner_a)
        other = self.asked(two.owner_b)
        uid, key = address.rstrip("/").rpartition("/")[2].split("-", 1)
        foreign = other.rstrip("/").rpartition("/")[2].split("-", 1)
        changed = key[:-1] + ("a" if key[-1] != "a" else "b")
        for wrong in (
            f"{foreign[0]}-{key}",
            f"{uid}-{foreign[1]}",
            f"{uid}-{changed}",
            f"{uid}-",
            "zzzzzzzzzzzzzz-1-1",
        ):
            answer = Client().get(f"/accounts/password/reset/key/{wrong}/", follow=True)
            assert 'name="password1"' not in answer.content.decode(), wrong
        browser = Client()
        self.choose(browser, address)
        assert 'name="password1"' not in Client().get(address, follow=True).content.decode(), "a second time"
        two.owner_a.refresh_from_db()
        two.owner_b.refresh_from_db()
        assert (two.owner_a.check_password(NEW), two.owner_b.check_password(PASSWORD)) == (True, True)

    def test_to_a_new_password_is_void_once_the_password_was_changed_otherwise(self, two):
        address = self.asked(two.owner_a)
        two.owner_a.set_password("another quiet harbour 77")
        two.owner_a.save()
        assert 'name="password1"' not in Client().get(address, follow=True).content.decode()

    @pytest.mark.parametrize("change", [lambda token: token[:-1], lambda token: token + "A", str.swapcase, str.upper])
    def test_of_an_invitation_with_another_character_is_nobodys(self, two, change):
        signed_in(two.owner_a).post("/t/a/staff/invite/", {"email": "new@example.test", "role": "owner"})
        found = re.search(r"/invitations/(\S+?)/", str(mail.outbox[-1].body))
        assert found
        before = counts()
        answer: HttpResponse = Client().post(f"/invitations/{change(found[1])}/", {"name": "X", "password": NEW})
        assert (answer.status_code, counts()) == (404, before)
        with tenant_scope(two.a):
            assert Invitation.objects.get().accepted_at is None

    def asked(self, user: User) -> str:
        Client().post("/accounts/password/reset/", {"email": user.email})
        return urlsplit(AccountMail.objects.latest("pk").values["address"]).path

    def choose(self, browser: Client, address: str) -> None:
        page = browser.get(address, follow=True)
        browser.post(page.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
