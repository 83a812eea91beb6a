"""README.md's section "Production", word by word: its statements, commands and server blocks.

From an empty PostgreSQL server to the owner's first page through the real nginx and the real Caddy. It takes about 45
seconds and runs in `make journeys`, because no other test would notice a broken command in the README.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time

from portal.base.files import file_limits
from stack.paths import ROOT
from tests.support.browser import Browser, gist, upload
from tests.support.installation import LEFT_OUT, OWNER, PASSWORD, Installation, copy_disk
from tests.support.proxies import CLIENT, HOST, Proxy, caddy, nginx
from tests.support.readme import blocks, commands
from tests.support.waiting import until


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with Installation(tmp_path_factory.mktemp("installation")) as made:
        yield made


@pytest.fixture(scope="module")
def before(portal: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Start nginx before the portal."""
    with nginx(tmp_path_factory.mktemp("nginx"), portal.port) as proxy:
        yield proxy


@pytest.fixture(params=[nginx, caddy])
def proxy(request: pytest.FixtureRequest, portal: Installation, tmp_path: Path) -> Iterator[Proxy]:
    with request.param(tmp_path, portal.port) as made:
        yield made


@pytest.fixture(scope="module")
def owner(before: Proxy) -> Iterator[Browser]:
    """Return the owner, who signed in with the password from the file and set up the required second factor."""
    with before.browser() as browser:
        browser.sign_in(OWNER, PASSWORD)
        browser.post("/accounts/reauthenticate/", password=PASSWORD)
        form = browser.form("/accounts/2fa/totp/activate/", having="code")
        secret = browser.get(form.action).text.partition('id="authenticator_secret"')[2].split('"')[3]
        counter = next(iter(yield_hotp_counters_from_time()))
        answer = browser.post(form.action, form.values, code=format_hotp_value(hotp_value(secret, counter)))
        assert answer.status_code == 302, gist(answer)
        yield browser


def test_each_command_was_run_as_it_is_written(portal: Installation) -> None:
    settings, *rest = blocks("sh")
    written = {command for block in rest for command in commands(block)}
    assert written - set(portal.said) == set(LEFT_OUT)
    assert set(portal.said) <= written
    assert "PORTAL_URL" in settings
    assert not list(ROOT.glob("celerybeat*")), "beat leaves no file where it is started"
    assert not (portal.folder / ".gunicorn").exists(), "nor gunicorn in the home folder"


def test_each_command_says_what_came_of_it(portal: Installation) -> None:
    said = {command.partition("  #")[0].split()[1:3][-1]: said for command, said in portal.said.items()}
    assert "no issues" in said["check"]
    assert f"https://{HOST}/oauth/production/callback/" in said["add_environment"]
    assert "answers." in said["add_environment"]
    assert "owner of acme" in said["add_staff"]


def test_it_becomes_ready(portal: Installation) -> None:
    def ready() -> httpx2.Response | None:
        answer = httpx2.get(f"{portal.url}/readyz", timeout=60)
        return answer if answer.status_code == 200 else None

    answer = until(ready, saying=lambda: httpx2.get(f"{portal.url}/readyz", timeout=60).text)
    assert not answer.json()["warnings"]


def test_the_owner_reaches_the_pages_of_the_tenant(owner: Browser) -> None:
    page = owner.get("/t/acme/")
    assert page.status_code == 200, gist(page)
    assert "Acme Building" in page.text


def test_cookies_are_for_https_and_this_host_alone(owner: Browser) -> None:
    kept = [(each.name, each.secure) for each in owner.http.cookies.jar]
    assert ("__Host-sessionid", True) in kept
    assert all(secure for _, secure in kept)


def test_the_clients_address_is_known_and_what_it_says_of_itself_is_not_believed(
    portal: Installation, proxy: Proxy
) -> None:
    page = f"/nothing-is-here-{proxy.ports['https']}/"
    with proxy.browser() as browser:
        assert browser.get(page, headers={"X-Forwarded-For": "198.51.100.7"}).status_code == 404
    lines = until(lambda: [line for line in portal.said_by("gunicorn").splitlines() if page in line])
    assert any(f'"ip": "{CLIENT}"' in line for line in lines), lines
    assert "198.51.100.7" not in portal.said_by("gunicorn")


def test_the_host_and_the_scheme_reach_the_portal(proxy: Proxy) -> None:
    with proxy.browser() as browser:
        page = browser.get("/accounts/login/")
        assert page.status_code == 200, "by another host it would be 400, by another scheme a redirect"
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000", "and nothing of other hosts"
        assert "__Host-csrftoken" in browser.http.cookies
        login = browser.post("/accounts/login/", login="nobody@example.com", password="wrong")
        assert "not correct" in login.text or login.status_code == 422, gist(login)


def test_the_page_that_led_to_another_is_in_no_log(proxy: Proxy) -> None:
    with proxy.browser() as browser:
        browser.get("/accounts/login/", headers={"Referer": f"https://{HOST}/g/secret-of-a-guest/"})
        assert browser.get("/t/acme/?q=secret-of-a-search").status_code == 302
    until(lambda: "/t/acme/" in proxy.logs())
    assert "secret-of" not in proxy.logs()


@pytest.mark.parametrize("host", [HOST, "10.0.0.7", "another.example.com"])
@pytest.mark.parametrize("probe", ["healthz", "readyz"])
def test_probes_are_answered_by_any_host(portal: Installation, probe: str, host: str) -> None:
    answer = httpx2.get(f"{portal.url}/{probe}", headers={"Host": host}, timeout=60)
    assert answer.status_code in (200, 503)
    assert httpx2.get(f"{portal.url}/accounts/login/", headers={"Host": "10.0.0.7"}).status_code == 400


def _upload(proxy: Proxy, owner: Browser, content: bytes) -> httpx2.Response:
    """Upload a file of members as the owner, by this proxy."""
    with proxy.browser() as browser:
        browser.http.cookies = owner.http.cookies
        return upload(browser, "/t/acme/imports/new/", "file", "members.csv", content)


def test_a_file_of_20_mb_passes(proxy: Proxy, owner: Browser) -> None:
    rows = "".join(f"{number},{'x' * 20_000}\n" for number in range(1_000))
    answer = _upload(proxy, owner, f"Member ID,Name\n{rows}".encode())
    assert answer.status_code == 200, gist(answer)
    assert "members.csv" in answer.text


def test_of_a_file_that_is_too_large_the_portal_says_so(proxy: Proxy, owner: Browser) -> None:
    answer = _upload(proxy, owner, b"x" * (file_limits.MAX_FILE_BYTES + 1))
    assert answer.status_code == 422
    assert "The file is larger than 32 MB." in answer.text


def test_no_larger_body_reaches_the_portal(proxy: Proxy, owner: Browser) -> None:
    assert _upload(proxy, owner, b"x" * (43 * 2**20)).status_code == 413


def test_a_disk_that_was_set_back_is_found(portal: Installation, owner: Browser) -> None:
    """Check with two restarts of PostgreSQL, some ten seconds; no process of the portal is notified of them."""
    kept, before = portal.folder / "kept", owner.get("/t/acme/")
    with portal.switched_off() as disk:
        copy_disk(disk, kept)
    until(lambda: _ready(portal), saying="it is ready again")
    time.sleep(3)  # three ticks, which the copy does not have
    assert "database_was" not in portal.said_by("celery")
    with portal.switched_off() as disk:
        copy_disk(kept, disk)
    until(lambda: "database_was_restored" in portal.said_by("beat"), 60, saying="the clock looks the copy through")
    assert "database_was_set_back" in portal.said_by("celery")
    until(lambda: _ready(portal), saying="it is ready with the copy")
    assert (before.status_code, owner.get("/t/acme/").status_code) == (200, 302), "all sessions have ended"


def _ready(portal: Installation) -> bool:
    return httpx2.get(f"{portal.url}/readyz", timeout=60).status_code == 200
