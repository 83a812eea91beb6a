"""Permissions and roles: who may do what. The roles page of the site shows this as a matrix."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, NamedTuple

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
        return ASKS[self].title

    @property
    def needs_second_factor(self) -> bool:
        return ASKS[self].second_factor


class Proof(StrEnum):
    """For how long a proof of identity counts: a password, code or passkey given in this session."""

    NONE = "none"  # nothing is asked
    # An hour (PORTAL_LONG_PROOF_SECONDS): what decides who may enter, for many or for good.
    LONG = "long"
    # Five minutes (PORTAL_REAUTHENTICATION_SECONDS): doors, secrets, safety rules, evidence, and every file of rows.
    SHORT = "short"


class Asks(NamedTuple):
    """What a permission asks of the person who has it.

    - `second_factor`: an account with a second factor, where PORTAL_REQUIRE_MFA is on. So asks whatever opens
      something, takes personal data out as a file, or decides who may do either.
    - `proof`: fresh proof of identity before each write that needs this permission. A view may name another one.
      Whatever leaves as a file asks for `Proof.SHORT`, whatever its permission.
    """

    title: Promise
    second_factor: bool = False
    proof: Proof = Proof.NONE


P = Permission
SECOND = True  # a second factor
ASKS: dict[Permission, Asks] = {
    P.TENANT_VIEW: Asks(_("View the overview")),
    P.MEMBERS_VIEW: Asks(_("View members")),
    P.MEMBERS_EDIT: Asks(_("Create and change members"), SECOND, Proof.LONG),
    P.MEMBERS_DELETE: Asks(pgettext_lazy("permission", "Delete members"), SECOND, Proof.LONG),
    P.MEMBERS_EXPORT: Asks(_("Export members"), SECOND, Proof.SHORT),
    P.SECRETS_REVEAL: Asks(_("Show card numbers and QR data"), SECOND, Proof.SHORT),
    P.GROUPS_VIEW: Asks(_("View member groups")),
    P.GROUPS_EDIT: Asks(_("Create and rename member groups")),
    P.AREAS_VIEW: Asks(_("View areas and access")),
    P.RIGHTS_EDIT: Asks(_("Change access rights"), SECOND, Proof.LONG),
    P.IMPORTS_RUN: Asks(_("Run imports"), SECOND, Proof.LONG),
    P.BUILDING_VIEW: Asks(_("View who is on site"), SECOND),
    P.GUESTS_VIEW: Asks(_("View guests and visits"), SECOND),
    P.GUESTS_DESK: Asks(_("Check in guests and issue codes"), SECOND),
    P.GUESTS_MANAGE: Asks(_("Set up the desk: presets and data retention"), SECOND, Proof.LONG),
    P.DEVICES_VIEW: Asks(_("View doors and key boxes")),
    P.DOORS_OPERATE: Asks(_("Unlock and lock doors"), SECOND, Proof.SHORT),
    P.KEYS_OPERATE: Asks(_("Release and lock keys"), SECOND, Proof.SHORT),
    P.PLANS_EDIT: Asks(_("Edit floor plans")),
    P.LOCKDOWN: Asks(_("Start and end a lockdown"), SECOND, Proof.SHORT),
    P.ALERTS_VIEW: Asks(_("View alerts")),
    P.ALERTS_TAKE: Asks(_("Take and close alerts")),
    P.ALERTS_MANAGE: Asks(_("Change alert rules and who is notified"), SECOND, Proof.SHORT),
    P.ROLL_CALL: Asks(_("Run a roll call")),
    P.ROLL_CALL_VIEW: Asks(_("View roll calls and their reports")),
    P.CAMERAS_VIEW: Asks(_("View cameras live")),
    P.CAMERAS_RECORDED: Asks(_("View recordings of cameras")),
    P.CAMERAS_MANAGE: Asks(_("Set up cameras"), SECOND, Proof.LONG),
    P.INTERCOM: Asks(_("Answer the intercom: see who is at its doors and unlock them"), SECOND, Proof.SHORT),
    P.EVIDENCE_VIEW: Asks(_("View incidents and their evidence")),
    P.EVIDENCE_MAKE: Asks(_("Collect, export and delete evidence"), SECOND, Proof.SHORT),
    P.REPORTS_VIEW: Asks(_("View reports"), SECOND),
    P.REPORTS_MANAGE: Asks(_("Send reports regularly"), SECOND),
    P.REVIEWS_VIEW: Asks(_("View access reviews"), SECOND),
    P.REVIEWS_DECIDE: Asks(_("Confirm or withdraw access in reviews"), SECOND),
    P.REVIEWS_MANAGE: Asks(_("Start and finish access reviews"), SECOND, Proof.LONG),
    P.LOGS_VIEW: Asks(_("View the activity log"), SECOND),
    P.LOGS_TODAY: Asks(_("View today’s activity")),
    P.CONNECTION_VIEW: Asks(_("View the connection")),
    P.CONNECTION_MANAGE: Asks(_("Change the connection"), SECOND, Proof.SHORT),
    P.STAFF_VIEW: Asks(_("View staff")),
    P.STAFF_MANAGE: Asks(_("Invite staff and change roles"), SECOND, Proof.SHORT),
    P.AUDIT_VIEW: Asks(_("View the audit log")),
    P.SUPPORT_MANAGE: Asks(_("End or refuse support sessions"), SECOND, Proof.SHORT),
}
EVERYTHING = frozenset(Permission)

# Whoever has one of these may change a safety rule (`portal.core.safety`), alone or with a second person. Owners are
# told when a person gets one of them.
SAFETY = frozenset(
    {
        P.LOCKDOWN,
        P.ALERTS_MANAGE,
        P.CAMERAS_MANAGE,
        P.EVIDENCE_MAKE,
        P.GUESTS_MANAGE,
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

    @classmethod
    def for_second_factor(cls) -> list[Permission]:
        """Return the permissions for which people of this role need a second factor."""
        return [each for each in Permission if each in cls.permissions and each.needs_second_factor]


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
