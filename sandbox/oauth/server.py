"""The authorization server: Authlib, limited to the specification's features."""

from typing import Any

from authlib.integrations.django_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import OAuth2Request
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant

from sandbox import clock
from sandbox.service.models import AccessToken, Administrator, AuthorizationCode, Client


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]  # Authlib has no types
    """Authorization codes for confidential clients, exchanged once. Exchange them in a transaction."""

    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        AuthorizationCode.objects.create(
            code=code,
            client=request.client,
            administrator=request.user,
            redirect_uri=request.payload.redirect_uri,
            issued_at=clock.now(),
        )

    def query_authorization_code(self, code: str, client: Client) -> AuthorizationCode | None:
        # Locked, so that of two concurrent exchanges exactly one finds the code valid.
        found = AuthorizationCode.objects.select_for_update().filter(code=code, client=client).first()
        return found if found and found.is_live() else None

    def delete_authorization_code(self, authorization_code: AuthorizationCode) -> None:
        authorization_code.used_at = clock.now()
        authorization_code.save(update_fields=["used_at"])

    def authenticate_user(self, authorization_code: AuthorizationCode) -> Administrator:
        return authorization_code.administrator


class Server(AuthorizationServer):  # type: ignore[misc]  # Authlib has no types
    """A server whose tokens have the consenting administrator's tenant, and the scopes of the registration."""

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> AccessToken:
        return AccessToken.objects.create(
            access_token=token["access_token"],
            client=request.client,
            tenant=request.user.tenant,
            scopes=request.client.scopes,
            issued_at=clock.now(),
        )


SERVER = Server(Client, AccessToken)
SERVER.register_grant(CodeGrant)
