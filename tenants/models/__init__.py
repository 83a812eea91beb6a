"""Every table of this app, by subject."""

from tenants.models.account_events import AccountEvent
from tenants.models.audit import AuditEntry, AuditKind
from tenants.models.base import TenantModel
from tenants.models.connections import Connection, OAuthState
from tenants.models.kept import Kept
from tenants.models.mails import AccountMail
from tenants.models.people import Invitation, Staff, SupportSession, User
from tenants.models.signing import SigningKey
from tenants.models.tenants import ServiceEnvironment, Tenant, current_tenant

__all__ = [
    "AccountEvent",
    "AccountMail",
    "AuditEntry",
    "AuditKind",
    "Connection",
    "Invitation",
    "Kept",
    "OAuthState",
    "ServiceEnvironment",
    "SigningKey",
    "Staff",
    "SupportSession",
    "Tenant",
    "TenantModel",
    "User",
    "current_tenant",
]
