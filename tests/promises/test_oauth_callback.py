"""OAuth callback: only the grant that was begun here, by this person, in this session, is accepted, and only once."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tenants.models import Connection
from tests.support.browser import Browser
from tests.support.house import House, together
from tests.support.stage import PASSWORD, Customer, Stage

EXCHANGE = "POST /oauth2/token"


def begin(customer: Customer, browser: Browser) -> str:
    """Press "connect"; return the address of the service's consent page."""
    answer = browser.post(customer.url("connection/connect/"))
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


def come_back(customer: Customer, consent: str, *, as_admin_of: Customer | None = None) -> str:
    """Sign in at the member site and allow; return the path and query to which the service redirects the browser."""
    given = customer.house.sandbox.visit(consent, (as_admin_of or customer).service)
    parts = urlsplit(given)
    return f"{parts.path}?{parts.query}"


def changed(callback: str, *, path: str = "", **query: str | None) -> str:
    """Return the callback with parameters replaced, or left out (None)."""
    parts = urlsplit(callback)
    found = {name: values[0] for name, values in parse_qs(parts.query).items()} | query
    kept = {name: value for name, value in found.items() if value is not None}
    return f"{path or parts.path}?{urlencode(kept)}"


def is_connected(customer: Customer) -> bool:
    with customer.scope():
        return Connection.objects.filter(state=Connection.State.CONNECTED).exists()


@pytest.mark.quick
def test_a_grant_connects(house: House, stage: Stage) -> None:
    customer = stage.customer(connected=False)
    with customer.browser("owner") as browser:
        answer = browser.get(come_back(customer, begin(customer, browser)))
        assert answer.status_code == 302
    assert is_connected(customer)
    assert stage.proxy.count(EXCHANGE) == 1


def refusals(house: House, stage: Stage) -> dict[str, tuple[int, bool]]:
    """Send every false callback; return the status and whether it connected anything."""
    customer, other = stage.customer(connected=False), stage.customer(connected=False)
    owner = customer.staff("owner")
    found: dict[str, tuple[int, bool]] = {}

    def attempt(name: str, browser: Browser, path: str) -> None:
        answer = browser.get(path)
        found[name] = answer.status_code, is_connected(customer) or is_connected(other)

    with customer.browser(owner) as browser, Browser(house.url) as again, other.browser("owner") as stranger:
        again.sign_in(owner.email, PASSWORD)
        callback = come_back(customer, begin(customer, browser))
        attempt("state missing", browser, changed(callback, state=None))
        attempt("state empty", browser, changed(callback, state=""))
        attempt("state unknown", browser, changed(callback, state="x" * 43))
        attempt("state with a NUL", browser, changed(callback, state="\x00"))
        attempt("another session of the same person", again, callback)
        attempt("another person of another tenant", stranger, callback)
        with house.stage() as elsewhere:
            path = urlsplit(callback).path.replace(stage.name, elsewhere.name)
            attempt("another environment", browser, changed(callback, path=path))
            attempt("no such environment", browser, changed(callback, path="/oauth/nowhere/callback/"))
        with Browser(house.url) as nobody:
            answer = nobody.get(callback)
            found["nobody signed in"] = answer.status_code, is_connected(customer)
        house.sql("UPDATE tenants_oauthstate SET expires_at = now() WHERE tenant_id = %s", customer.tenant.pk)
        attempt("expired", browser, callback)
        callback = come_back(customer, begin(customer, browser))
        attempt("consent refused", browser, changed(callback, code=None, error="access_denied"))
        attempt("reused after a refusal", browser, callback)
    return found


@pytest.mark.quick
def test_false_callbacks_are_refused_without_any_exchange(house: House, stage: Stage) -> None:
    found = refusals(house, stage)
    assert {name: end for name, end in found.items() if end[1] or end[0] < 300} == {}
    assert stage.proxy.count(EXCHANGE, forwarded=False) == 0


@pytest.mark.quick
def test_a_callback_delivered_many_times_at_once_is_exchanged_once(house: House, stage: Stage) -> None:
    customer = stage.customer(connected=False)
    with customer.browser("owner") as browser:
        callback = come_back(customer, begin(customer, browser))
        answers = together(lambda _: browser.get(callback).status_code, 8)
        assert sorted(answers)[0] == 302
        assert answers.count(302) == 1
        assert browser.get(callback).status_code == 400
    assert stage.proxy.count(EXCHANGE, forwarded=False) == 1
    assert is_connected(customer)


@pytest.mark.quick
def test_another_tenant_of_the_service_is_refused_and_its_token_given_back(house: House, stage: Stage) -> None:
    customer, other = stage.customer(), stage.customer(connected=False)
    before = customer.connection()
    with customer.browser("owner") as browser:
        callback = come_back(customer, begin(customer, browser), as_admin_of=other)
        assert browser.get(callback).status_code == 400
    after = customer.connection()
    assert (after.access_token, after.service_tenant_id) == (before.access_token, before.service_tenant_id)
    assert stage.proxy.count("POST /oauth2/revoke") == 1


@pytest.mark.quick
def test_a_tenant_of_the_service_belongs_to_one_tenant_here(house: House, stage: Stage) -> None:
    customer, other = stage.customer(), stage.customer(connected=False)
    with other.browser("owner") as browser:
        callback = come_back(other, begin(other, browser), as_admin_of=customer)
        assert browser.get(callback).status_code == 400
    assert not is_connected(other)


@pytest.mark.soak
def test_all_false_callbacks(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    accepted = 0
    total = 0
    for _ in range(5):
        with house.stage() as fresh:
            found = refusals(house, fresh)
            total += len(found)
            accepted += sum(connected for _, connected in found.values())
            assert fresh.proxy.count(EXCHANGE, forwarded=False) == 0
    exchanges = 0
    for _ in range(10):
        with house.stage() as fresh:
            customer = fresh.customer(connected=False)
            with customer.browser("owner") as browser:
                callback = come_back(customer, begin(customer, browser))
                together(lambda _, b=browser, c=callback: b.get(c), 20)  # type: ignore[misc]
            exchanges = max(exchanges, fresh.proxy.count(EXCHANGE, forwarded=False))
    figure("OAuth callback", f"{total} false callbacks: accepted", accepted, "0")
    figure("OAuth callback", "one callback delivered 20 times at once, 10 rounds: exchanges, most", exchanges, "1")
    assert (accepted, exchanges) == (0, 1)
