"""Permissions and roles. The roles page of the site shows them as a matrix."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Permission(StrEnum):
    """One thing that a person may do in a tenant: NOUN_VERB."""

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
    LOCKDOWN_MANAGE = "lockdown_manage"
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
        return REQUIREMENTS[self].title

    @property
    def needs_second_factor(self) -> bool:
        return REQUIREMENTS[self].needs_second_factor


class Proof(StrEnum):
    """How long a proof of identity counts: a password, code or passkey given in this session."""

    NONE = "none"  # no proof
    # An hour (PORTAL_LONG_PROOF_SECONDS): for changes of access rights, for many or permanently.
    LONG = "long"
    # Five minutes (PORTAL_REAUTHENTICATION_SECONDS): for doors, secrets, safety rules, evidence, and every file of
    # rows.
    SHORT = "short"


class PermissionRequirements(NamedTuple):
    """The requirements of a permission for the person who has it.

    - `needs_second_factor`: an account with a second factor, if PORTAL_REQUIRE_MFA is on. Required by permissions that
      open something, export personal data as a file, or decide who may do so.
    - `proof`: fresh proof of identity before each write that needs this permission. A view may require another one.
      Every file needs `Proof.SHORT`, with any permission.
    """

    title: Promise
    needs_second_factor: bool = False
    proof: Proof = Proof.NONE


P = Permission
SECOND_FACTOR = True  # a second factor
REQUIREMENTS: dict[Permission, PermissionRequirements] = {
    P.TENANT_VIEW: PermissionRequirements(_("View the overview")),
    P.MEMBERS_VIEW: PermissionRequirements(_("View members")),
    P.MEMBERS_EDIT: PermissionRequirements(_("Create and change members"), SECOND_FACTOR, Proof.LONG),
    P.MEMBERS_DELETE: PermissionRequirements(pgettext_lazy("permission", "Delete members"), SECOND_FACTOR, Proof.LONG),
    P.MEMBERS_EXPORT: PermissionRequirements(_("Export members"), SECOND_FACTOR, Proof.SHORT),
    P.SECRETS_REVEAL: PermissionRequirements(_("Show card numbers and QR data"), SECOND_FACTOR, Proof.SHORT),
    P.GROUPS_VIEW: PermissionRequirements(_("View member groups")),
    P.GROUPS_EDIT: PermissionRequirements(_("Create and rename member groups")),
    P.AREAS_VIEW: PermissionRequirements(_("View areas and access")),
    P.RIGHTS_EDIT: PermissionRequirements(_("Change access rights"), SECOND_FACTOR, Proof.LONG),
    P.IMPORTS_RUN: PermissionRequirements(_("Run imports"), SECOND_FACTOR, Proof.LONG),
    P.BUILDING_VIEW: PermissionRequirements(_("View who is on site"), SECOND_FACTOR),
    P.GUESTS_VIEW: PermissionRequirements(_("View guests and visits"), SECOND_FACTOR),
    P.GUESTS_DESK: PermissionRequirements(_("Check in guests and issue codes"), SECOND_FACTOR),
    P.GUESTS_MANAGE: PermissionRequirements(
        _("Set up the desk: presets and data retention"), SECOND_FACTOR, Proof.LONG
    ),
    P.DEVICES_VIEW: PermissionRequirements(_("View doors and key boxes")),
    P.DOORS_OPERATE: PermissionRequirements(_("Unlock and lock doors"), SECOND_FACTOR, Proof.SHORT),
    P.KEYS_OPERATE: PermissionRequirements(_("Release and lock keys"), SECOND_FACTOR, Proof.SHORT),
    P.PLANS_EDIT: PermissionRequirements(_("Edit floor plans")),
    P.LOCKDOWN: PermissionRequirements(
        _("Start and end a lockdown or an evacuation unlock"), SECOND_FACTOR, Proof.SHORT
    ),
    P.LOCKDOWN_MANAGE: PermissionRequirements(_("Change the settings of lockdowns"), SECOND_FACTOR, Proof.SHORT),
    P.ALERTS_VIEW: PermissionRequirements(_("View alerts")),
    P.ALERTS_TAKE: PermissionRequirements(_("Assign and close alerts")),
    P.ALERTS_MANAGE: PermissionRequirements(_("Change alert rules and who is notified"), SECOND_FACTOR, Proof.SHORT),
    P.ROLL_CALL: PermissionRequirements(_("Run a roll call")),
    P.ROLL_CALL_VIEW: PermissionRequirements(_("View roll calls and their reports")),
    P.CAMERAS_VIEW: PermissionRequirements(_("View cameras live")),
    P.CAMERAS_RECORDED: PermissionRequirements(_("View recordings of cameras")),
    P.CAMERAS_MANAGE: PermissionRequirements(_("Set up cameras"), SECOND_FACTOR, Proof.LONG),
    P.INTERCOM: PermissionRequirements(
        _("Answer the intercom: see who is at its doors and unlock them"), SECOND_FACTOR, Proof.SHORT
    ),
    P.EVIDENCE_VIEW: PermissionRequirements(_("View incidents and their evidence")),
    P.EVIDENCE_MAKE: PermissionRequirements(_("Collect, export and delete evidence"), SECOND_FACTOR, Proof.SHORT),
    P.REPORTS_VIEW: PermissionRequirements(_("View reports"), SECOND_FACTOR),
    P.REPORTS_MANAGE: PermissionRequirements(_("Send reports regularly"), SECOND_FACTOR),
    P.REVIEWS_VIEW: PermissionRequirements(_("View access reviews"), SECOND_FACTOR),
    P.REVIEWS_DECIDE: PermissionRequirements(_("Confirm or withdraw access in reviews"), SECOND_FACTOR),
    P.REVIEWS_MANAGE: PermissionRequirements(_("Start and finish access reviews"), SECOND_FACTOR, Proof.LONG),
    P.LOGS_VIEW: PermissionRequirements(_("View the activity log"), SECOND_FACTOR),
    P.LOGS_TODAY: PermissionRequirements(_("View today’s activity")),
    P.CONNECTION_VIEW: PermissionRequirements(_("View the connection")),
    P.CONNECTION_MANAGE: PermissionRequirements(_("Change the connection"), SECOND_FACTOR, Proof.SHORT),
    P.STAFF_VIEW: PermissionRequirements(_("View staff")),
    P.STAFF_MANAGE: PermissionRequirements(_("Invite staff and change roles"), SECOND_FACTOR, Proof.SHORT),
    P.AUDIT_VIEW: PermissionRequirements(_("View the audit log")),
    P.SUPPORT_MANAGE: PermissionRequirements(_("End or refuse support sessions"), SECOND_FACTOR, Proof.SHORT),
}
ALL_PERMISSIONS = frozenset(Permission)

# A person with one of these may change a safety rule (`portal.domain.safety`), alone or with a second person. Owners
# are notified when a person gets one of them.
SAFETY_PERMISSIONS = frozenset(
    {
        P.LOCKDOWN_MANAGE,
        P.ALERTS_MANAGE,
        P.CAMERAS_MANAGE,
        P.EVIDENCE_MAKE,
        P.GUESTS_MANAGE,
        P.CONNECTION_MANAGE,
        P.STAFF_MANAGE,
        P.SUPPORT_MANAGE,
    }
)

# These would outlast a support session, as they could give a person access again. No platform role has them.
OWNER_ONLY_PERMISSIONS = frozenset({P.CONNECTION_MANAGE, P.STAFF_MANAGE, P.SUPPORT_MANAGE})
VIEW_PERMISSIONS = frozenset(permission for permission in Permission if permission.name.endswith("_VIEW"))


class Role:
    """A person's role in a tenant. `is_platform` roles belong to the account and count only in a support session."""

    name: ClassVar[str]
    title: ClassVar[Promise]
    purpose: ClassVar[Promise]
    permissions: ClassVar[frozenset[Permission]]
    is_platform: ClassVar[bool] = False

    @classmethod
    def second_factor_permissions(cls) -> list[Permission]:
        """Return the permissions of this role that need a second factor."""
        return [each for each in Permission if each in cls.permissions and each.needs_second_factor]


class Owner(Role):
    name = "owner"
    title = _("Owner")
    purpose = _("Full access, including connection and staff.")
    permissions = ALL_PERMISSIONS


class FacilityManager(Role):
    name = "facility manager"
    title = _("Facility manager")
    purpose = _("Manages the whole building: members, guests, doors and more.")
    permissions = ALL_PERMISSIONS - {P.CONNECTION_MANAGE, P.STAFF_MANAGE, P.SUPPORT_MANAGE}


class Receptionist(Role):
    name = "receptionist"
    title = _("Receptionist")
    purpose = _("Checks in guests at the desk.")
    permissions = frozenset({P.BUILDING_VIEW, P.GUESTS_VIEW, P.GUESTS_DESK, P.ROLL_CALL, P.ROLL_CALL_VIEW, P.INTERCOM})


class Guard(Role):
    name = "guard"
    title = _("Guard")
    purpose = _("Monitors, locks and unlocks doors.")
    permissions = frozenset(
        {P.TENANT_VIEW, P.BUILDING_VIEW, P.DEVICES_VIEW, P.DOORS_OPERATE, P.LOCKDOWN, P.KEYS_OPERATE, P.LOGS_TODAY}
        | {P.ALERTS_VIEW, P.ALERTS_TAKE, P.ROLL_CALL, P.ROLL_CALL_VIEW, P.CAMERAS_VIEW, P.CAMERAS_RECORDED, P.INTERCOM}
    )


class Auditor(Role):
    name = "auditor"
    title = _("Auditor")
    purpose = _("Can view everything but change nothing.")
    permissions = VIEW_PERMISSIONS | {P.MEMBERS_EXPORT, P.LOGS_TODAY}


class Reviewer(Role):
    name = "reviewer"
    title = _("Reviewer")
    purpose = _("Confirms or withdraws access in reviews assigned to them.")
    permissions = frozenset({P.REVIEWS_DECIDE})


class Support(Role):
    name = "support"
    title = _("Support")
    purpose = _("Supports customers, only in support sessions.")
    # People's movements, camera pictures and reports are the customer's own data, also during support.
    permissions = (
        VIEW_PERMISSIONS
        - {P.LOGS_VIEW, P.ROLL_CALL_VIEW, P.CAMERAS_VIEW, P.EVIDENCE_VIEW, P.REPORTS_VIEW, P.REVIEWS_VIEW}
    ) | {
        P.MEMBERS_EDIT,
        P.GROUPS_EDIT,
        P.RIGHTS_EDIT,
        P.IMPORTS_RUN,
    }
    is_platform = True


class Operator(Role):
    name = "operator"
    title = _("Platform operator")
    purpose = _("Runs the platform. Can access a tenant only in a support session, with Support permissions.")
    permissions = Support.permissions
    is_platform = True


ROLES: tuple[type[Role], ...] = (Owner, FacilityManager, Receptionist, Guard, Auditor, Reviewer, Support, Operator)
TENANT_ROLES = tuple(role for role in ROLES if not role.is_platform)
PLATFORM_ROLES = tuple(role for role in ROLES if role.is_platform)


def find_role(name: str) -> type[Role]:
    """Return the role of this name; hyphens and underscores count as spaces. Raises KeyError with all names."""
    normal_name = name.strip().lower().replace("_", " ").replace("-", " ")
    for candidate in ROLES:
        if candidate.name == normal_name:
            return candidate
    raise KeyError(f"No role is called {name!r}. Roles: {', '.join(r.name for r in ROLES)}.")


def tenant_choices() -> list[tuple[str, Promise]]:
    """Return the roles that a person in a tenant can have, with their titles."""
    return [(role.name, role.title) for role in TENANT_ROLES]


def platform_choices() -> list[tuple[str, Promise]]:
    """Return the roles that an account of platform staff can have, with their titles."""
    return [(role.name, role.title) for role in PLATFORM_ROLES]
