"""Operation 37: the authorization endpoint, as far as it works without signing in."""

from tests.contract.credentials import OAuthClient
from tests.contract.lab import NO_ROUTE, Lab, said
from tests.contract.oauth import Pairs, client_of, error_in, expect, location_of
from tests.contract.outcomes import Differs, NotOffered
from tests.contract.registry import case


def _query(client: OAuthClient, **changed: str) -> Pairs:
    good = {"response_type": "code", "client_id": client.client_id, "redirect_uri": client.redirect_uri, "state": "cs"}
    return [(name, value) for name, value in (good | changed).items() if value]


@case("authorize", "lets an administrator of the member site sign in and consent")
def asks_for_consent(lab: Lab) -> None:
    reply = lab.raw.oauth("authorize", query=_query(client_of(lab, "authorize")))
    if reply.status in NO_ROUTE:
        raise NotOffered("authorize", f"it answers HTTP {reply.status}")
    error = error_in(location_of(reply))
    if error or not 200 <= reply.status <= 399:
        raise Differs("authorize", f"expected a page for a valid request, got {error or said(reply)}")


@case("authorize", "answers unsupported_response_type and invalid_request to malformed requests", refusal=True)
def refuses_to_authorise(lab: Lab) -> None:
    client = client_of(lab, "authorize")
    good = _query(client)
    cases: list[tuple[str, Pairs, str]] = [
        ("response_type=token", _query(client, response_type="token"), "unsupported_response_type"),
        ("a request without response_type", _query(client, response_type=""), "invalid_request"),
        ("a request without client_id", _query(client, client_id=""), "invalid_request"),
        ("a repeated state", [*good, ("state", "again")], "invalid_request"),
        ("an unsupported parameter", [*good, ("contract_suite", "1")], "invalid_request"),
    ]
    for what, query, code in cases:
        reply = lab.raw.oauth("authorize", query=query)
        location = location_of(reply)
        # This is a page to sign in first. The specification does not show whether the request is checked before.
        if location and not location.startswith(client.redirect_uri) and not error_in(location):
            continue
        expect(lab, "authorize", what, code, reply, also_pages=True)


@case("authorize", "sends no one to a redirect URI that is not registered", refusal=True)
def redirects_to_nobody_else(lab: Lab) -> None:
    client = client_of(lab, "authorize")
    strange = "https://contract-suite.example.com/elsewhere"
    for redirect_uri in (strange, client.redirect_uri + "/contract-suite"):
        reply = lab.raw.oauth("authorize", query=_query(client, redirect_uri=redirect_uri))
        if location_of(reply).startswith(redirect_uri):
            raise Differs("authorize", "it redirects to a redirect_uri that is not registered")
