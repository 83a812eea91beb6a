"""Show lockdowns on other pages: banners while one is active or waits, and the button on the page of doors."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from portal.base.ui.frame import Banner
from portal.base.ui.value_words import add_brackets, join_sentences
from portal.lockdown.lockdown_page import LockdownPage
from portal.lockdown.models import Lockdown, State
from tenants.access import TenantRequest
from tenants.roles import Permission


def lockdown_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield banners for active orders, and for orders that wait for a second person.

    Everyone in the tenant sees active orders. People with access to doors also see the progress. Only people who may
    confirm see the waiting ones.
    """
    rows = open_orders().select_related("started_by", "by", "confirmed_by", "tenant__environment").order_by("pk")
    for order in rows:
        if order.state == State.STANDING:
            yield _active_banner(request, order)
        elif request.access.can(Permission.LOCKDOWN):
            yield _waiting_banner(request, order)


def open_orders() -> QuerySet[Lockdown]:
    """Return the orders that are active or wait for a second person."""
    return Lockdown.objects.filter(Q(state=State.STANDING) | Q(state=State.ASKED, confirm_by__gt=Now()))


def _active_banner(request: TenantRequest, order: Lockdown) -> Banner:
    sees_doors, kind = request.access.can(Permission.DEVICES_VIEW), order.get_kind_display()
    if not sees_doors:
        return Banner("alarm", f"{kind}.", _started_by_text(order), icon="lock", since=order.started_at)
    sheet = LockdownPage(order)
    said = f"{sheet.headline} {add_brackets(sheet.uncertainty)}" if sheet.uncertainty else sheet.headline
    return Banner(
        "alarm",
        _("%(order)s: %(said)s.") % {"order": kind, "said": said},
        join_sentences([_started_by_text(order), sheet.blocked_reason]),
        icon="lock-open" if order.is_evacuation else "lock",
        since=order.started_at,
        action=_("Show outcome"),
        action_url=reverse("lockdown:page", args=[request.tenant.slug, order.pk]),
        is_link=True,
    )


def _waiting_banner(request: TenantRequest, order: Lockdown) -> Banner:
    is_mine = order.started_by == request.user
    return Banner(
        "alarm",
        _("%(who)s asks for a second person: %(order)s.")
        % {"who": order.started_by, "order": order.get_kind_display()},
        _("Nothing has been sent yet."),
        since=order.started_at,
        until=order.confirm_by,
        action=_("Show outcome") if is_mine else _("Confirm…"),
        action_url=reverse("lockdown:page", args=[request.tenant.slug, order.pk]),
        is_link=True,
    )


def _started_by_text(order: Lockdown) -> str:
    who = _("Started by %(who)s.") % {"who": order.started_by}
    if order.confirmed_by is None:
        return who
    return join_sentences([who, _("Confirmed by %(who)s.") % {"who": order.confirmed_by}])


def draw_button(request: TenantRequest) -> SafeString:
    """Return the button that leads to a lockdown of doors; empty for people who may not start one."""
    if not request.access.can(Permission.LOCKDOWN):
        return SafeString("")
    return render_to_string("lockdown/button.html", {"request": request})
