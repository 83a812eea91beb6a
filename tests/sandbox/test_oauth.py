"""The code flow and every error of the specification's Authentication part."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import psycopg
import pytest

from tests.support.sandbox import Sandbox, SandboxClient, SandboxTenant

CALLBACK = "http://127.0.0.1:9/callback"


@pytest.fixture
def client(sandbox: Sandbox) -> SandboxClient:
    return sandbox.client(CALLBACK, CALLBACK + "/other?site=1", name="Portal under test")


def exchange(sandbox: Sandbox, client: SandboxClient, code: str, /, **changes: str | None) -> httpx2.Response:
    form = {
        "grant_type": "authorization_code",
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "code": code,
        "redirect_uri": client.redirect_uris[0],
    } | changes
    return sandbox.api("POST", "/oauth2/token", data={name: value for name, value in form.items() if value is not None})


def granted(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> str:
    return str(exchange(sandbox, client, sandbox.code(client, tenant)).json()["access_token"])


def change(sandbox: Sandbox, client: SandboxClient, what: str, token: str, /, **changes: str | None) -> httpx2.Response:
    bearer = changes.pop("bearer", f"Bearer {token}")
    form = {"client_id": client.client_id, "client_secret": client.client_secret, "token": token} | changes
    return sandbox.api(
        "POST",
        f"/oauth2/{what}",
        data={name: value for name, value in form.items() if value is not None},
        headers={"AUTHORIZATIONS": bearer} if bearer else {},
    )


def authorize(sandbox: Sandbox, query: object) -> httpx2.Response:
    return sandbox.api("GET", f"/oauth2/authorize?{urlencode(query)}")  # type: ignore[arg-type]


def asked(client: SandboxClient, **changes: str) -> dict[str, str]:
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": CALLBACK,
        "state": "s 1&é",
    }
    return query | changes


def test_the_flow_gives_a_token_of_two_fields_that_works(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    back = urlsplit(sandbox.consent(client, tenant, state="s 1&é=%"))
    answer = parse_qs(back.query)
    assert back._replace(query="").geturl() == CALLBACK
    assert set(answer) == {"code", "state"}
    assert answer["state"] == ["s 1&é=%"]
    token = exchange(sandbox, client, answer["code"][0])
    assert token.status_code == 200
    assert set(token.json()) == {"token_type", "access_token"}
    assert token.json()["token_type"] == "Bearer"
    read = sandbox.api("GET", "/v1/tenant", token=token.json()["access_token"])
    assert read.json()["tenant_id"] == tenant.tenant_id


def test_the_page_asks_in_english_and_japanese(sandbox: Sandbox, client: SandboxClient) -> None:
    url = f"/oauth2/authorize?{urlencode(asked(client))}"
    assert "Sign in" in sandbox.api("GET", url).text
    japanese = sandbox.api("GET", url, headers={"Accept-Language": "ja,en;q=0.5"}).text
    assert "ログイン" in japanese
    assert "Portal under test" in japanese


def test_a_wrong_password_is_told_on_the_page(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    url = f"{sandbox.url}/oauth2/authorize?{urlencode(asked(client))}"
    with httpx2.Client() as browser:
        token = browser.get(url).text.split('csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {
            "login": tenant.admin_login,
            "password": "nope",
            "csrfmiddlewaretoken": token,
            "decision": "allow",
        }
        assert "The login or password is incorrect." in browser.post(url, data=form).text
        # One form may sign in and decide at once.
        assert browser.post(url, data=form | {"password": tenant.admin_password}).status_code == 302
        assert browser.post(url, data={"decision": "allow"}).status_code == 403


def test_refusing_leads_back_without_a_code(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    answer = parse_qs(urlsplit(sandbox.consent(client, tenant, state="x", decision="refuse")).query)
    assert answer["error"] == ["access_denied"]
    assert answer["state"] == ["x"]
    assert "code" not in answer


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (lambda c: asked(c) | {"scope": "members:read"}, "invalid_request"),
        (lambda c: asked(c) | {"code_challenge": "x"}, "invalid_request"),
        (lambda c: [*asked(c).items(), ("state", "again")], "invalid_request"),
        (lambda c: [*asked(c).items(), ("response_type", "code")], "invalid_request"),
        (lambda c: {k: v for k, v in asked(c).items() if k != "response_type"}, "invalid_request"),
        (lambda c: asked(c, response_type="token"), "unsupported_response_type"),
        (lambda c: asked(c, response_type='co"de\\'), "unsupported_response_type"),
    ],
)  # fmt: skip
def test_authorization_errors_go_to_the_redirect_uri(
    sandbox: Sandbox, client: SandboxClient, query: object, error: str
) -> None:
    answer = authorize(sandbox, query(client))  # type: ignore[operator]
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(CALLBACK)
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["error"] == [error]


@pytest.mark.parametrize(
    "query",
    [
        lambda c: asked(c, redirect_uri=CALLBACK + "/"),
        lambda c: asked(c, redirect_uri=CALLBACK + "?x=1"),
        lambda c: asked(c, redirect_uri="http://localhost:9/callback"),
        lambda c: asked(c, client_id="nobody"),
        lambda c: asked(c, client_id="no\0body"),
        lambda c: [*asked(c).items(), ("redirect_uri", CALLBACK)],
        lambda c: {"response_type": "code"},
    ],
)
def test_an_uncertain_redirect_uri_is_never_followed(sandbox: Sandbox, client: SandboxClient, query: object) -> None:
    answer = authorize(sandbox, query(client))  # type: ignore[operator]
    assert answer.status_code == 400
    assert "invalid_request" in answer.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"client_secret": "wrong"}, "invalid_client"),
        ({"client_id": "nobody"}, "invalid_client"),
        ({"client_secret": None}, "invalid_request"),
        ({"client_id": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"code": "wrong"}, "invalid_grant"),
        ({"code": "\0"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"redirect_uri": CALLBACK + "/other?site=1"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_request"),
    ],
)
def test_token_errors_leave_the_code_usable(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant, changes: dict[str, str | None], error: str
) -> None:
    code = sandbox.code(client, tenant)
    refused = exchange(sandbox, client, code, **changes)
    assert refused.status_code == 400
    assert refused.json()["error"] == error
    assert exchange(sandbox, client, code).status_code == 200


def test_a_code_works_once_and_only_for_its_client(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    other = sandbox.client(CALLBACK)
    code = sandbox.code(client, tenant)
    assert exchange(sandbox, other, code).json()["error"] == "invalid_grant"
    assert exchange(sandbox, client, code).status_code == 200
    assert exchange(sandbox, client, code).json()["error"] == "invalid_grant"


def test_of_many_exchanges_at_once_one_succeeds(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    code = sandbox.code(client, tenant)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: exchange(sandbox, client, code).status_code, range(8)))
    assert sorted(answers) == [200] + [400] * 7
    token = granted(sandbox, client, tenant)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: change(sandbox, client, "update", token).status_code, range(8)))
    assert sorted(answers) == [200] + [404] * 7


def test_a_code_is_too_old_after_ten_minutes(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    code = sandbox.code(client, tenant)
    with psycopg.connect(sandbox.database_url, autocommit=True) as database:
        database.execute(
            "UPDATE service_authorizationcode SET issued_at = issued_at - '601 seconds'::interval WHERE code = %s",
            [code],
        )
    assert exchange(sandbox, client, code).json()["error"] == "invalid_grant"


def test_basic_authentication_counts_as_missing_credentials(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    form = {
        "grant_type": "authorization_code",
        "code": sandbox.code(client, tenant),
        "redirect_uri": CALLBACK,
    }
    refused = sandbox.api("POST", "/oauth2/token", data=form, auth=(client.client_id, client.client_secret))
    assert refused.json()["error"] == "invalid_request"


def test_reissue_takes_over_the_scopes_registered_now(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    old = granted(sandbox, client, tenant)
    sandbox.console("clients", client_id=client.client_id, redirect_uris=client.redirect_uris, scopes=["areas:read"])
    assert sandbox.api("GET", "/v1/tenant", token=old).status_code == 200
    answer = change(sandbox, client, "update", old)
    assert set(answer.json()) == {"token_type", "access_token"}
    fresh = answer.json()["access_token"]
    assert sandbox.api("GET", "/v1/areas", token=fresh).status_code == 200
    assert sandbox.api("GET", "/v1/tenant", token=fresh).status_code == 403
    assert sandbox.api("GET", "/v1/areas", token=old).status_code == 401


def test_the_old_token_lives_on_when_the_setting_says_so(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    sandbox.settings(tenant.tenant_id, reissue_kills_old=False)
    old = granted(sandbox, client, tenant)
    fresh = change(sandbox, client, "update", old).json()["access_token"]
    assert fresh != old
    for token in (old, fresh):
        assert sandbox.api("GET", "/v1/tenant", token=token).status_code == 200


def test_a_revoked_token_is_gone(sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant) -> None:
    token = granted(sandbox, client, tenant)
    assert change(sandbox, client, "revoke", token).status_code == 200
    assert sandbox.api("GET", "/v1/tenant", token=token).status_code == 401
    again = change(sandbox, client, "revoke", token)
    assert (again.status_code, again.json()["error"]) == (404, "Not Found")


@pytest.mark.parametrize("what", ["update", "revoke"])
@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"client_secret": "wrong"}, 400, "invalid_client"),
        ({"client_secret": None}, 400, "invalid_request"),
        ({"client_id": None}, 400, "invalid_request"),
        ({"token": None}, 400, "invalid_request"),
        ({"token": "unknown"}, 404, "Not Found"),
        ({"bearer": ""}, 400, "invalid_request"),
        ({"bearer": "Bearer unknown"}, 404, "Not Found"),
    ],
)
def test_update_and_revoke_refuse(
    sandbox: Sandbox,
    client: SandboxClient,
    tenant: SandboxTenant,
    what: str,
    changes: dict[str, str | None],
    status: int,
    error: str,
) -> None:
    token = granted(sandbox, client, tenant)
    refused = change(sandbox, client, what, token, **changes)
    assert (refused.status_code, refused.json()["error"]) == (status, error)
    assert sandbox.api("GET", "/v1/tenant", token=token).status_code == 200
