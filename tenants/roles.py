"""Permissions and roles: who may do what. The roles page of the site shows this as a matrix."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Permission(StrEnum):
    """One thing a person may do in a tenant: NOUN_VERB."""

    TENANT_VIEW = "tenant_view"
    MEMBERS_VIEW = "members_view"
    MEMBERS_EDIT = "members_edit"
    MEMBERS_DELETE = "members_delete"
    MEMBERS_EXPORT = "members_export"
    SECRETS_REVEAL = "secrets_reveal"
    GROUPS_VIEW = "groups_view"
    GROUPS_EDIT = "groups_edit"
    AREAS_VIEW = "areas_view"
    RIGHTS_EDIT = "rights_edit"
    IMPORTS_RUN = "imports_run"
    BUILDING_VIEW = "building_view"
    GUESTS_VIEW = "guests_view"
    GUESTS_DESK = "guests_desk"
    GUESTS_MANAGE = "guests_manage"
    DEVICES_VIEW = "devices_view"
    DOORS_OPERATE = "doors_operate"
    KEYS_OPERATE = "keys_operate"
    PLANS_EDIT = "plans_edit"
    LOCKDOWN = "lockdown"
    ALERTS_VIEW = "alerts_view"
    ALERTS_TAKE = "alerts_take"
    ALERTS_MANAGE = "alerts_manage"
    ROLL_CALL = "roll_call"
    ROLL_CALL_VIEW = "roll_call_view"
    CAMERAS_VIEW = "cameras_view"
    CAMERAS_RECORDED = "cameras_recorded"
    CAMERAS_MANAGE = "cameras_manage"
    INTERCOM = "intercom"
    EVIDENCE_VIEW = "evidence_view"
    EVIDENCE_MAKE = "evidence_make"
    REPORTS_VIEW = "reports_view"
    REPORTS_MANAGE = "reports_manage"
    REVIEWS_VIEW = "reviews_view"
    REVIEWS_DECIDE = "reviews_decide"
    REVIEWS_MANAGE = "reviews_manage"
    LOGS_VIEW = "logs_view"
    LOGS_TODAY = "logs_today"
    CONNECTION_VIEW = "connection_view"
    CONNECTION_MANAGE = "connection_manage"
    STAFF_VIEW = "staff_view"
    STAFF_MANAGE = "staff_manage"
    AUDIT_VIEW = "audit_view"
    SUPPORT_MANAGE = "support_manage"

    @property
    def label(self) -> Promise:
        return TITLES[self]


P = Permission
TITLES: dict[Permission, Promise] = {
    P.TENANT_VIEW: _("View the overview"),
    P.MEMBERS_VIEW: _("View members"),
    P.MEMBERS_EDIT: _("Create and change members"),
    P.MEMBERS_DELETE: pgettext_lazy("permission", "Delete members"),
    P.MEMBERS_EXPORT: _("Export members"),
    P.SECRETS_REVEAL: _("Show card numbers and QR data"),
    P.GROUPS_VIEW: _("View member groups"),
    P.GROUPS_EDIT: _("Create and rename member groups"),
    P.AREAS_VIEW: _("View areas and access"),
    P.RIGHTS_EDIT: _("Change access rights"),
    P.IMPORTS_RUN: _("Run imports"),
    P.BUILDING_VIEW: _("View who is on site"),
    P.GUESTS_VIEW: _("View guests and visits"),
    P.GUESTS_DESK: _("Check in guests and issue codes"),
    P.GUESTS_MANAGE: _("Set up the desk: presets and data retention"),
    P.DEVICES_VIEW: _("View doors and key boxes"),
    P.DOORS_OPERATE: _("Unlock and lock doors"),
    P.KEYS_OPERATE: _("Release and lock keys"),
    P.PLANS_EDIT: _("Edit floor plans"),
    P.LOCKDOWN: _("Start and end a lockdown"),
    P.ALERTS_VIEW: _("View alerts"),
    P.ALERTS_TAKE: _("Take and close alerts"),
    P.ALERTS_MANAGE: _("Change alert rules and who is notified"),
    P.ROLL_CALL: _("Run a roll call"),
    P.ROLL_CALL_VIEW: _("View roll calls and their reports"),
    P.CAMERAS_VIEW: _("View cameras live"),
    P.CAMERAS_RECORDED: _("View recordings of cameras"),
    P.CAMERAS_MANAGE: _("Set up cameras"),
    P.INTERCOM: _("Answer the intercom: see who is at its doors and unlock them"),
    P.EVIDENCE_VIEW: _("View incidents and their evidence"),
    P.EVIDENCE_MAKE: _("Collect, export and delete evidence"),
    P.REPORTS_VIEW: _("View reports"),
    P.REPORTS_MANAGE: _("Send reports regularly"),
    P.REVIEWS_VIEW: _("View access reviews"),
    P.REVIEWS_DECIDE: _("Confirm or withdraw access in reviews"),
    P.REVIEWS_MANAGE: _("Start and finish access reviews"),
    P.LOGS_VIEW: _("View the activity log"),
    P.LOGS_TODAY: _("View today’s activity"),
    P.CONNECTION_VIEW: _("View the connection"),
    P.CONNECTION_MANAGE: _("Change the connection"),
    P.STAFF_VIEW: _("View staff"),
    P.STAFF_MANAGE: _("Invite staff and change roles"),
    P.AUDIT_VIEW: _("View the audit log"),
    P.SUPPORT_MANAGE: _("End or refuse support sessions"),
}
EVERYTHING = frozenset(Permission)

# Writes that need one of these ask for fresh proof of identity (`tenants.access.tenant_view`): what opens
# something, what shows secrets, and what decides who may do either.
PROVEN = frozenset(
    {
        P.DOORS_OPERATE,
        P.KEYS_OPERATE,
        P.LOCKDOWN,
        P.INTERCOM,
        P.SECRETS_REVEAL,
        P.MEMBERS_EXPORT,
        P.CONNECTION_MANAGE,
        P.STAFF_MANAGE,
        P.SUPPORT_MANAGE,
    }
)

# What would outlast a support session: these could let a person in again. No platform role has them.
OWNERS_OWN = frozenset({P.CONNECTION_MANAGE, P.STAFF_MANAGE, P.SUPPORT_MANAGE})
VIEWS = frozenset(permission for permission in Permission if permission.name.endswith("_VIEW"))


class Role:
    """A person's role in a tenant. `platform` roles come with the account and count only in a support session."""

    name: ClassVar[str]
    title: ClassVar[Promise]
    purpose: ClassVar[Promise]
    permissions: ClassVar[frozenset[Permission]]
    platform: ClassVar[bool] = False


class Owner(Role):
    name = "owner"
    title = _("Owner")
    purpose = _("Full access, including connection and staff.")
    permissions = EVERYTHING


class FacilityManager(Role):
    name = "facility manager"
    title = _("Facility manager")
    purpose = _("Manages members, groups, areas, guests, imports, devices and doors.")
    permissions = EVERYTHING - {P.CONNECTION_MANAGE, P.STAFF_MANAGE, P.SUPPORT_MANAGE}


class Receptionist(Role):
    name = "receptionist"
    title = _("Receptionist")
    purpose = _("Checks in guests at the desk.")
    permissions = frozenset({P.BUILDING_VIEW, P.GUESTS_VIEW, P.GUESTS_DESK, P.ROLL_CALL, P.ROLL_CALL_VIEW, P.INTERCOM})


class Guard(Role):
    name = "guard"
    title = _("Guard")
    purpose = _("Monitors and unlocks doors.")
    permissions = frozenset(
        {P.TENANT_VIEW, P.BUILDING_VIEW, P.DEVICES_VIEW, P.DOORS_OPERATE, P.KEYS_OPERATE, P.LOGS_TODAY}
        | {P.ALERTS_VIEW, P.ALERTS_TAKE, P.ROLL_CALL, P.ROLL_CALL_VIEW, P.CAMERAS_VIEW, P.CAMERAS_RECORDED, P.INTERCOM}
    )


class Auditor(Role):
    name = "auditor"
    title = _("Auditor")
    purpose = _("Can view everything but change nothing.")
    permissions = VIEWS | {P.MEMBERS_EXPORT, P.LOGS_TODAY}


class Reviewer(Role):
    name = "reviewer"
    title = _("Reviewer")
    purpose = _("Confirms or withdraws access in reviews assigned to them.")
    permissions = frozenset({P.REVIEWS_DECIDE})


class Support(Role):
    name = "support"
    title = _("Support")
    purpose = _("Supports customers, only in support sessions.")
    # Who went where and when, what cameras show of it and what is made of both is the customer's own business,
    # whoever helps.
    permissions = (
        VIEWS - {P.LOGS_VIEW, P.ROLL_CALL_VIEW, P.CAMERAS_VIEW, P.EVIDENCE_VIEW, P.REPORTS_VIEW, P.REVIEWS_VIEW}
    ) | {
        P.MEMBERS_EDIT,
        P.GROUPS_EDIT,
        P.RIGHTS_EDIT,
        P.IMPORTS_RUN,
    }
    platform = True


class Operator(Role):
    name = "operator"
    title = _("Platform operator")
    purpose = _("Runs the platform. Can access a tenant only in a support session, with Support permissions.")
    permissions = Support.permissions
    platform = True


ROLES: tuple[type[Role], ...] = (Owner, FacilityManager, Receptionist, Guard, Auditor, Reviewer, Support, Operator)
TENANT_ROLES = tuple(role for role in ROLES if not role.platform)
PLATFORM_ROLES = tuple(role for role in ROLES if role.platform)


def role(name: str) -> type[Role]:
    """Return the role of this name; hyphens and underscores count as spaces. Raises KeyError, listing the names."""
    wanted = name.strip().lower().replace("_", " ").replace("-", " ")
    for candidate in ROLES:
        if candidate.name == wanted:
            return candidate
    raise KeyError(f"No role is called {name!r}. Roles: {', '.join(r.name for r in ROLES)}.")


def tenant_choices() -> list[tuple[str, Promise]]:
    """Return the roles that a person in a tenant may have, with their titles."""
    return [(role.name, role.title) for role in TENANT_ROLES]


def platform_choices() -> list[tuple[str, Promise]]:
    """Return the roles that an account of platform staff may have, with their titles."""
    return [(role.name, role.title) for role in PLATFORM_ROLES]
