"""What was typed is restored after the session ended or a proof was needed; only the same person can send it."""

import re
from html import unescape

import pytest
from django.conf import settings as configured
from django.contrib.sessions.models import Session
from django.test import Client

from portal.base.timers.clock import database_now
from portal.evidence.actions import open_incident
from tenants import interrupted_requests
from tenants.models import Invitation
from tenants.scope import tenant_scope
from tests.support.forms import forms_of
from tests.support.members import MembersDesk
from tests.support.places import PASSWORD, age_proof, signed_in

STAFF, INVITE = "/t/a/staff/", "/t/a/staff/invite/"
TYPED = {"email": "new@example.test", "role": "auditor"}


def form_of(browser, page=STAFF, address=INVITE):
    return next(each for each in forms_of(browser.get(page).content.decode(), page) if each.address == address)


def send(browser, form, **typed):
    return browser.post(form.address, form.data(**typed), headers={"referer": f"http://testserver{STAFF}"})


def sign_in(browser, user, answer):
    """Sign in by the form to which `answer` leads. Return where that leads."""
    page = browser.get(answer["Location"]).content.decode()
    data = {"login": user.email, "password": PASSWORD} | dict(
        re.findall(r'<input type="hidden" name="(next)" value="([^"]*)"', page)
    )
    return unescape(browser.post("/accounts/login/", data | {"next": unescape(data["next"])})["Location"])


def end_session(browser):
    Session.objects.filter(session_key=browser.session.session_key).delete()


def invited(two):
    with tenant_scope(two.a):
        return Invitation.objects.count()


def read(browser, address):
    return unescape(browser.get(address).content.decode())


def sends_the_same(browser, address, **typed):
    """Check whether the form on this page would send these values unchanged."""
    found = next(each for each in forms_of(browser.get(address).content.decode(), STAFF) if each.address == INVITE)
    return dict(found.values) | typed == dict(found.values)


def test_an_invitation_that_a_proof_interrupts_is_filled_in_again_and_not_sent(two):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    age_proof(browser.session, 360)
    asked = send(browser, form, **TYPED)
    back = browser.post(asked["Location"], {"password": PASSWORD})["Location"]
    assert back.startswith(f"{STAFF}?unsent=")
    assert sends_the_same(browser, back, **TYPED)
    assert "Not sent yet. Your entries are filled in again" in read(browser, back)
    assert invited(two) == 0
    assert send(browser, form, **TYPED).status_code == 302
    assert invited(two) == 1
    assert not sends_the_same(browser, back, **TYPED), "what was sent is not offered again"
    assert "Your entries are no longer kept." in read(browser, back)


def test_what_was_typed_when_the_session_ended_is_there_after_signing_in(two):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    end_session(browser)
    asked = send(browser, form, **TYPED)
    assert "You were signed out, and nothing was changed. Sign in to see your entries" in read(
        browser, asked["Location"]
    )
    back = sign_in(browser, two.owner_a, asked)
    assert sends_the_same(browser, back, **TYPED)
    assert invited(two) == 0


def test_another_person_who_signs_in_there_does_not_get_it(two):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    end_session(browser)
    asked = send(browser, form, **TYPED)
    other = two.staff("owner")
    back = sign_in(browser, other, asked)
    assert TYPED["email"] not in read(browser, back)
    assert interrupted_requests._SESSION not in browser.session
    # Nor does a person who is already signed in, when the form of another is sent from an older tab.
    browser = signed_in(other)
    age_proof(browser.session, 360)
    send(browser, form, **TYPED)
    assert interrupted_requests._SESSION not in browser.session


def test_what_a_person_typed_is_not_opened_for_another(two, rf):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    age_proof(browser.session, 360)
    send(browser, form, **TYPED)
    session = browser.session
    request = rf.get(STAFF, {interrupted_requests.TOKEN_PARAMETER: session[interrupted_requests._SESSION]["token"]})
    request.session, request.user = session, two.staff("owner")
    assert interrupted_requests.find(request) is None
    assert interrupted_requests._SESSION not in session


def stale(user, cookie="z" * 32):
    """Return a browser that checks tokens, whose cookie is newer than its pages."""
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[configured.SESSION_COOKIE_NAME] = signed_in(user).session.session_key
    browser.get(STAFF)
    browser.cookies[configured.CSRF_COOKIE_NAME] = cookie
    return browser


def test_a_form_of_an_older_sign_in_is_shown_filled_in_with_a_fresh_token(two):
    form = form_of(signed_in(two.owner_a))
    browser = stale(two.owner_a)
    back = send(browser, form, **TYPED)["Location"]
    assert sends_the_same(browser, back, **TYPED)
    assert invited(two) == 0


@pytest.mark.parametrize("opened_by", ["", "forged:1:x"])
def test_a_form_from_elsewhere_has_expired_and_leads_to_a_page_that_opens(two, opened_by):
    form = form_of(signed_in(two.owner_a))
    browser = stale(two.owner_a)
    for page in (STAFF, INVITE, "/t/b/staff/", ""):
        answer = browser.post(
            INVITE, form.data(**TYPED, opened_by=opened_by), headers={"referer": f"http://testserver{page}"}
        )
        assert answer.status_code == 403
        text = unescape(answer.content.decode())
        assert "your entries were not saved." in text
        again = re.search(r'href="([^"]+)">Open it again', text)[1]
        assert browser.get(again).status_code == (404 if page == "/t/b/staff/" else 200)


def test_a_secret_is_neither_kept_nor_shown(two):
    browser = signed_in(two.owner_a)
    form = form_of(browser, "/t/a/connection/", "/t/a/connection/licence-key/")
    assert form.secret == ["licence-value"]
    age_proof(browser.session, 360)
    answer = browser.post(
        form.address, form.data(**{"licence-value": "canary"}), headers={"referer": "http://testserver/t/a/connection/"}
    )
    back = browser.post(answer["Location"], {"password": PASSWORD})["Location"]
    page = read(browser, back)
    assert "canary" not in page
    kept = browser.get(back).wsgi_request
    assert interrupted_requests.find(kept).values == []
    assert "enter secrets again" in page


def test_what_is_kept_is_encrypted_and_limited_in_time_and_size(two, monkeypatch):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    age_proof(browser.session, 360)
    back = browser.post(send(browser, form, **TYPED)["Location"], {"password": PASSWORD})["Location"]
    assert TYPED["email"] not in str(browser.session[interrupted_requests._SESSION])
    monkeypatch.setattr(interrupted_requests, "RETAIN_SECONDS", -1)
    assert "Your entries are no longer kept." in read(browser, back)
    age_proof(browser.session, 360)
    asked = send(browser, form, email="x" * interrupted_requests.MAX_BYTES, role="auditor")
    assert interrupted_requests._SESSION not in browser.session
    assert browser.post(asked["Location"], {"password": PASSWORD})["Location"] == STAFF


def test_a_text_without_a_field_is_shown_to_be_copied(two):
    browser = signed_in(two.owner_a)
    form = form_of(browser)
    age_proof(browser.session, 360)
    answer = send(browser, form, **TYPED, remark="<b> Two words & more")
    back = browser.post(answer["Location"], {"password": PASSWORD})["Location"]
    assert "&lt;b&gt; Two words &amp; more</pre>" in browser.get(back).content.decode()


LONG = "First line\n\n“Second” line & <b>more</b> " + "x" * 1500
TYPED_INTO = {
    "members/new/": {"member_name": "田中 はな", "member_code": "K-9"},
    "guests/new/": {"name": "高橋 & 佐藤", "company": "みらい <設計>"},
    "evidence/1/note/": {"text": LONG},
}


def own_form(browser, page, address=""):
    forms = forms_of(browser.get(page).content.decode(), page)
    return next(each for each in forms if each.address.partition("?")[0] == (address or page.partition("?")[0]))


def post(browser, form, page, **typed):
    return browser.post(form.address, form.data(**typed), headers={"referer": f"http://testserver{page}"})


def sign_in_elsewhere(browser, user, page="/accounts/login/"):
    return post(browser, own_form(browser, page), page, login=user.email, password=PASSWORD)


def sign_out_elsewhere(browser, _user):
    post(browser, own_form(browser, "/accounts/logout/"), "/accounts/logout/")


ELSEWHERE = {
    "signed out and in again in another tab": [sign_out_elsewhere, sign_in_elsewhere],
    "signed in in another tab after the night": [lambda browser, _user: end_session(browser), sign_in_elsewhere],
    "signed out in another tab": [sign_out_elsewhere],
    "away for the night": [lambda browser, _user: end_session(browser)],
}


@pytest.mark.parametrize("steps", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize(("address", "typed"), TYPED_INTO.items())
def test_what_was_typed_outlives_its_session_and_is_sent_once_when_asked(place, address, typed, steps):
    desk, user = MembersDesk(place), place.staff("facility manager")
    if "member_name" in typed:
        typed = typed | {"membergroup_id": desk.group.membergroup_id}
    with tenant_scope(place.tenant):
        open_incident(title="Broken lock", began_at=database_now(), ended_at=None, by=place.asker)
    address = f"/t/{place.tenant.slug}/{address}"
    page = address.removesuffix("note/")
    browser = Client(enforce_csrf_checks=True)
    sign_in_elsewhere(browser, user)
    form = own_form(browser, page, address)
    for step in steps:
        step(browser, user)
    answer = post(browser, form, page, **typed)
    assert answer.status_code == 302
    back = answer["Location"]
    if back.startswith("/accounts/login/"):
        assert "You were signed out, and nothing was changed. Sign in to see your entries again." in read(browser, back)
        back = sign_in_elsewhere(browser, user, back)["Location"]
    filled = own_form(browser, back, address)
    assert {name: dict(filled.values)[name] for name in typed} == typed
    done = post(browser, filled, back)
    assert done.status_code == 302
    shown = unescape(browser.get(done["Location"], follow=True).content.decode())
    assert all(line in shown for line in next(iter(typed.values())).splitlines())
