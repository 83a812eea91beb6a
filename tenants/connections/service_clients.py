"""A tenant's connection, and clients of the service with its token. `portal.domain.budget` counts their calls."""

from __future__ import annotations

import threading

import structlog

from accessapi.client import Client, Gate, Observe, RateHeaders
from accessapi.errors import ServiceError
from accessapi.oauth import OAuth
from accessapi.operations import Operation
from accessapi.reading import Answer
from tenants.connections import call_results
from tenants.models import Connection, ServiceEnvironment, current_tenant
from tenants.postgresql.compiled_queries import CompiledQuery
from tenants.vault import VaultError

log = structlog.get_logger(__name__)
_current_connection = CompiledQuery[Connection](lambda: Connection.objects.select_related("tenant__environment")[:1])
# Read before every call to the service.
_connection_by_id = CompiledQuery[Connection](
    lambda connection: Connection.objects.filter(pk=connection)[:1], connection=0
)


def current_connection() -> Connection:
    """Return the current tenant's connection from the database.

    A tenant that was never connected gets an unsaved connection, so that callers need not handle None.
    """
    return next(iter(_current_connection.rows()), None) or Connection(tenant=current_tenant())


def service_client(connection: Connection, *, gate: Gate | None = None, observe: Observe | None = None) -> Client:
    """Return a client that reads the token at each call, so that a reissue or revocation takes effect at once.

    Use it inside the tenant's scope. A call raises NotSent if there is no usable token, or if VAULT_KEYS does not open
    it. Every answer is recorded on the connection: last call, refused scopes and contracts, a token that no longer
    works.
    """
    per_thread = threading.local()

    def token() -> str:
        row = per_thread.row = _reload(connection)
        return (_read_secret(row, "access_token") or "") if row.is_connected else ""

    def licence_key() -> str | None:
        row: Connection = getattr(per_thread, "row", None) or _reload(connection)
        return _read_secret(row, "licence_key")

    def on_response(operation: Operation, rate: RateHeaders, status: int, error: ServiceError | None) -> None:
        row = getattr(per_thread, "row", None)
        try:
            if row is not None:
                call_results.record(row, operation, status, error)
        finally:
            if observe is not None:
                observe(operation, rate, status, error)

    environment = connection.tenant.environment
    return Client(
        base_url=environment.base_url,
        catalogue=environment.catalogue,
        token=token,
        licence_key=licence_key,
        gate=gate,
        observe=on_response,
    )


def _read_secret(row: Connection, name: str) -> str | None:
    """Return a secret of the connection; None if VAULT_KEYS does not open it."""
    try:
        secret: str | None = getattr(row, name)
    except VaultError:
        log.error("connection_secret_not_read", tenant_id=row.tenant_id, secret=name)
        return None
    return secret


def _reload(connection: Connection) -> Connection:
    """Return the connection as it is in the database now."""
    found = _connection_by_id.rows(connection=connection.pk)
    if not found:
        raise Connection.DoesNotExist
    return found[0]


def try_token(environment: ServiceEnvironment, token: str) -> Answer:
    """Read the tenant with a token that is not the connection's current one. Raises the service's errors."""
    client = Client(base_url=environment.base_url, catalogue=environment.catalogue, token=lambda: token)
    with client:
        return client.call("get_tenant", fresh=True)


def oauth_of(environment: ServiceEnvironment) -> OAuth:
    """Return the OAuth endpoints of an environment.

    Each environment has one redirect URI: `{PORTAL_URL}/oauth/<environment>/callback/`.
    """
    return OAuth(
        base_url=environment.base_url,
        client_id=environment.client_id,
        client_secret=environment.client_secret,
        redirect_uri=environment.redirect_uri,
        catalogue=environment.catalogue,
    )
