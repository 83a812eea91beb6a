"""A person's permission as a condition for a conditional UPDATE.

`tenants.access` checks it for a request. Queued work checks it again here, when it is sent.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from tenants import roles
from tenants.models import Staff, SupportSession
from tenants.roles import Permission


def holds_permission(
    permission: Permission | str, *, user: str = "by_id", tenant: str = "tenant_id", session: str = "support_session_id"
) -> Q:
    """Return a condition: the person (column `user`) has `permission` in the row's tenant (column `tenant`) now.

    Work of a support session (column `session`) is allowed only while that session is open. All other work needs one of
    the tenant's own roles. Use it inside a tenant's scope.
    """
    granting = [role.name for role in roles.ROLES if Permission(permission) in role.permissions]
    staff = Staff.objects.filter(
        user_id=OuterRef(user), tenant_id=OuterRef(tenant), is_active=True, user__is_active=True, role__in=granting
    )
    sessions = SupportSession.objects.filter(
        pk=OuterRef(session),
        user_id=OuterRef(user),
        tenant_id=OuterRef(tenant),
        ended_at=None,
        expires_at__gt=Now(),
        user__is_active=True,
        user__platform_role__in=granting,
    )
    return Q(Exists(staff), **{f"{session}__isnull": True}) | Q(Exists(sessions))
