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
    P.TENANT_VIEW: _("See the tenant's home"),
    P.MEMBERS_VIEW: _("See members"),
    P.MEMBERS_EDIT: _("Create and change members"),
    P.MEMBERS_DELETE: pgettext_lazy("permission", "Delete members"),
    P.MEMBERS_EXPORT: _("Export members"),
    P.SECRETS_REVEAL: _("Reveal card numbers and QR data"),
    P.GROUPS_VIEW: _("See member groups"),
    P.GROUPS_EDIT: _("Create and rename member groups"),
    P.AREAS_VIEW: _("See areas and who may enter them"),
    P.RIGHTS_EDIT: _("Change who may enter and take keys"),
    P.IMPORTS_RUN: _("Run imports"),
    P.BUILDING_VIEW: _("See who is in the building"),
    P.GUESTS_VIEW: _("See guests and visits"),
    P.GUESTS_DESK: _("Receive guests and issue their codes"),
    P.GUESTS_MANAGE: _("Set up the desk: presets and how long visits are kept"),
    P.DEVICES_VIEW: _("See doors and key boxes"),
    P.DOORS_OPERATE: _("Unlock and lock doors"),
    P.CONNECTION_VIEW: _("See the connection"),
    P.CONNECTION_MANAGE: _("Change the connection"),
    P.STAFF_VIEW: _("See staff"),
    P.STAFF_MANAGE: _("Invite staff and change roles"),
    P.AUDIT_VIEW: _("Read the audit trail"),
    P.SUPPORT_MANAGE: _("End or refuse support sessions"),
}
EVERYTHING = frozenset(Permission)

# Writes that need one of these ask for fresh proof of identity (`tenants.access.tenant_view`): what opens
# something, what shows secrets, and what decides who may do either.
PROVEN = frozenset(
    {
        P.DOORS_OPERATE,
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
    purpose = _("Answers for the tenant: its connection, its staff, and everything else.")
    permissions = EVERYTHING


class FacilityManager(Role):
    name = "facility manager"
    title = _("Facility manager")
    purpose = _("Runs the building: members, groups, areas, guests, imports, devices and doors.")
    permissions = EVERYTHING - {P.CONNECTION_MANAGE, P.STAFF_MANAGE, P.SUPPORT_MANAGE}


class Receptionist(Role):
    name = "receptionist"
    title = _("Receptionist")
    purpose = _("Receives guests at the desk.")
    permissions = frozenset({P.BUILDING_VIEW, P.GUESTS_VIEW, P.GUESTS_DESK})


class Guard(Role):
    name = "guard"
    title = _("Guard")
    purpose = _("Watches the doors, and unlocks them.")
    permissions = frozenset({P.TENANT_VIEW, P.BUILDING_VIEW, P.DEVICES_VIEW, P.DOORS_OPERATE})


class Auditor(Role):
    name = "auditor"
    title = _("Auditor")
    purpose = _("Reads everything and changes nothing.")
    permissions = VIEWS | {P.MEMBERS_EXPORT}


class Support(Role):
    name = "support"
    title = _("Support")
    purpose = _("Helps a customer, in a support session only.")
    permissions = VIEWS | {P.MEMBERS_EDIT, P.GROUPS_EDIT, P.RIGHTS_EDIT, P.IMPORTS_RUN}
    platform = True


class Operator(Role):
    name = "operator"
    title = _("Platform operator")
    purpose = _("Runs the platform. Enters a tenant in a support session only, with the permissions of Support.")
    permissions = Support.permissions
    platform = True


ROLES: tuple[type[Role], ...] = (Owner, FacilityManager, Receptionist, Guard, Auditor, Support, Operator)
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
