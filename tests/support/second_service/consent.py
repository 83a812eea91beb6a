"""Authorisation: operations 37 to 40. Codes and tokens are long; tokens are valid until they are revoked."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from tests.support.second_service.answers import Answer

if TYPE_CHECKING:
    from tests.support.second_service.world import World

CLIENT, SECRET = "client.~1/ü".replace("ü", "u"), "secret+/= &?%" + "s" * 51
REDIRECT = "https://portal.elsewhere.example/back?from=service"
CODE, SPARE_CODE = "c" * 60 + "+/=~", "d" * 64
_PAGE = b"<form method=post>Administrator: <input name=who></form>"
_PARAMETERS = {"response_type", "client_id", "redirect_uri", "state"}


class _No(Exception):
    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


def _json(data: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(data).encode(), "application/json; charset=UTF-8")


def authorize(world: World, query: dict[str, list[str]]) -> Answer:
    """Redirect a browser to the member site to sign in. Errors go to the redirect URI if it is registered."""
    one = {name: values[0] for name, values in query.items()}
    if world.choices.signs_in_first:
        return Answer(303, headers={"Location": "/member-site/sign-in?next=%2F"})
    if "authorize_says_nothing" in world.flaws:
        return Answer(200, _PAGE, "text/html")
    twice = any(len(values) > 1 for values in query.values()) and "authorize_repeated_state" not in world.flaws
    error = ""
    if (
        ("client_id" not in one and "authorize_without_client" not in world.flaws)
        or twice
        or set(one) - _PARAMETERS
        or not {"response_type", "redirect_uri"} <= set(one)
    ):
        error = "invalid_request"
    elif one["response_type"] != "code" and "authorize_any_response_type" not in world.flaws:
        error = "unsupported_response_type"
    elif one.get("client_id", CLIENT) != CLIENT or one["redirect_uri"] != REDIRECT:
        return Answer(403, b"<p>unauthorized</p>", "text/html")
    if not error:
        return Answer(200, _PAGE, "text/html")
    if one.get("redirect_uri") == REDIRECT and one.get("client_id") == CLIENT:
        state = {"state": one["state"]} if "state" in one else {}
        return Answer(302, headers={"Location": f"{REDIRECT}&{urlencode({'error': error, **state})}"})
    return Answer(422, f"<p>{error}</p>".encode(), "text/html")


def token(world: World, raw: bytes) -> Answer:
    return _told(lambda form: _issue(world, form), raw)


def update(world: World, raw: bytes, header: str) -> Answer:
    return _told(lambda form: _reissue(world, form, header), raw)


def revoke(world: World, raw: bytes, header: str) -> Answer:
    return _told(lambda form: _revoke(world, form, header), raw)


def _told(work: Any, raw: bytes) -> Answer:
    form = {name: values[-1] for name, values in parse_qs(raw.decode(), keep_blank_values=True).items()}
    try:
        answer: Answer = work(form)
    except _No as no:
        return _json({"error_uri": "about:blank", "error": no.error}, no.status)
    return answer


def _client(world: World, form: dict[str, str], flaw: str, *needed: str) -> None:
    if any(not form.get(name) for name in ("client_id", "client_secret", *needed)):
        raise _No(422, "invalid_request")
    if form["client_id"] != CLIENT or (form["client_secret"] != SECRET and flaw not in world.flaws):
        raise _No(403, "invalid_client")


def _given(world: World, new: str) -> Answer:
    data = {"access_token": new, "token_type": "Bearer", "scope": "all"}
    if "token_without_type" in world.flaws:
        del data["token_type"]
    return _json(data)


def _issue(world: World, form: dict[str, str]) -> Answer:
    _client(world, form, "token_for_any_secret")
    if form.get("grant_type") != "authorization_code":
        raise _No(400, "invalid_request" if "token_grant_type_unsaid" in world.flaws else "unsupported_grant_type")
    any_redirect = "token_for_any_redirect" in world.flaws
    if form.get("redirect_uri") != REDIRECT and not any_redirect:
        if world.choices.burns_codes:
            world.codes.discard(form.get("code", ""))
        raise _No(400, "invalid_request")
    code = form.get("code", "")
    if code not in world.codes and "token_for_any_code" not in world.flaws:
        if code in world.used_codes:  # as RFC 6749 advises, the token issued for this code is revoked
            world.tokens.pop(world.used_codes[code], None)
        raise _No(403, "invalid_grant")
    world.codes.discard(code)
    world.used_codes[code] = new = world.new_token()
    return _given(world, new)


def _bearer(world: World, form: dict[str, str], header: str) -> str:
    if not header.startswith("Bearer "):
        raise _No(401, "invalid_request")
    return form["token"]


def _reissue(world: World, form: dict[str, str], header: str) -> Answer:
    _client(world, form, "reissue_for_any_secret", "token")
    old = _bearer(world, form, header)
    if old not in world.tokens and "reissue_of_nothing" not in world.flaws:
        raise _No(422, "Not Found")
    if "reissue_gives_the_old" in world.flaws:
        return _given(world, old)
    if world.choices.old_token_dies:
        world.tokens.pop(old, None)
    return _given(world, "x" * 64 if "reissue_gives_nonsense" in world.flaws else world.new_token())


def _revoke(world: World, form: dict[str, str], header: str) -> Answer:
    _client(world, form, "revoke_for_any_secret", "token")
    old = _bearer(world, form, header)
    if old not in world.tokens and "revoke_of_nothing" not in world.flaws:
        raise _No(422, "Not Found")
    if "revoked_still_works" not in world.flaws:
        world.tokens.pop(old, None)
    return Answer(200, b"revoked")


def fresh() -> str:
    """Return a token of 64 characters, with all characters that a bearer token may contain."""
    return secrets.token_urlsafe(42)[:56] + ".~+/-_=="
