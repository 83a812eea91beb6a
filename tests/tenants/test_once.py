"""A form that is sent twice acts once; one that was refused, changed or drawn anew is sent as usual."""

import pytest
from django.contrib.messages import get_messages
from django.core import mail

from tenants import duplicate_posts
from tenants.models import Invitation
from tenants.scope import tenant_scope
from tenants.staff import actions
from tests.support.places import signed_in
from tests.tenants.test_unsent import form_of, invited, send

TYPED = {"email": "new@example.test", "role": "auditor"}


@pytest.fixture
def browser(two):
    return signed_in(two.owner_a)


def test_a_double_click_invites_once_and_shows_the_same_page(two, browser):
    form = form_of(browser)
    answers = [send(browser, form, **TYPED) for _ in range(2)]
    assert [each["Location"] for each in answers] == ["/t/a/staff/"] * 2
    assert len(mail.outbox) == 1
    assert invited(two) == 1


def test_a_second_click_while_the_first_is_worked_on_does_nothing(two, browser, monkeypatch):
    form, answers, invite = form_of(browser), [], actions.invite

    def slowly(**values):
        monkeypatch.setattr(actions, "invite", invite)
        answers.append(send(browser, form, **TYPED))
        return invite(**values)

    monkeypatch.setattr(duplicate_posts, "_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(actions, "invite", slowly)
    send(browser, form, **TYPED)
    assert answers[0]["Location"] == "/t/a/staff/"
    assert "This is already being done." in str(next(iter(get_messages(answers[0].wsgi_request))))
    assert invited(two) == 1


def test_a_refused_form_is_sent_again_and_so_is_a_changed_one(two, browser):
    form = form_of(browser)
    assert send(browser, form, email="nobody", role="auditor").status_code == 422
    assert send(browser, form, email="nobody", role="auditor").status_code == 422
    assert send(browser, form, **TYPED).status_code == 302
    assert send(browser, form, **TYPED | {"email": "second@example.test"}).status_code == 302
    assert invited(two) == 2


def test_the_same_on_a_page_that_was_opened_again_is_done_again(two, browser):
    send(browser, form_of(browser), **TYPED)
    send(browser, form_of(browser), **TYPED)
    assert len(mail.outbox) == 2


def test_another_persons_form_is_another(two, browser):
    form = form_of(browser)
    send(browser, form, **TYPED)
    send(signed_in(two.staff("owner")), form, **TYPED)
    assert len(mail.outbox) == 2


def test_what_broke_can_be_sent_again(two, browser, monkeypatch):
    form, invite = form_of(browser), actions.invite
    browser.raise_request_exception = False
    monkeypatch.setattr(actions, "invite", lambda **_: 1 / 0)
    assert send(browser, form, **TYPED).status_code == 500
    monkeypatch.setattr(actions, "invite", invite)
    assert send(browser, form, **TYPED).status_code == 302
    with tenant_scope(two.a):
        assert Invitation.objects.count() == 1
