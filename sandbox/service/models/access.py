"""OAuth: registered clients, authorization codes and access tokens (specification: Authentication)."""

from datetime import timedelta

from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.crypto import constant_time_compare

from accessapi import limits
from sandbox import clock

from .tenants import Administrator, Tenant


class Client(models.Model, ClientMixin):  # type: ignore[misc]  # Authlib has no types
    """A confidential client, registered beforehand: system name, redirect URIs and scopes."""

    client_id = models.CharField(primary_key=True, max_length=80)
    client_secret = models.CharField(max_length=120)
    name = models.CharField(max_length=200)
    redirect_uris = ArrayField(models.CharField(max_length=2000), default=list)
    scopes = ArrayField(models.CharField(max_length=60), default=list)

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str:
        # None is allowed: redirect_uri is a required parameter.
        return ""

    def get_allowed_scope(self, scope: str | None) -> str:
        # The scopes come from the registration, and the token answer has only two fields.
        return ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirect_uris

    def check_client_secret(self, client_secret: str) -> bool:
        return constant_time_compare(self.client_secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_post"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


class AuthorizationCode(models.Model, AuthorizationCodeMixin):  # type: ignore[misc]  # Authlib has no types
    """A consent given once: valid for ten minutes, exchanged at most once."""

    code = models.CharField(primary_key=True, max_length=120)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    administrator = models.ForeignKey(Administrator, on_delete=models.CASCADE)
    redirect_uri = models.CharField(max_length=2000)
    issued_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def is_live(self) -> bool:
        """Return whether the code is neither used nor older than ten minutes."""
        return self.used_at is None and clock.now() - self.issued_at <= timedelta(seconds=limits.CODE_LIFETIME)

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return ""


class AccessToken(models.Model, TokenMixin):  # type: ignore[misc]  # Authlib has no types
    """A tenant's grant to a client. Its scopes are those registered when it was issued."""

    access_token = models.CharField(max_length=120, unique=True)
    client = models.ForeignKey(Client, on_delete=models.CASCADE)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    scopes = ArrayField(models.CharField(max_length=60), default=list)
    issued_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    def check_client(self, client: Client) -> bool:
        return self.client_id == client.client_id

    def get_scope(self) -> str:
        return " ".join(self.scopes)

    def get_expires_in(self) -> int:
        return 0

    def is_expired(self) -> bool:
        return False

    def is_revoked(self) -> bool:
        return self.ended_at is not None
