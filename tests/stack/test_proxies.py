"""README.md's proxies before a portal that does not answer: their logs are then at their longest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.processes import free_port
from tests.support.proxies import HOST, Proxy, caddy, nginx
from tests.support.waiting import until

#: Addresses that are secret or contain a secret; the secret part of each is marked.
SECRETS = [
    "/hooks/secret-of-a-webhook/",
    "/g/secret-of-a-guest/",
    "/invitations/secret-of-an-invitation/",
    "/accounts/password/reset/key/secret-of-a-password/",
    "/oauth/production/callback/?code=secret-of-a-grant&state=secret-of-a-person",
]


@pytest.fixture(params=[nginx, caddy])
def proxy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Proxy]:
    with request.param(tmp_path, free_port()) as made:
        yield made


def test_no_log_shows_an_address_that_is_a_secret(proxy: Proxy) -> None:
    with proxy.browser() as browser, proxy.browser("http") as plain:
        for address in SECRETS:
            assert browser.get(address).status_code == 502
            assert plain.get(address).status_code in (301, 308)
        assert browser.get("/t/acme/members/?page=2").status_code == 502
    said = until(lambda: proxy.logs() if "/t/acme/members/" in proxy.logs() else "")
    assert "secret-of" not in said
    for kind in ("hooks", "g", "invitations", "accounts/password/reset/key"):
        assert f"/{kind}/***" in said
    assert "/oauth/production/callback/" in said


def test_http_leads_to_https(proxy: Proxy) -> None:
    with proxy.browser("http") as plain:
        answer = plain.get("/t/acme/?q=1")
    assert answer.headers["Location"] == f"https://{HOST}/t/acme/?q=1"


def test_no_version_is_shown(proxy: Proxy) -> None:
    with proxy.browser() as browser:
        assert browser.get("/").headers["Server"] in {"nginx", "Caddy"}
