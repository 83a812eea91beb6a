"""Operations 1 and 2: the tenant and its webhook settings."""

import re
from typing import Any

from accessapi import limits
from tests.contract.lab import UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried
from tests.contract.registry import case
from tests.contract.shapes import Json, kind
from tests.contract.values import blank, differences, raise_first

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
ADDRESS = "https://contract-suite.example.com/hook"


@case("get_tenant", "returns the tenant's identifier, name, holidays and webhook settings")
def shows_the_tenant(house: House) -> None:
    settings = house.once("tenant", lambda: house.call("get_tenant"))["settings"]
    holiday = settings.get("holiday")
    if not isinstance(holiday, dict):
        raise Differs("get_tenant", f"settings.holiday: expected an object, got {kind(holiday)}")
    for name in ("is_include_public_holiday", "public_holiday", "include_date", "exclude_date", "weekly"):
        if holiday.get(name) is None:
            raise Differs("get_tenant", f"settings.holiday.{name} is missing")
    for name in ("public_holiday", "include_date", "exclude_date"):
        for date, text in holiday[name].items():
            if not _DATE.fullmatch(date) or not isinstance(text, str):
                raise Differs("get_tenant", f"settings.holiday.{name}: expected dates YYYY-MM-DD with a string each")
    webhook = settings.get("webhook")
    if blank(webhook):
        return
    for name in ("is_invalid", "url", "trigger"):
        if name not in webhook:
            raise Differs("get_tenant", f"settings.webhook.{name} is missing")
    if len(webhook.get("secret_token") or "") > limits.SECRET_TOKEN_MAX:
        raise Differs("get_tenant", "settings.webhook.secret_token has more than 64 characters")


@case("get_tenant", "answers no one without a known access token", refusal=True)
def refuses_strangers(house: House) -> None:
    house.refused("get_tenant", "an unknown access token", token=UNKNOWN_TOKEN, worded=False)


def _webhook(house: House) -> Json:
    settings = house.call("get_tenant")["settings"]
    found = settings.get("webhook")
    return found if isinstance(found, dict) else {}


def _categories(webhook: Json) -> list[str]:
    trigger = webhook.get("trigger")
    history = trigger.get("history") if isinstance(trigger, dict) else None
    category = history.get("category") if isinstance(history, dict) else None
    return list(category) if isinstance(category, list) else []


def webhook_body(is_invalid: bool, url: str, categories: list[str], **more: Any) -> Json:
    return {"is_invalid": is_invalid, "url": url, "trigger": {"history": {"category": categories}}} | more


def original(house: House) -> Json:
    """Return the original settings, and have them restored at the end."""

    def read() -> Json:
        webhook = _webhook(house)
        body = webhook_body(bool(webhook.get("is_invalid", True)), webhook.get("url") or "", _categories(webhook))
        if not body["url"] and not house.reply("update_webhook", body=body).fine:
            raise NotTried("update_webhook", "the tenant has no webhook address, and an empty one cannot be put back")
        house.undo.append(("the webhook settings", lambda: _put_back(house, body)))
        return webhook

    return dict(house.once("webhook", read))


def _put_back(house: House, body: Json) -> None:
    house.call("update_webhook", body=body)
    if house.secret_was_set:
        house.call("update_webhook", body=body | {"secret_token": None})


@case("update_webhook", "keeps address, validity flag and categories; an omitted secret token stays as it is")
def keeps_settings(house: House) -> None:
    before = original(house)
    # No server answers at these addresses: the host does not exist.
    for is_invalid, url, category in ((False, ADDRESS, "operation"), (True, f"{ADDRESS}/2", "normal")):
        house.call("update_webhook", body=webhook_body(is_invalid, url, [category]))
        after = _webhook(house)
        raise_first("update_webhook", differences({"is_invalid": is_invalid, "url": url}, after))
        if _categories(after) != [category]:
            raise Differs("update_webhook", f"category: expected {[category]}, got {_categories(after)}")
        _check_secret(before.get("secret_token"), after)


def _check_secret(expected: Any, webhook: Json) -> None:
    if (webhook.get("secret_token") or "") != (expected or ""):
        raise Differs("update_webhook", "secret_token changed, though the update did not name it")


@case("update_webhook", "takes a secret token of 64 characters, and null for none")
def takes_a_secret(house: House) -> None:
    if not blank(original(house).get("secret_token")):
        raise NotTried("update_webhook", "the tenant has a secret token, which is left alone")
    secret = house.lab.secret(house.code(limits.SECRET_TOKEN_MAX))
    house.secret_was_set = True
    house.call("update_webhook", body=webhook_body(True, ADDRESS, ["normal"], secret_token=secret))
    shown = _webhook(house).get("secret_token")
    if shown != secret and not (isinstance(shown, str) and set(shown) & {"*", "•"}):
        raise Differs("update_webhook", f"secret_token: expected the one given, got {kind(shown)}")
    house.call("update_webhook", body=webhook_body(True, ADDRESS, ["normal"]))
    _check_secret(shown, _webhook(house))
    house.call("update_webhook", body=webhook_body(True, ADDRESS, ["normal"], secret_token=None))
    if not blank(_webhook(house).get("secret_token")):
        raise Differs("update_webhook", "secret_token: expected none after null, got a string")


@case("update_webhook", "refuses what lacks is_invalid, url or trigger, and a longer secret token", refusal=True)
def refuses_settings(house: House) -> None:
    original(house)
    whole = webhook_body(True, ADDRESS, ["normal"])
    for name in ("is_invalid", "url", "trigger"):
        rest = {key: value for key, value in whole.items() if key != name}
        house.refused("update_webhook", f"settings without {name}", body=rest)
    if blank(original(house).get("secret_token")):
        house.secret_was_set = True
        longer = whole | {"secret_token": house.code(limits.SECRET_TOKEN_MAX + 1)}
        house.refused("update_webhook", "a secret token of 65 characters", body=longer)
