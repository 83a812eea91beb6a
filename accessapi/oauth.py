"""The OAuth endpoints: authorization-code grant, reissue and revoke, with Authlib.

Specification: "OAuth endpoints", "Authentication", "Errors". The authorize endpoint refuses unsupported parameters, so
exactly four are sent: response_type, client_id, redirect_uri, state. Credentials are sent in the form body. Reissue and
revoke also send the token in a header named AUTHORIZATIONS.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import httpx2
from authlib.integrations.httpx_client import OAuth2Client

from accessapi import encoding, reading
from accessapi.client import validate_base_url
from accessapi.errors import (
    REJECTIONS,
    NotSent,
    OAuthError,
    RateLimited,
    ServiceError,
    TooLarge,
    UnreadableAnswer,
)
from accessapi.overrides import Catalogue
from accessapi.transport import ServiceTransport, shared_pool

_NOT_OAUTH_ERRORS = (RateLimited, TooLarge)


class OAuth:
    """The OAuth endpoints of one service environment, for one registered client.

    Every method except `authorize_url` makes one call, without retry. A code is exchanged once: after `OutcomeUnknown`,
    start the grant again. Raises `OAuthError` with the endpoint's own code, and the other errors of `accessapi.errors`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        client_id: str,
        client_secret: str,
        redirect_uri: str,
        catalogue: Catalogue | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.base_url = validate_base_url(base_url)
        self._catalogue = catalogue or Catalogue()
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = redirect_uri
        self._wire = (
            transport
            if isinstance(transport, ServiceTransport)
            else ServiceTransport(transport or shared_pool(self.base_url))
        )

    def __repr__(self) -> str:
        return f"<OAuth {self.base_url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: connections belong to the pool."""

    def authorize_url(self, state: str) -> str:
        """Return the address for the administrator's browser. `state` must be used once and bound to their session."""
        url, _ = self._session().create_authorization_url(self._endpoint("authorize"), state=state)
        return str(url)

    def exchange(self, code: str) -> str:
        """Exchange an authorization code (valid for 10 minutes, once) and return the access token."""
        if not encoding.is_header_value(code):
            raise NotSent("no_usable_code")
        session = self._session()
        session.register_compliance_hook("access_token_response", _check_token)
        url = self._endpoint("issue_token")
        headers = {"Accept": "application/json"}
        token = _without_frames(
            lambda: session.fetch_token(url, grant_type="authorization_code", code=code, headers=headers)
        )
        return str(token["access_token"])

    def reissue(self, token: str) -> str:
        """Exchange an access token for a new one and return it. Keep the old one until the new one has worked."""
        response = _without_frames(lambda: _check_token(self._post_token("reissue_token", token)))
        return str(reading.read_json(response.content)["access_token"])

    def revoke(self, token: str) -> None:
        """Revoke a token. Raises `OAuthError` with code not_found if the token does not exist (any more)."""
        _without_frames(lambda: _read_fields(self._post_token("revoke_token", token)))

    def _post_token(self, operation: str, token: str) -> httpx2.Response:
        if not encoding.is_header_value(token):
            raise NotSent("no_usable_token")
        headers = {"Accept": "application/json", "AUTHORIZATIONS": f"Bearer {token}"}
        # Authlib posts token, client_id and client_secret as a form: exactly what both operations take.
        response: httpx2.Response = self._session().revoke_token(
            self._endpoint(operation), token=token, headers=headers
        )
        return response

    def _session(self) -> Any:
        return OAuth2Client(
            client_id=self._client_id,
            client_secret=self._client_secret,
            token_endpoint_auth_method="client_secret_post",  # noqa: S106 - the name of a method, not a password
            revocation_endpoint_auth_method="client_secret_post",
            redirect_uri=self._redirect_uri,
            transport=self._wire,
        )

    def _endpoint(self, operation: str) -> str:
        return self.base_url + self._catalogue.find(operation).path


def _without_frames(call: Callable[[], Any]) -> Any:
    """Return `call()`. Its errors lose their inner frames, whose local variables hold the form with its secrets."""
    failure: ServiceError
    try:
        return call()
    except ServiceError as error:
        failure = error
    except Exception:
        failure = UnreadableAnswer("the answer is not what the specification says")
    raise failure.with_traceback(None)


def _read_fields(response: httpx2.Response) -> dict[str, Any]:
    """Return the body of a 2xx without an error ({} if there is none); else raise the matching error."""
    try:
        body = reading.read_json(response.content)
    except ValueError:
        body = None
    fields: dict[str, Any] = body if isinstance(body, dict) else {}
    status = response.status_code
    code = fields.get("error")
    if status == 404 or (isinstance(code, str) and code.lower().replace(" ", "_") == "not_found"):
        raise OAuthError(status, "not_found")
    refusal = reading.read_error(status, response.headers, response.content)
    if isinstance(code, str) and code and status < 500 and not isinstance(refusal, _NOT_OAUTH_ERRORS):
        description = fields.get("error_description")
        raise OAuthError(status, code, description if isinstance(description, str) else "")
    if 200 <= status <= 299:
        return fields
    if status in REJECTIONS and not isinstance(refusal, _NOT_OAUTH_ERRORS):
        raise OAuthError(status, getattr(refusal, "code", ""), getattr(refusal, "detail", ""))
    raise refusal


def _check_token(response: httpx2.Response) -> httpx2.Response:
    """Return the response if it is { token_type: Bearer, access_token }; else raise an error."""
    fields = _read_fields(response)
    token, kind = fields.get("access_token"), fields.get("token_type")
    bearer = isinstance(kind, str) and kind.lower() == "bearer"
    if not bearer or not isinstance(token, str) or not encoding.is_header_value(token):
        raise UnreadableAnswer("the answer holds no usable token", response.status_code)
    return response
