"""Operations 38 to 40: tokens. Only the token that this run got for the code in the credentials is revoked."""

from accessapi.errors import OAuthError, OutcomeUnknown, ServiceError
from accessapi.oauth import OAuth
from tests.contract.credentials import OAuthClient
from tests.contract.lab import NO_ROUTE, UNKNOWN_TOKEN, Lab, said
from tests.contract.oauth import Pairs, client_of, expect
from tests.contract.outcomes import Differs, NotOffered, NotTried, Outcome, Unneeded
from tests.contract.registry import case
from tests.contract.shapes import kind
from tests.contract.wire import Reply


def _endpoints(lab: Lab, name: str) -> OAuth:
    client = client_of(lab, name)
    return OAuth(
        base_url=lab.base_url,
        client_id=client.client_id,
        client_secret=client.client_secret,
        redirect_uri=client.redirect_uri,
        catalogue=lab.catalogue,
        transport=lab.recorder,
    )


# Issue (38)


def _form(client: OAuthClient, **changed: str) -> Pairs:
    good = {
        "grant_type": "authorization_code",
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "code": "contract-suite-unknown-code",
        "redirect_uri": client.redirect_uri,
    }
    return [(name, value) for name, value in (good | changed).items() if value]


@case("issue_token", "exchanges a fresh code for a Bearer token")
def exchanges(lab: Lab) -> None:
    lab.once("token", lambda: _exchanged(lab))


def _exchanged(lab: Lab) -> str:
    """Return the token for the code of the credentials, which can be exchanged only once."""
    client = client_of(lab, "issue_token")
    if not client.code:
        raise NotTried("issue_token", "no code in [oauth]")
    try:
        token = _endpoints(lab, "issue_token").exchange(client.code)
    except OAuthError as error:
        if error.code == "invalid_grant":
            raise NotTried("issue_token", "the code of [oauth] is not (any longer) valid: invalid_grant") from None
        raise _failed(lab, "issue_token", error) from None
    except ServiceError as error:
        raise _failed(lab, "issue_token", error) from None
    lab.worked.add("issue_token")
    lab.oauth_token = lab.secret(token)
    return token


def _failed(lab: Lab, name: str, error: ServiceError) -> Exception:
    reply = lab.recorder.last
    if reply.status in NO_ROUTE and name not in lab.worked:
        return NotOffered(name, f"it answers HTTP {reply.status}")
    if reply.fine or isinstance(error, OutcomeUnknown):
        data = reply.json
        found = ", ".join(sorted(data)) if isinstance(data, dict) else kind(data)
        return Differs(name, f"expected token_type Bearer and access_token, got HTTP {reply.status} with {found}")
    return Differs(name, f"a valid request was refused: {error}")


@case("issue_token", "answers invalid_client, invalid_request, invalid_grant and unsupported_grant_type", refusal=True)
def refuses_to_exchange(lab: Lab) -> None:
    client = client_of(lab, "issue_token")
    for what, form, code in (
        ("a wrong client_secret", _form(client, client_secret="contract-suite-wrong"), "invalid_client"),
        ("an unknown client_id", _form(client, client_id="contract-suite-unknown"), "invalid_client"),
        ("a request without client_secret", _form(client, client_secret=""), "invalid_request"),
        ("a request without client_id", _form(client, client_id=""), "invalid_request"),
        ("grant_type=password", _form(client, grant_type="password"), "unsupported_grant_type"),
        ("an unknown code", _form(client), "invalid_grant"),
    ):
        expect(lab, "issue_token", what, code, lab.raw.oauth("issue_token", form=form))


@case("issue_token", "takes a code only with the redirect_uri that is registered", refusal=True)
def refuses_other_addresses(lab: Lab) -> None:
    client = client_of(lab, "issue_token")
    if not client.spare_code:
        raise Unneeded("issue_token", "no spare_code in [oauth], which could be wasted")
    form = _form(client, code=client.spare_code, redirect_uri=client.redirect_uri + "/contract-suite")
    reply = lab.raw.oauth("issue_token", form=form)
    data = reply.json
    if isinstance(data, dict) and isinstance(data.get("access_token"), str):
        lab.oauth_old_tokens.append(lab.secret(data["access_token"]))
    if not 400 <= reply.status <= 499:
        raise Differs("issue_token", f"expected a refusal of another redirect_uri, got {said(reply)}")


# Reissue (39) and revoke (40)


def _own_token(lab: Lab, name: str) -> str:
    client_of(lab, name)
    try:
        lab.once("token", lambda: _exchanged(lab))
    except Outcome as outcome:
        raise NotTried(name, f"only a token obtained in this run is touched: {outcome.reason}") from None
    return lab.oauth_token


def _refuses(lab: Lab, name: str) -> None:
    client, token = client_of(lab, name), _own_token(lab, name)
    good = {"client_id": client.client_id, "client_secret": client.client_secret, "token": token}
    for what, changed, code in (
        ("a wrong client_secret", {"client_secret": "contract-suite-wrong"}, "invalid_client"),
        ("a request without client_secret", {"client_secret": ""}, "invalid_request"),
        ("a request without token", {"token": ""}, "invalid_request"),
        ("an unknown token", {"token": UNKNOWN_TOKEN}, "not_found"),
    ):
        form = [(key, value) for key, value in (good | changed).items() if value]
        reply = lab.raw.oauth(name, form=form, bearer=token)
        _adopt(lab, name, reply)
        expect(lab, name, what, code, reply)


def _adopt(lab: Lab, name: str, reply: Reply) -> None:
    """Keep a token that should not have been issued, so that cleaning up revokes it."""
    data = reply.json
    if name == "reissue_token" and isinstance(data, dict) and isinstance(data.get("access_token"), str):
        lab.oauth_old_tokens.append(lab.oauth_token)
        lab.oauth_token = lab.secret(data["access_token"])


@case("reissue_token", "answers invalid_client, invalid_request and Not Found", refusal=True)
def refuses_to_reissue(lab: Lab) -> None:
    _refuses(lab, "reissue_token")


@case("reissue_token", "gives a new token that works, for an existing one")
def reissues(lab: Lab) -> None:
    token = _own_token(lab, "reissue_token")
    worked = _works(lab, token)
    try:
        new = _endpoints(lab, "reissue_token").reissue(token)
    except ServiceError as error:
        raise _failed(lab, "reissue_token", error) from None
    lab.worked.add("reissue_token")
    lab.oauth_old_tokens.append(token)
    lab.oauth_token = lab.secret(new)
    if new == token:
        raise Differs("reissue_token", "expected a new token, got the one that was to be reissued")
    if worked and not _works(lab, new):
        lab.oauth_token = token  # which may still be valid for the next cases
        raise Differs("reissue_token", f"the new token is refused: {said(lab.recorder.last)}")


def _works(lab: Lab, token: str) -> bool:
    """Check whether a token can read something that needs a token; the operation depends on its scopes."""

    def closed() -> list[str]:
        names = ("get_tenant", "list_areas", "list_membergroups")
        return [name for name in names if 400 <= lab.raw.api(name, token=UNKNOWN_TOKEN).status <= 499]

    return any(lab.raw.api(name, token=token).fine for name in lab.once("closed reads", closed))


@case("revoke_token", "answers invalid_client, invalid_request and Not Found")
def refuses_to_revoke(lab: Lab) -> None:
    # This must come after the other refusals: afterwards the token is gone.
    _refuses(lab, "revoke_token")


@case("revoke_token", "makes a token unusable")
def revokes(lab: Lab) -> None:
    token = _own_token(lab, "revoke_token")
    worked = _works(lab, token)
    try:
        _endpoints(lab, "revoke_token").revoke(token)
    except ServiceError as error:
        raise _failed(lab, "revoke_token", error) from None
    lab.worked.add("revoke_token")
    if worked and _works(lab, token):
        raise Differs("revoke_token", "a token can still be used after it was revoked")
    lab.revoked.add(token)
