"""Helpers that the cases of OAuth share.

The specification shows neither the HTTP statuses of OAuth's errors nor where their codes are: the code must be
anywhere.
"""

from urllib.parse import parse_qs, urlsplit

from tests.contract.credentials import OAuthClient
from tests.contract.lab import NO_ROUTE, Lab, said
from tests.contract.outcomes import Differs, NotOffered, NotTried
from tests.contract.wire import Reply

_CODES = ("invalid_client", "invalid_request", "invalid_grant", "unsupported_grant_type", "unsupported_response_type")
_NOT_FOUND = ("not found", "not_found", "notfound")
Pairs = list[tuple[str, str]]


def client_of(lab: Lab, name: str) -> OAuthClient:
    """Return the client of the credentials. Raises NotTried without one."""
    if lab.credentials.oauth is None:
        raise NotTried(name, "no [oauth] in the credentials")
    return lab.credentials.oauth


def location_of(reply: Reply) -> str:
    """Return the address that a redirect leads to; "" for any other answer."""
    return reply.headers.get("Location", "") if 300 <= reply.status <= 399 else ""


def error_in(location: str) -> str:
    """Return the parameter `error` of an address; "" without one."""
    parts = urlsplit(location)
    return "".join(parse_qs(parts.query or parts.fragment).get("error", [""])[:1])


def expect(lab: Lab, name: str, what: str, code: str, reply: Reply, *, also_pages: bool = False) -> None:
    """Check that the reply is an error with `code`. The wording of a page for people (4xx) is free."""
    text = f"{reply.text} {location_of(reply)} {reply.headers.get('WWW-Authenticate', '')}".lower()
    if code == "not_found":
        if reply.status == 404 or any(word in text for word in _NOT_FOUND):
            return
    elif code in text:
        return
    others = [other for other in _CODES if other in text]
    if reply.status in NO_ROUTE and not others and name not in lab.worked:
        raise NotOffered(name, f"it answers HTTP {reply.status}")
    if also_pages and 400 <= reply.status <= 499 and not others:
        return
    wanted = "Not Found" if code == "not_found" else code
    raise Differs(name, f"{what}: expected {wanted}, got {others[0] if others else said(reply)}")
