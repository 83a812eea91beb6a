"""The OAuth endpoints, parameter by parameter and error by error."""

from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest

from accessapi.errors import NotSent, OAuthError, RateLimited, ServerFault, UnexpectedStatus, UnreadableAnswer
from accessapi.oauth import OAuth

REDIRECT = "https://portal.test/oauth2/dev/callback/?a=1"
TOKEN = {"token_type": "Bearer", "access_token": "new-token"}


def oauth(status=200, json=None, content=None, seen=None):
    def handle(request):
        if seen is not None:
            seen.append(request)
        return httpx2.Response(status, json=json, content=content)

    return OAuth(
        base_url="https://service.test/", client_id="c&id", client_secret="s e=c+%&", redirect_uri=REDIRECT,
        transport=httpx2.MockTransport(handle),
    )  # fmt: skip


def test_the_authorize_address_has_exactly_four_parameters():
    url = urlsplit(oauth().authorize_url("st&ate"))
    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://service.test/oauth2/authorize"
    assert sorted(parse_qsl(url.query)) == [
        ("client_id", "c&id"), ("redirect_uri", REDIRECT), ("response_type", "code"), ("state", "st&ate"),
    ]  # fmt: skip


def test_the_exchange_posts_exactly_the_specified_form():
    seen = []
    assert oauth(json=TOKEN, seen=seen).exchange("co+de/&=") == "new-token"
    [request] = seen
    assert str(request.url) == "https://service.test/oauth2/token"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert "Authorization" not in request.headers
    assert parse_qs(request.content.decode()) == {
        "grant_type": ["authorization_code"], "client_id": ["c&id"], "client_secret": ["s e=c+%&"],
        "code": ["co+de/&="], "redirect_uri": [REDIRECT],
    }  # fmt: skip


@pytest.mark.parametrize(("call", "path"), [("reissue", "update"), ("revoke", "revoke")])
def test_reissue_and_revoke_carry_the_token_in_form_and_header(call, path):
    seen = []
    result = getattr(oauth(json=TOKEN, seen=seen), call)("old-token")
    assert result == (None if call == "revoke" else "new-token")
    [request] = seen
    assert str(request.url) == f"https://service.test/oauth2/{path}"
    assert request.headers["AUTHORIZATIONS"] == "Bearer old-token"
    assert "Authorization" not in request.headers
    assert parse_qs(request.content.decode()) == {
        "client_id": ["c&id"], "client_secret": ["s e=c+%&"], "token": ["old-token"],
    }  # fmt: skip


def test_revoking_needs_no_body_in_the_answer():
    assert oauth(content=b"").revoke("old") is None


@pytest.mark.parametrize("status", [200, 400, 401, 403, 422])
@pytest.mark.parametrize("call", ["exchange", "reissue", "revoke"])
def test_an_error_code_is_a_refusal_whatever_the_status(status, call):
    with pytest.raises(OAuthError) as caught:
        getattr(oauth(status, {"error": "invalid_client", "error_description": "no"}), call)("x")
    assert (caught.value.code, caught.value.detail) == ("invalid_client", "no")


@pytest.mark.parametrize(("status", "json"), [
    (404, {"message": "Not Found"}), (404, None), (400, {"error": "Not Found"}), (200, {"error": "not_found"}),
])  # fmt: skip
def test_a_token_the_service_does_not_know_is_not_found(status, json):
    with pytest.raises(OAuthError) as caught:
        oauth(status, json).revoke("x")
    assert caught.value.code == "not_found"


@pytest.mark.parametrize(("status", "kind"), [
    (429, RateLimited), (500, ServerFault), (503, ServerFault), (302, UnexpectedStatus), (418, UnexpectedStatus),
])  # fmt: skip
def test_other_statuses_keep_their_meaning(status, kind):
    for call in ("exchange", "reissue", "revoke"):
        with pytest.raises(kind):
            getattr(oauth(status, {"nothing": 1}), call)("x")


@pytest.mark.parametrize("json", [
    {}, [], "x", {"access_token": "t"}, {**TOKEN, "token_type": "MAC"}, {**TOKEN, "access_token": ""},
    {**TOKEN, "access_token": 5}, {**TOKEN, "access_token": "a\nb"},
])  # fmt: skip
def test_an_answer_without_a_usable_token_is_unreadable(json):
    for call in ("exchange", "reissue"):
        with pytest.raises(UnreadableAnswer):
            getattr(oauth(json=json), call)("x")


@pytest.mark.parametrize("bad", ["", "a b", "コード", "a\r\nb"])
def test_what_cannot_be_sent_is_not_sent(bad):
    seen = []
    for call in ("exchange", "reissue", "revoke"):
        with pytest.raises(NotSent):
            getattr(oauth(seen=seen), call)(bad)
    assert seen == []
