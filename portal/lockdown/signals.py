"""Register the lockdowns' banners, button, settings and timers."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy, pgettext_lazy

from portal.base.ui import frame, nav, panels
from portal.base.ui.frame import Banner, Rank
from portal.base.ui.nav import NavEntry
from portal.base.ui.value_words import add_brackets, join_sentences
from portal.devices import door_orders
from portal.domain.safety import rules
from portal.lockdown.actions import SETTINGS_RULE
from portal.lockdown.door_outcomes import ORDERS
from portal.lockdown.lockdown_pages import LockdownPage
from portal.lockdown.models import Lockdown, State
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def lockdown_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield banners for active orders, and for orders that wait for a second person.

    Everyone in the tenant sees active orders. People with access to doors also see the progress. Only people who may
    confirm see the waiting ones.
    """
    rows = open_orders().select_related("started_by", "by", "confirmed_by", "tenant__environment").order_by("pk")
    for order in rows:
        if order.state == State.ACTIVE:
            yield _active_banner(request, order)
        elif request.access.can(Permission.LOCKDOWN):
            yield _waiting_banner(request, order)


def open_orders() -> QuerySet[Lockdown]:
    """Return the orders that are active or wait for a second person."""
    return Lockdown.objects.filter(Q(state=State.ACTIVE) | Q(state=State.REQUESTED, confirm_by__gt=Now()))


def _active_banner(request: TenantRequest, order: Lockdown) -> Banner:
    sees_doors, kind = request.access.can(Permission.DEVICES_VIEW), order.get_kind_display()
    if not sees_doors:
        text, since = _started_by_text(order), order.started_at
        return Banner("alarm", f"{kind}.", text, icon="lock", since=since, rank=Rank.LOCKDOWN, has_bar=True)
    page = LockdownPage(order)
    text = f"{page.headline} {add_brackets(page.uncertainty)}" if page.uncertainty else page.headline
    return Banner(
        "alarm",
        _("%(order)s: %(said)s.") % {"order": kind, "said": text},
        join_sentences([_started_by_text(order), page.blocked_reason]),
        icon="lock-open" if order.is_evacuation else "lock",
        since=order.started_at,
        action=_("Show outcome"),
        action_url=reverse("lockdown:page", args=[request.tenant.slug, order.pk]),
        is_link=True,
        rank=Rank.LOCKDOWN,
        has_bar=True,
    )


def _waiting_banner(request: TenantRequest, order: Lockdown) -> Banner:
    is_mine = order.started_by == request.user
    return Banner(
        "alarm",
        _("%(who)s needs a second confirmation: %(order)s.")
        % {"who": order.started_by, "order": order.get_kind_display()},
        _("Nothing sent yet."),
        since=order.started_at,
        until=order.confirm_by,
        action=_("Show outcome") if is_mine else _("Confirm…"),
        action_url=reverse("lockdown:page", args=[request.tenant.slug, order.pk]),
        is_link=True,
        rank=Rank.LOCKDOWN,
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


nav.register(
    NavEntry("lockdown", gettext_lazy("Lockdowns"), "lock", "lockdown:index", Permission.DEVICES_VIEW, contract="door")
)
frame.register_banners(lockdown_banners, rows=lambda: open_orders().only("pk"))
panels.register("devices", draw_button)
rules.register(SETTINGS_RULE)
door_orders.register(ORDERS, lambda: Lockdown.objects.filter(state=State.ACTIVE))


register_subject("lockdown", gettext_lazy("Lockdowns"), "lockdown evacuation relock")
register_sentences(
    {
        "lockdown.asked": ngettext_lazy(
            "Lockdown requested, waiting for a second person: %(n)s door",
            "Lockdown requested, waiting for a second person: %(n)s doors",
            "n",
        ),
        "lockdown.started": ngettext_lazy("Lockdown started: %(n)s door", "Lockdown started: %(n)s doors", "n"),
        "lockdown.sent_again": ngettext_lazy(
            "Lockdown sent again: %(n)s door", "Lockdown sent again: %(n)s doors", "n"
        ),
        "lockdown.released": ngettext_lazy("Lockdown released: %(n)s door", "Lockdown released: %(n)s doors", "n"),
        "lockdown.replaced": ngettext_lazy(
            "Lockdown replaced by a newer one: %(n)s door", "Lockdown replaced by a newer one: %(n)s doors", "n"
        ),
        "lockdown.withdrawn": ngettext_lazy(
            "Lockdown not confirmed, nothing sent: %(n)s door", "Lockdown not confirmed, nothing sent: %(n)s doors", "n"
        ),
        "lockdown.rehearsed": ngettext_lazy(
            "Lockdown rehearsed, nothing sent: %(n)s door", "Lockdown rehearsed, nothing sent: %(n)s doors", "n"
        ),
        "evacuation.asked": ngettext_lazy(
            "Evacuation unlock requested, waiting for a second person: %(n)s door",
            "Evacuation unlock requested, waiting for a second person: %(n)s doors",
            "n",
        ),
        "evacuation.started": ngettext_lazy(
            "Evacuation unlock started: %(n)s door", "Evacuation unlock started: %(n)s doors", "n"
        ),
        "evacuation.sent_again": ngettext_lazy(
            "Evacuation unlock sent again: %(n)s door", "Evacuation unlock sent again: %(n)s doors", "n"
        ),
        "evacuation.released": ngettext_lazy(
            "Evacuation unlock released: %(n)s door", "Evacuation unlock released: %(n)s doors", "n"
        ),
        "evacuation.replaced": ngettext_lazy(
            "Evacuation unlock replaced by a newer one: %(n)s door",
            "Evacuation unlock replaced by a newer one: %(n)s doors",
            "n",
        ),
        "evacuation.withdrawn": ngettext_lazy(
            "Evacuation unlock not confirmed, nothing sent: %(n)s door",
            "Evacuation unlock not confirmed, nothing sent: %(n)s doors",
            "n",
        ),
        "evacuation.rehearsed": ngettext_lazy(
            "Evacuation unlock rehearsed, nothing sent: %(n)s door",
            "Evacuation unlock rehearsed, nothing sent: %(n)s doors",
            "n",
        ),
        "relock.started": ngettext_lazy(
            "Locking after an evacuation started: %(n)s door", "Locking after an evacuation started: %(n)s doors", "n"
        ),
        "relock.sent_again": ngettext_lazy(
            "Locking after an evacuation sent again: %(n)s door",
            "Locking after an evacuation sent again: %(n)s doors",
            "n",
        ),
        "relock.released": ngettext_lazy(
            "Locking after an evacuation ended: %(n)s door", "Locking after an evacuation ended: %(n)s doors", "n"
        ),
        "relock.replaced": ngettext_lazy(
            "Locking after an evacuation replaced by a newer one: %(n)s door",
            "Locking after an evacuation replaced by a newer one: %(n)s doors",
            "n",
        ),
        "lockdown.settings": gettext_lazy("Lockdown settings changed"),
        "safety_rule.lockdown": pgettext_lazy("safety rule", "Lockdown settings"),
    }
)
register_targets({"lockdown": gettext_lazy("Lockdown")})
