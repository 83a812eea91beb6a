"""A marked secret appears in no representation, exception, traceback or log."""

import json
import logging
import traceback

import httpx2
import pytest

from accessapi.errors import ServiceError
from accessapi.oauth import OAuth
from accessapi.resources import Guest, Member, MemberCreate, MemberUpdate, OneTimeQrIssued, Tenant
from tests.accessapi.service import LICENCE, TOKEN, Loopback, answer, client, reset

CARD, SEED, SECRET, CODE = "canary-card", "canary-seed", "canary-secret", "canary-code"
CANARIES = (TOKEN, LICENCE, CARD, SEED, SECRET, CODE)
MEMBER = {"member_id": "m", "card_data": CARD, "qrcode": {"data": SEED, "one_time_qr": {"totp_seed": SEED}}}


def hits(text):
    return [canary for canary in CANARIES if canary in text]


def shown(error):
    """Return everything a log or an error page could show: text, representation, and locals of every frame."""
    full = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames = [
        line
        for part in (full, full.__cause__, full.__context__)
        if part is not None
        for frame in part.stack
        if ("accessapi/" in frame.filename and "/tests/" not in frame.filename) or "site-packages" in frame.filename
        for line in (frame.locals or {}).values()
    ]
    return "\n".join([str(error), repr(error), *map(repr, error.args), *frames])


def test_resources_show_no_secret():
    for value in (
        Member.model_validate(MEMBER), Member.model_validate({"member_id": "m", "qrcode": [SEED]}),
        Guest.model_validate({"guest_id": "g", "qrcode_data": SEED}),
        OneTimeQrIssued.model_validate({"one_time_qr_data": CODE}),
        Tenant.model_validate({"tenant_id": "t", "settings": {"webhook": {"secret_token": SECRET}}}),
        MemberCreate.model_validate({"member_name": "n", "membergroup_id": "g", "card_data": CARD}),
    ):  # fmt: skip
        assert hits(repr(value) + str(value)) == []


def test_faults_of_a_request_name_the_field_and_not_the_value():
    with pytest.raises(ValueError, match="card_data") as caught:
        MemberUpdate.model_validate({"card_data": CARD * 9, "qrcode": {"data": SEED, "email": 5}})
    assert hits(str(caught.value) + repr(caught.value)) == []


BODY = {"member_name": "n", "membergroup_id": "g", "card_data": CARD}


@pytest.mark.parametrize("behave", [
    lambda c, r: reset(c), lambda c, r: "close", lambda c, r: c.sendall(answer(500, CARD.encode())),
    lambda c, r: c.sendall(answer(409, json.dumps({"error_detail": f"{CARD} is taken"}).encode())),
    lambda c, r: c.sendall(answer(400, json.dumps({"error_code": "40001", "error_detail": f"not {TOKEN}"}).encode())),
    lambda c, r: c.sendall(answer(200, CARD.encode())), lambda c, r: c.sendall(answer(302)),
    lambda c, r: c.sendall(answer(200, b"x", ["Content-Encoding: gzip"])), lambda c, r: c.sendall(b"nonsense\r\n\r\n"),
])  # fmt: skip
def test_no_failure_of_a_call_shows_a_secret(behave, caplog):
    caplog.set_level(logging.DEBUG)
    with Loopback(behave) as service:
        with pytest.raises(ServiceError) as caught:
            client(service.url).call("create_member", body=BODY, fresh=True)
        assert hits(str(caught.value) + repr(caught.value)) == []
        assert hits("".join(traceback.format_exception(caught.value))) == []
        assert TOKEN not in shown(caught.value)
        assert TOKEN not in str(getattr(caught.value, "detail", ""))
        assert hits(caplog.text) == []


@pytest.mark.parametrize("behave", [
    lambda c, r: reset(c), lambda c, r: c.sendall(answer(200, SECRET.encode())),
    lambda c, r: c.sendall(answer(400, json.dumps({"error": "invalid_grant", "error_description": CODE}).encode())),
    lambda c, r: c.sendall(answer(200, json.dumps({"access_token": f"{SECRET} x", "token_type": "Bearer"}).encode())),
])  # fmt: skip
@pytest.mark.parametrize("call", ["exchange", "reissue", "revoke"])
def test_no_failure_of_oauth_shows_a_secret(behave, call, caplog):
    caplog.set_level(logging.DEBUG)
    with Loopback(behave) as service:
        oauth = OAuth(base_url=service.url, client_id="c", client_secret=SECRET, redirect_uri="https://p/cb")
        assert hits(repr(oauth)) == []
        said = ""
        try:
            getattr(oauth, call)(CODE if call == "exchange" else TOKEN)
        except ServiceError as error:
            said = "".join([str(error), repr(error), *traceback.format_exception(error)])
            assert SECRET not in shown(error)  # noqa: PT017 - the arguments are the caller's, the secret is not
        assert hits(said) == []
        assert hits(caplog.text) == []


def test_a_client_and_an_answer_show_no_secret():
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=MEMBER))
    service = client("https://service.test", transport=transport)
    got = service.call("read_member", path={"member_id": "m"})
    assert got.value.card_data == CARD
    assert hits(repr(service) + repr(got) + str(got)) == []
