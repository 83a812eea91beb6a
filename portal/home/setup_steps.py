"""List the setup steps for a tenant without data. Each role sees its own steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, QuerySet
from django.utils.translation import gettext as _

from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.events import MirrorKind
from portal.domain.sync.freshness import Freshness, KindFreshness
from portal.domain.visits.models import Preset
from portal.home.figures import OverviewFigures
from portal.plans.models import FloorPlan
from portal.webhooks.models import Webhook
from tenants.access import Access
from tenants.models import Connection, Staff, Tenant
from tenants.roles import Permission


@dataclass(frozen=True)
class SetupStep:
    """A setup step. `href` is empty for people who may not do it; `note` says who can do it, or its progress."""

    text: str
    is_done: bool
    href: str = ""
    note: str = ""


def is_new(access: Access, found: OverviewFigures) -> bool:
    """Check whether the tenant was never connected, or has no members and no doors."""
    line: Connection | None = getattr(access.tenant, "connection", None)
    is_connected = line is not None and line.state != Connection.State.NONE
    return not is_connected or not (found.values["any_member"] or found.values["any_door"])


def setup_steps(access: Access, fresh: Freshness) -> list[SetupStep]:
    """Return the steps for this person's role, in the order in which they are done."""
    return [_connect_step(access), *_load_steps(access, fresh), *_portal_steps(access)]


def _connect_step(access: Access) -> SetupStep:
    line: Connection | None = getattr(access.tenant, "connection", None)
    may = access.can(Permission.CONNECTION_MANAGE)
    return SetupStep(
        _("Connect this tenant to the service"),
        line is not None and line.is_connected,
        url_in_tenant("connection:index", access.tenant.slug) if may else "",
        "" if may else _("An owner can do this."),
    )


_LOADED_KINDS = ((MirrorKind.PASS_CONTROLLERS, Permission.DEVICES_VIEW), (MirrorKind.MEMBERS, Permission.MEMBERS_VIEW))


def _load_steps(access: Access, fresh: Freshness) -> Iterator[SetupStep]:
    for kind, permission in _LOADED_KINDS:
        if access.can(permission):
            text = _("Load the doors") if kind == MirrorKind.PASS_CONTROLLERS else _("Load the members")
            yield SetupStep(text, fresh[kind].as_of is not None, note=_progress_text(fresh[kind]))


def _progress_text(known: KindFreshness) -> str:
    if known.error:
        return known.sentence
    if known.progress:
        return _("loading")
    return _("Starts automatically after connecting.") if known.as_of is None else ""


def _portal_steps(access: Access) -> list[SetupStep]:
    """Return the steps for the portal's own data that this person may set up."""
    slug = access.tenant.slug
    items = [each for each in _portal_items(access) if access.can(each.permission)]
    if not items:
        return []
    columns: dict[str, Any] = {f"has_{each.name}": Exists(each.rows) for each in items}
    done: Any = Tenant.objects.filter(pk=access.tenant.pk).values(**columns).get()
    return [SetupStep(each.text, done[f"has_{each.name}"], url_in_tenant(each.page, slug)) for each in items]


@dataclass(frozen=True)
class _PortalItem:
    """A thing to set up. It is done when `rows` has at least one row."""

    name: str
    text: str
    permission: Permission
    page: str
    rows: QuerySet[Any]


def _portal_items(access: Access) -> tuple[_PortalItem, ...]:
    notified, others = Webhook.objects.filter(is_on=True), Staff.objects.exclude(user=access.user)
    presets, plans = Preset.objects.all(), FloorPlan.objects.all()
    return (
        _PortalItem(
            "webhook",
            _("Switch on notifications from the service"),
            Permission.CONNECTION_MANAGE,
            "connection:index",
            notified,
        ),
        _PortalItem("staff", _("Invite staff"), Permission.STAFF_MANAGE, "staff:index", others),
        _PortalItem("presets", _("Create presets for guests"), Permission.GUESTS_MANAGE, "guests:presets", presets),
        _PortalItem("plans", _("Upload a floor plan"), Permission.PLANS_EDIT, "plans:new", plans),
    )
