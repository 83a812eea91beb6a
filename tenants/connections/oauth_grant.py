"""The authorization-code grant: redirect to the service with a one-time state, return with a code, exchange it once.

Specification: part Authentication (3, 4) and GET /oauth2/authorize. The state is bound to the session, person, tenant
and environment, and lives ten minutes. The first callback uses it up, with any result.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.dispatch import Signal
from django.utils import timezone

from accessapi.errors import NotSent, OutcomeUnknown, Rejected, ServiceError, Unauthorised
from accessapi.reading import Answer
from tenants import audit, vault
from tenants.access import Access, access_to
from tenants.connections import call_results
from tenants.connections.service_clients import oauth_of, try_token
from tenants.models import Connection, OAuthState, Tenant, User
from tenants.roles import Permission
from tenants.scope import across_tenants, tenant_scope
from tenants.sentences import coded_sentence

# A tenant was connected or reconnected. Arguments: connection (tenants.models.Connection), first (bool).
connected = Signal()


LIFETIME = timedelta(minutes=10)


class GrantRefused(Exception):
    """A callback that connects nothing. `reason` is one of `tenants.connections.words.REFUSALS`.

    `tenant` is set only if the state matched.
    """

    def __init__(self, reason: str, tenant: Tenant | None = None, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.tenant = tenant
        self.detail = detail


@dataclass(frozen=True)
class Callback:
    """The parameters of a callback, and the person and session that sent it."""

    environment: str
    state: str
    code: str
    error: str
    user: User
    session_key: str


def begin(*, access: Access, session_key: str) -> str:
    """Save a one-time state and return the address of the service's consent page."""
    access.check(Permission.CONNECTION_MANAGE)
    state = secrets.token_urlsafe(32)
    environment = access.tenant.environment
    now = timezone.now()
    with transaction.atomic():
        OAuthState.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
        OAuthState.objects.create(
            tenant=access.tenant,
            digest=_digest(state),
            session_digest=_digest(session_key),
            user=access.user,
            environment=environment,
            created_at=now,
            expires_at=now + LIFETIME,
        )
        summary = coded_sentence("connection.begin", environment=environment)
        audit.record(**access.audit_author, action="connection.begin", target="connection", summary=summary)
    return oauth_of(environment).authorize_url(state=state)


def complete(callback: Callback) -> Connection:
    """Check and use up the state, exchange the code once, compare the service's tenant, and store the token.

    Raises GrantRefused; then the connection is unchanged.
    """
    state = _matching_state(callback)
    tenant = state.tenant
    with tenant_scope(tenant):
        access = access_to(callback.user, tenant)
        if access is None or not access.can(Permission.CONNECTION_MANAGE):
            raise GrantRefused("state")
        _use_up(state, tenant)
        if callback.error or not callback.code:
            raise _record_refusal(access, "denied", callback.error)
        token = _exchange(access, callback.code)
        answer = _read_tenant(access, token)
        return _store_grant(access, token, answer)


def _matching_state(callback: Callback) -> OAuthState:
    with across_tenants("the callback's tenant is known only from its one-time state"):
        rows = OAuthState.objects_across_tenants.select_related("tenant__environment", "environment")
        row = rows.filter(digest=_digest(callback.state)).first() if callback.state else None
    matches = (
        row is not None
        and row.environment.name == callback.environment
        and row.environment_id == row.tenant.environment_id
        and row.user_id == callback.user.pk
        and hmac.compare_digest(bytes(row.session_digest), _digest(callback.session_key))
    )
    if row is None or not matches:
        raise GrantRefused("state")
    return row


def _use_up(state: OAuthState, tenant: Tenant) -> None:
    now = timezone.now()
    unused = OAuthState.objects.filter(pk=state.pk, used_at=None, expires_at__gt=now)
    if not unused.update(used_at=now):
        raise GrantRefused("used" if state.expires_at > now else "expired", tenant)


def _exchange(access: Access, code: str) -> str:
    try:
        return oauth_of(access.tenant.environment).exchange(code)
    except Rejected as refusal:
        raise _record_refusal(access, "code", refusal.code) from refusal
    except NotSent as failure:
        raise _record_refusal(access, "unreachable") from failure
    except OutcomeUnknown as failure:
        raise _record_refusal(access, "no_answer") from failure


def _read_tenant(access: Access, token: str) -> Answer:
    """Return the service's answer about the token's tenant.

    Raises GrantRefused without one, so the token is not kept.
    """
    try:
        answer = try_token(access.tenant.environment, token)
    except Unauthorised as refusal:
        raise _record_refusal(access, "token") from refusal
    except ServiceError as failure:
        _revoke_unused(access, token)
        raise _record_refusal(access, "tenant_unread") from failure
    if not getattr(answer.value, "tenant_id", None):
        _revoke_unused(access, token)
        raise _record_refusal(access, "tenant_unread")
    return answer


def _store_grant(access: Access, token: str, answer: Answer) -> Connection:
    try:
        with transaction.atomic():
            row, _ = Connection.objects.get_or_create(tenant=access.tenant)
            row = Connection.objects.select_for_update().get(pk=row.pk)
            service_tenant_id = str(answer.value.tenant_id)
            first = row.environment_id != access.tenant.environment_id or not row.service_tenant_id
            if not first and row.service_tenant_id != service_tenant_id:
                raise GrantRefused("other_tenant", access.tenant)
            store_tenant_facts(row, answer)
            _store_token(row, access, token, service_tenant_id)
            named = row.service_tenant_name or service_tenant_id
            summary = coded_sentence("connection.connect", name=named)
            audit.record(**access.audit_author, action="connection.connect", target="connection", summary=summary)
            transaction.on_commit(lambda: _send_connected(row, first))
    except GrantRefused as refusal:
        _revoke_unused(access, token)
        raise _record_refusal(access, refusal.reason) from None
    except IntegrityError:
        _revoke_unused(access, token)
        raise _record_refusal(access, "taken") from None
    return row


def _store_token(row: Connection, access: Access, token: str, service_tenant_id: str) -> None:
    now = timezone.now()
    row.environment = access.tenant.environment
    row.service_tenant_id = service_tenant_id
    row.access_token, row.previous_token = token, None
    if vault.is_unreadable(row):  # only the licence key is left, under a lost key: it is entered again
        row.licence_key = None
    row.token_generation += 1
    row.token_at = row.granted_at = row.last_call_at = row.last_success_at = now
    row.last_call_operation, row.last_call_status = "get_tenant", 200
    row.granted_by = access.user
    row.reissue_sent_at, row.reissue_outcome = None, ""
    row.scopes_refused, row.contracts_refused, row.refusals = [], [], []
    call_results.set_state(row, Connection.State.CONNECTED)
    row.save()


def store_tenant_facts(row: Connection, answer: Answer) -> None:
    """Set the service's data about the tenant on a row that the caller saves.

    The webhook's address is left out: anyone who knows it can post to it.
    """
    row.service_tenant_name = str(answer.data.get("tenant_name") or "")[:200]
    service_settings = answer.data.get("settings")
    service_settings = service_settings if isinstance(service_settings, dict) else {}
    row.service_settings = {name: value for name, value in service_settings.items() if name != "webhook"}


def _send_connected(row: Connection, first: bool) -> None:
    with tenant_scope(row.tenant):
        connected.send_robust(Connection, connection=row, first=first)


def _revoke_unused(access: Access, token: str) -> None:
    """Revoke a token that will not be kept. If that fails, the token stays unused: it is stored nowhere."""
    try:
        oauth_of(access.tenant.environment).revoke(token)
    except ServiceError:
        return


def _record_refusal(access: Access, reason: str, detail: str = "") -> GrantRefused:
    with transaction.atomic():
        summary = coded_sentence("connection.refused", why=coded_sentence(f"refused.{reason}"))
        audit.record(**access.audit_author, action="connection.refused", target="connection", summary=summary)
    return GrantRefused(reason, access.tenant, detail)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
