"""Every table of this app, by subject."""

from tenants.models.audit import AuditEntry, AuditKind
from tenants.models.base import TenantModel
from tenants.models.connections import Connection, OAuthState
from tenants.models.installation import CacheEntry, SigningKey
from tenants.models.people import AccountEvent, AccountMail, Invitation, Staff, SupportSession, User
from tenants.models.tenants import ServiceEnvironment, Tenant, current_tenant

__all__ = [
    "AccountEvent",
    "AccountMail",
    "AuditEntry",
    "AuditKind",
    "CacheEntry",
    "Connection",
    "Invitation",
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
