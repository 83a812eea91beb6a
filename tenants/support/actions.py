"""Support sessions: platform staff inside a tenant, with a reason, for a limited time, visible to the tenant."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tenants import audit, owners
from tenants.access import Access
from tenants.models import SupportSession, Tenant, User
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence

SESSION_MINUTES = (15, 30, 60, 120)


class SupportRefused(Exception):
    """The session cannot be opened. The text is for the person who requested it."""


def start_session(*, tenant: Tenant, user: User, reason: str, minutes: int) -> SupportSession:
    """Open a session, ending any other of the same person there. Raises SupportRefused."""
    if not user.platform_role or not user.is_active:
        raise SupportRefused(_("Support sessions are for support staff."))
    if minutes not in SESSION_MINUTES or not reason.strip():
        raise SupportRefused(_("A support session needs a reason and one of the listed time limits."))
    now = timezone.now()
    with tenant_scope(tenant), transaction.atomic():
        if not Tenant.objects.select_for_update().get(pk=tenant.pk).support_allowed:
            raise SupportRefused(
                _("No session was started: this tenant does not allow support sessions. Ask its owner to allow them.")
            )
        SupportSession.objects.filter(user=user, ended_at=None).update(ended_at=now, ended_by=user)
        session = SupportSession.objects.create(
            tenant=tenant,
            user=user,
            reason=reason.strip()[:200],
            started_at=now,
            expires_at=now + timedelta(minutes=minutes),
        )
        audit.record(
            tenant=tenant, by=user, support_session=session, action="support.enter", target=f"support:{session.pk}",
            summary=coded_sentence("support.enter", minutes=minutes, reason=session.reason),
        )  # fmt: skip
    return session


def end_session(*, access: Access, session: SupportSession) -> None:
    """End a session: one's own, or any with the permission to manage support. Ending twice does no harm."""
    if session.user_id != access.user.pk:
        access.check(Permission.SUPPORT_MANAGE)
    with transaction.atomic():
        running = SupportSession.objects.filter(pk=session.pk, ended_at=None)
        if running.update(ended_at=timezone.now(), ended_by=access.user):
            audit.record(
                **access.audit_author,
                action="support.end",
                target=f"support:{session.pk}",
                summary=coded_sentence("support.end"),
            )


def set_allowed(*, access: Access, is_allowed: bool) -> None:
    """Allow support sessions again, or refuse them: refusing ends every open session at once."""
    access.check(Permission.SUPPORT_MANAGE)
    with transaction.atomic():
        tenant = Tenant.objects.select_for_update().get(pk=access.tenant.pk)
        was, tenant.support_allowed = tenant.support_allowed, is_allowed
        tenant.save(update_fields=["support_allowed"])
        if not is_allowed:
            SupportSession.objects.filter(ended_at=None).update(ended_at=timezone.now(), ended_by=access.user)
        action = "support.allow" if is_allowed else "support.refuse"
        audit.record(**access.audit_author, action=action, target="support", summary=coded_sentence(action))
        if is_allowed and not was:
            owners.notify(owners.LOOSENED, what=coded_sentence(action), who=access.user)
    access.tenant.support_allowed = is_allowed
