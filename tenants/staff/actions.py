"""Staff of a tenant: invitations, roles, removal. Every action adds one audit log entry."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from tenants import audit, owners, roles
from tenants.access import Access, access_to
from tenants.models import Invitation, Staff, Tenant, User
from tenants.roles import Owner, Permission
from tenants.scope import across_tenants, tenant_scope
from tenants.sentences import Sentence, coded_sentence

LIFETIME = timedelta(days=7)


class StaffError(Exception):
    """A change that is not allowed. The text is for the person who requested it."""


@dataclass(frozen=True)
class InvitationResult:
    """The invitation, its one-time address (not stored anywhere), and whether the mail was sent."""

    invitation: Invitation
    address: str
    is_mailed: bool


def invite(*, access: Access, email: str, role: str) -> InvitationResult:
    """Invite an address and mail it, replacing an open invitation of the same address. Raises StaffError."""
    access.check(Permission.STAFF_MANAGE)
    email, role = email.strip().lower(), roles.find_role(role).name
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        if Staff.objects.filter(user__email=email, is_active=True).exists():
            raise StaffError(_("Not invited: this person is already on the staff. Change their role instead."))
        open_ones = Invitation.objects.filter(email=email, accepted_at=None, revoked_at=None)
        open_ones.update(revoked_at=now)
        invitation = Invitation.objects.create(
            tenant=access.tenant,
            email=email,
            role=role,
            token_digest=digest(token),
            invited_by=access.user,
            expires_at=now + LIFETIME,
        )
        summary = coded_sentence("staff.invite", person=email, role=_role_sentence(role))
        audit.record(
            **access.audit_author, action="staff.invite", target=f"invitation:{invitation.pk}", summary=summary
        )
        _notify_owners(summary, access.user, role)
    address = settings.PORTAL_URL + reverse("invitation", args=[token])
    return InvitationResult(invitation, address, _send_mail(invitation, address))


def revoke_invitation(*, access: Access, invitation: Invitation) -> None:
    access.check(Permission.STAFF_MANAGE)
    with transaction.atomic():
        changed = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
        if changed.update(revoked_at=timezone.now()):
            summary = coded_sentence("staff.uninvite", person=invitation.email)
            audit.record(
                **access.audit_author, action="staff.uninvite", target=f"invitation:{invitation.pk}", summary=summary
            )


def find_open_invitation(token: str) -> Invitation | None:
    """Return the invitation of this token if it can still be accepted."""
    with across_tenants("an invitation's tenant is known only from its token"):
        rows = Invitation.objects_across_tenants.select_related("tenant", "invited_by")
        found = rows.filter(token_digest=digest(token)).first()
    if found is None or not found.is_open:
        return None
    with tenant_scope(found.tenant):
        return found if has_valid_sender(found) else None


def has_valid_sender(invitation: Invitation) -> bool:
    """Return whether the sender of the invitation may still invite: the command line, or the tenant's own staff.

    An invitation is invalid once its sender lost the role, or their support session ended.
    """
    if invitation.invited_by is None:
        return True
    access = access_to(invitation.invited_by, invitation.tenant)
    return access is not None and access.can(Permission.STAFF_MANAGE)


def accept(*, invitation: Invitation, user: User | None = None, name: str = "", password: str = "") -> User:
    """Join with the invited address: as the signed-in `user`, or with a new account. Works once. Raises StaffError."""
    tenant: Tenant = invitation.tenant
    with tenant_scope(tenant), transaction.atomic():
        row = Invitation.objects.select_for_update().get(pk=invitation.pk)
        if not row.is_open or not has_valid_sender(row):
            raise StaffError(_("This invitation was already used or cancelled, or has expired. Ask for a new one."))
        if user is None:
            user = _new_account(row.email, name, password)
        elif user.email != row.email:
            raise StaffError(_("This invitation is for a different address from the one you signed in with."))
        Staff.objects.update_or_create(tenant=tenant, user=user, defaults={"role": row.role, "is_active": True})
        row.accepted_at = timezone.now()
        row.save(update_fields=["accepted_at"])
        audit.record(
            tenant=tenant, by=user, action="staff.join", target=f"user:{user.pk}",
            summary=coded_sentence("staff.join", person=name_of(user), role=_role_sentence(row.role)),
        )  # fmt: skip
    return user


def change_role(*, access: Access, staff: Staff, role: str) -> None:
    """Change a person's role. Raises StaffError if no owner would be left."""
    access.check(Permission.STAFF_MANAGE)
    with transaction.atomic():
        row = _lock(staff)
        before, row.role = row.role, roles.find_role(role).name
        if before == row.role:
            return
        row.save(update_fields=["role"])
        _check_an_owner_is_left()
        summary = coded_sentence(
            "staff.role", person=name_of(row.user), old=_role_sentence(before), new=_role_sentence(row.role)
        )
        audit.record(**access.audit_author, action="staff.role", target=f"user:{row.user_id}", summary=summary)
        _notify_owners(summary, access.user, row.role, before)


def remove(*, access: Access, staff: Staff) -> None:
    """Remove all access to the tenant, from the next request on. Raises StaffError if no owner would be left."""
    access.check(Permission.STAFF_MANAGE)
    with transaction.atomic():
        row = _lock(staff)
        row.is_active = False
        row.save(update_fields=["is_active"])
        _check_an_owner_is_left()
        summary = coded_sentence("staff.remove", person=name_of(row.user), role=_role_sentence(row.role))
        audit.record(**access.audit_author, action="staff.remove", target=f"user:{row.user_id}", summary=summary)


def new_user(*, email: str, name: str = "", password: str | None = None) -> User:
    """Create and return an account whose address is verified. To be called inside a transaction."""
    user = User.objects.create_user(email, password, name=name)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _new_account(email: str, name: str, password: str) -> User:
    if User.objects.filter(email=email).exists():
        raise StaffError(_("An account with this address already exists. Sign in, then open the invitation."))
    if not password:
        raise StaffError(_("Choose a password."))
    return new_user(email=email, name=name, password=password)


def _lock(staff: Staff) -> Staff:
    """Return the row, with all owners of the tenant locked, so that two owners cannot remove each other at once."""
    list(Staff.objects.select_for_update().filter(role=Owner.name, is_active=True).order_by("pk"))
    return Staff.objects.select_for_update(of=("self",)).select_related("user").get(pk=staff.pk)


def _check_an_owner_is_left() -> None:
    if not Staff.objects.filter(role=Owner.name, is_active=True, user__is_active=True).exists():
        raise StaffError(
            _("A tenant needs at least one owner. Nothing was changed. First give another person the role “Owner”.")
        )


def _send_mail(invitation: Invitation, address: str) -> bool:
    context = {"invitation": invitation, "tenant": invitation.tenant, "address": address}
    text = render_to_string("tenants/mail/invitation.txt", context)
    subject = _("Invitation to %(tenant)s") % {"tenant": invitation.tenant.name}
    try:
        return bool(send_mail(subject, text, None, [invitation.email]))
    except OSError:
        return False


def name_of(user: User) -> str:
    """Return a staff member's name for the audit log, with their address, which is unique."""
    return f"{user.name} ({user.email})" if user.name else user.email


def _notify_owners(summary: Sentence, by: User, new: str, old: str = "") -> None:
    """Notify the owners if a person gets a permission to change safety rules."""
    had = roles.find_role(old).permissions if old else frozenset()
    if (roles.find_role(new).permissions - had) & roles.SAFETY_PERMISSIONS:
        owners.notify(owners.LOOSENED, what=summary, who=by)


def _role_sentence(name: str) -> Sentence:
    return coded_sentence(f"role.{name}")
