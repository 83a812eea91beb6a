"""The signed-in person is looked up at each request: a session may have expired, an account may be disabled."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tenants.models import User
from tests.support.places import signed_in


def is_in(client):
    answer = client.get("/t/a/staff/")
    assert answer.status_code == 200 or answer["Location"].startswith(reverse("account_login"))
    return answer.status_code == 200


@pytest.fixture
def owner(two):
    client = signed_in(two.owner_a)
    assert is_in(client)
    return client


def test_a_session_that_has_run_out_is_nobodys(owner):
    Session.objects.update(expire_date=timezone.now() + timedelta(seconds=60))
    assert is_in(owner)
    Session.objects.update(expire_date=timezone.now())
    assert not is_in(owner)


def test_a_session_that_was_ended_elsewhere_is_nobodys(owner):
    Session.objects.all().delete()
    assert not is_in(owner)


def test_an_account_that_is_switched_off_is_out_at_once_and_its_colleagues_are_not(owner, two):
    colleague = signed_in(two.owner_b)
    User.objects.filter(pk=two.owner_a.pk).update(is_active=False)
    assert not is_in(owner)
    assert colleague.get("/t/b/staff/").status_code == 200


_AS_SENT = "田中田中田中".encode().decode("latin-1")


@pytest.mark.parametrize("key", ["' OR '1'='1", "%s%s%s%s%s", "\x00\x00nothing", _AS_SENT, "a" * 4000])
def test_a_cookie_of_any_text_is_nobodys(owner, key):
    stranger = Client()
    stranger.cookies["sessionid"] = key
    assert not is_in(stranger)
    assert is_in(owner)
