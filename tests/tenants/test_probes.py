"""What may be asked without signing in: whether the site lives, whether it is ready, and its counters with a token."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.site import env


def test_the_counters_are_nobodys_without_a_token(settings):
    assert settings.METRICS_TOKEN == ""
    for address in ("127.0.0.1", "::1", "198.51.100.7"):
        for header in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}):
            assert Client(REMOTE_ADDR=address).get("/metrics", headers=header).status_code == 404


def test_the_counters_are_for_who_brings_the_token_wherever_from(settings):
    settings.METRICS_TOKEN = "a long token of the monitoring"
    assert Client().get("/metrics").status_code == 404, "a proxy on this machine lends its address to everybody"
    assert Client().get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 404
    given = {"Authorization": "Bearer a long token of the monitoring"}
    answer = Client(REMOTE_ADDR="198.51.100.7").get("/metrics", headers=given)
    assert answer.status_code == 200
    assert b"python_info" in answer.content


@pytest.mark.django_db
def test_asking_whether_it_is_ready_costs_a_stranger_nothing():
    first = Client().get("/readyz").json()
    with CaptureQueriesContext(connection) as made:
        answers = [Client().get("/readyz").json() for _ in range(20)]
    assert answers == [first] * 20
    assert len(made) == 0


def test_a_rate_is_read_with_and_without_what_it_is_counted_by(monkeypatch):
    for text, rate in {"60/m": (60, 60), "5/h/ip": (5, 3600), "": (7, 1)}.items():
        monkeypatch.setenv("A_RATE", text)
        assert env.rate("A_RATE", "7/s") == rate
    monkeypatch.setenv("A_RATE", "many")
    with pytest.raises(ImproperlyConfigured, match="A_RATE"):
        env.rate("A_RATE", "7/s")


def test_a_share_is_a_number_within_its_bounds(monkeypatch):
    for text, share in {"0.1": 0.1, "0.05": 0.05, "1": 1.0, "": 1.0}.items():
        monkeypatch.setenv("A_SHARE", text)
        assert env.share("A_SHARE", least=0.05) == share
    for text in ("0", "0.01", "1.5", "-1", "nan", "inf", "half"):
        monkeypatch.setenv("A_SHARE", text)
        with pytest.raises(ImproperlyConfigured, match="A_SHARE"):
            env.share("A_SHARE", least=0.05)
