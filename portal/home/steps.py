"""What to do next in a tenant of which nothing is known yet: a short list of steps, for each role its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, QuerySet
from django.utils.translation import gettext as _

from portal.core.mirror.freshness import Freshness, KindFreshness
from portal.core.mirror.kinds import Kind
from portal.core.ui.addresses import within
from portal.core.visits.models import Preset
from portal.home.figures import Figures
from portal.hooks.models import Webhook
from portal.plans.models import FloorPlan
from tenants.access import Access
from tenants.models import Connection, Staff, Tenant
from tenants.roles import Permission


@dataclass(frozen=True)
class Step:
    """A step. `href` is empty for whoever cannot do it; `note` says who can, or how far it is."""

    text: str
    is_done: bool
    href: str = ""
    note: str = ""


def is_new(access: Access, found: Figures) -> bool:
    """Whether the tenant was never connected, or nothing of it is there."""
    line: Connection | None = getattr(access.tenant, "connection", None)
    is_connected = line is not None and line.state != Connection.State.NONE
    return not is_connected or not (found.told["any_member"] or found.told["any_door"])


def steps(access: Access, fresh: Freshness) -> list[Step]:
    """Return the steps of this person's role, in the order in which they are taken."""
    return [_connect(access), *_load(access, fresh), *_furnish(access)]


def _connect(access: Access) -> Step:
    line: Connection | None = getattr(access.tenant, "connection", None)
    may = access.can(Permission.CONNECTION_MANAGE)
    return Step(
        _("Connect this tenant to the service"),
        line is not None and line.is_connected,
        within("connection:index", access.tenant.slug) if may else "",
        "" if may else _("An owner does this."),
    )


_LOADED = ((Kind.PASS_CONTROLLERS, Permission.DEVICES_VIEW), (Kind.MEMBERS, Permission.MEMBERS_VIEW))


def _load(access: Access, fresh: Freshness) -> Iterator[Step]:
    for kind, permission in _LOADED:
        if access.can(permission):
            words = _("Load the doors") if kind == Kind.PASS_CONTROLLERS else _("Load the members")
            yield Step(words, fresh[kind].as_of is not None, note=_how_far(fresh[kind]))


def _how_far(known: KindFreshness) -> str:
    if known.error:
        return known.sentence
    if known.running:
        return _("loading")
    return _("Starts by itself once connected.") if known.as_of is None else ""


def _furnish(access: Access) -> list[Step]:
    """What the portal itself keeps, for those who may set it up."""
    slug = access.tenant.slug
    wanted = [each for each in _furnishing(access) if access.can(each.may)]
    if not wanted:
        return []
    columns: dict[str, Any] = {f"has_{each.name}": Exists(each.rows) for each in wanted}
    done: Any = Tenant.objects.filter(pk=access.tenant.pk).values(**columns).get()
    return [Step(each.text, done[f"has_{each.name}"], within(each.page, slug)) for each in wanted]


@dataclass(frozen=True)
class _Furnishing:
    """Something to set up: done when there is one of `rows`."""

    name: str
    text: str
    may: Permission
    page: str
    rows: QuerySet[Any]


def _furnishing(access: Access) -> tuple[_Furnishing, ...]:
    notified, others = Webhook.objects.filter(is_on=True), Staff.objects.exclude(user=access.user)
    presets, plans = Preset.objects.all(), FloorPlan.objects.all()
    return (
        _Furnishing(
            "webhook",
            _("Switch on notifications from the service"),
            Permission.CONNECTION_MANAGE,
            "connection:index",
            notified,
        ),
        _Furnishing("staff", _("Invite staff"), Permission.STAFF_MANAGE, "staff:index", others),
        _Furnishing("presets", _("Create presets for guests"), Permission.GUESTS_MANAGE, "guests:presets", presets),
        _Furnishing("plans", _("Upload a floor plan"), Permission.PLANS_EDIT, "plans:new", plans),
    )
