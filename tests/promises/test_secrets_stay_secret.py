"""Secrets stay secret: known values are sent on thirty failing paths, and then searched for everywhere."""

import base64
import secrets
from collections.abc import Callable, Iterator, Sequence

import pytest

from portal.domain.budget.priorities import Priority
from portal.domain.intents import actions, tracking
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.webhooks import actions as webhook
from portal.webhooks.actions import WebhookChange
from tenants.connections.reissue import reissue
from tenants.roles import Permission
from tests.promises.test_oauth_callback import begin, come_back
from tests.support import faults
from tests.support.crawl import crawl
from tests.support.faults import Exchange, Fault
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until


def echo(status: int) -> Fault:
    """Return a fault: a service that repeats all that it was sent in its error, headers included."""

    def fault(exchange: Exchange) -> None:
        request = exchange.request
        said = (request.raw.decode("utf-8", "replace")).replace("\\", "").replace('"', "'").replace("\r\n", " | ")
        body = f'{{"message": "Error", "error_code": "40002", "error_detail": "{said}"}}'
        faults.answer(status, body.encode())(exchange)

    return fault


FAULTS: dict[str, Fault] = {
    "reset before": faults.reset_before,
    "reset after": faults.reset_after,
    "500": faults.answer(500, b"<h1>Traceback</h1>"),
    "not JSON": faults.answer(200, b"\xff\xfe<html>"),
    "echo 400": echo(400),
    "echo 500": echo(500),
    "echo 403": echo(403),
    "echo 409": echo(409),
    "redirect": faults.answer(302, location="http://127.0.0.1:9/elsewhere"),
    "cut off": faults.truncate(3),
}


def canary(kind: str) -> str:
    return f"{kind}{secrets.token_hex(8)}"


def ask(customer: Customer, operation: str, target: str, path: dict[str, str], body: object) -> Intent:
    with customer.scope():
        return actions.submit(
            Command(
                permission=Permission.MEMBERS_EDIT,
                operation=operation,
                target=target,
                title=f"{operation} {target}",
                path=path,
                body=body,
                priority=Priority.PEOPLE,
            ),
            inline=False,
            by=customer.asker("owner"),
            nonce=Nonce(secrets.token_urlsafe(9)),
        )


def members(customer: Customer, number: int, known: dict[str, str]) -> tuple[list[Intent], dict[str, str]]:
    """Create and change members with a card and a QR code that no one else has."""
    token = customer.service.token
    group = customer.house.sandbox.api("GET", "/v1/membergroups", token=token).json()["membergroups"][0]
    someone = customer.house.sandbox.api("GET", "/v1/members", token=token).json()["members"][number]["member_id"]
    card, qr = canary("CA")[:16], canary("QR")
    body = {"card_data": card, "qrcode": {"data": qr}, "member_name": "Somebody"}
    created = ask(customer, "create_member", "", {}, body | {"membergroup_id": group["membergroup_id"]})
    changed = ask(customer, "update_member", f"member:{someone}", {"member_id": someone}, body)
    return [created, changed], known | {f"card {card}": card, f"QR {qr}": qr}


def renew(customer: Customer, number: int, known: dict[str, str]) -> tuple[Intent, dict[str, str]]:
    """Request another secret or address of the webhook; the request carries both."""
    change = (WebhookChange.SECRET, WebhookChange.ADDRESS)[number % 2]
    with customer.scope():
        asked = webhook.submit_change(change=change, by=customer.asker("owner"), nonce=Nonce(secrets.token_urlsafe(9)))
    secret, token = asked.body["secret_token"], asked.body["url"].rstrip("/").rpartition("/")[2]
    return asked, known | {f"webhook secret {number}": secret, f"webhook address {number}": token}


def is_over(customer: Customer, intent: Intent) -> bool:
    """Withdraw a request, or decide that it failed: the next one waits for that."""
    row = customer.intent(intent)
    with customer.scope():
        return row.is_final or actions.stop(row) or tracking.resolve(row, applied=False, by=customer.asker("owner"))


def fail_everywhere(
    house: House, stage: Stage, customer: Customer, chosen: Sequence[str]
) -> tuple[int, dict[str, str]]:
    """Send each secret on each path into each fault; return the number of paths, and the secret values by name."""
    connection = customer.connection()
    known = {
        "access token": connection.access_token or "",
        "licence key": connection.licence_key or "",
        "client secret": stage.client.client_secret,
        "password": PASSWORD,
        "broker's password": house.redis().connection_pool.connection_kwargs["password"],
    }
    paths = 0
    for number, fault in enumerate(FAULTS[name] for name in chosen):
        with stage.proxy.during(r"/v1/members|/requests|/webhook", fault):
            asked, known = members(customer, number, known)
            asked.append(customer.unlock(customer.doors[number]))
            renewed, known = renew(customer, number, known)
            asked.append(renewed)
            paths += 4
            for intent in asked:
                row = lambda intent=intent: customer.intent(intent)  # noqa: E731
                until(lambda: row().attempts > 0 and row().state != "sending")  # noqa: B023
        until(lambda renewed=renewed: is_over(customer, renewed))  # type: ignore[misc]  # of this round
        with stage.proxy.during("/oauth2/update", fault), customer.scope():
            reissue(connection=customer.connection(), by=customer.staff("owner"))
            paths += 1
        if not customer.connection().is_connected:
            break
    return paths + lose_a_grant(stage, known), known


def lose_a_grant(stage: Stage, known: dict[str, str]) -> int:
    """Lose a grant whose exchange is answered by an echo, with code, state and client secret; return the paths."""
    other = stage.customer(connected=False)
    with other.browser("owner") as browser:
        callback = come_back(other, begin(other, browser))
        known["authorization code"] = callback.partition("code=")[2].partition("&")[0]
        with stage.proxy.during("/oauth2/token", echo(400)):
            assert browser.get(callback).status_code == 400
        browser.post("/accounts/login/", login="nobody@example.com", password=known["password"])
    return 2


def everywhere(house: House, customer: Customer) -> Iterator[tuple[str, str]]:
    """Yield every place that could contain a secret, as text."""
    yield "logs", house.logs()
    for table in house.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"):
        rows = house.sql(f'SELECT t::text FROM "{table[0]}" t')
        yield f"table {table[0]}", "\n".join(row[0] for row in rows)
    with house.redis() as redis:
        for key in redis.keys("*"):
            try:
                value: object = redis.dump(key)
            except Exception:
                value = b""
            yield f"Redis {key!r}", f"{key!r} {value!r}"
    for mail in (house.folder / "mails").glob("*"):
        yield "mails", mail.read_text()
    with customer.browser("owner") as browser:
        for path, page in crawl(browser, customer.url(), within=customer.url(), most=120).items():
            yield f"page {path}", page.text


def forms_of(value: str) -> list[str]:
    """Return the value unchanged, as bytea shows it, and in base64."""
    raw = value.encode()
    return [value, raw.hex(), base64.b64encode(raw).decode().rstrip("=")[:-2]]


def attack(house: House, stage: Stage, chosen: Sequence[str]) -> tuple[int, list[str]]:
    """Return how many paths failed, and where a secret was found."""
    customer = stage.customer(members=len(FAULTS), behaviour={"reissue_kills_old": False})
    paths, known = fail_everywhere(house, stage, customer, chosen)
    hits, blotted = [], False
    for where, text in everywhere(house, customer):
        blotted |= where == "table intents_intent" and "***" in text and "•••" in text
        for name, value in known.items():
            if any(form in text for form in forms_of(value)):
                hits.append(f"{name} in {where}")
    assert blotted, "what the service repeated was not even stored: the paths prove nothing"
    return paths, hits


@pytest.mark.quick
def test_no_canary_is_left_by_a_service_that_repeats_what_it_was_sent(house: House, stage: Stage) -> None:
    paths, hits = attack(house, stage, ["echo 400"])
    assert paths == 7
    assert not hits, "\n".join(hits)


def test_no_canary_is_left_anywhere(house: House, stage: Stage) -> None:
    paths, hits = attack(house, stage, list(FAULTS)[:6])
    assert paths >= 20
    assert not hits, "\n".join(hits)


@pytest.mark.soak
def test_thirty_paths(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    paths, hits = attack(house, stage, list(FAULTS))
    figure("secrets stay secret", f"{paths} failing paths: hits in logs, pages, Redis, tables, mails", len(hits), "0")
    assert paths >= 30
    assert not hits, "\n".join(hits)
