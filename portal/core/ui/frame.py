"""What surrounds every page: areas of work, tenant, banners, freshness and budget.

Parts that know such facts (mirror, budget, connections) register them here from their `AppConfig.ready()`, so that the
frame imports none of them:

- `register_fact("freshness", fn)`: `{"as_of": datetime | None, "last_sync": datetime | None, "refresh_url": str}`
- `register_fact("budget", fn)`: `{"meters": [{"label": str, "left": int, "limit": int,
"refills_at": datetime | None}]}`
- `register_fact("alerts", fn)`: `{"count": int, "newest": int, "title": str}` of what waits for somebody
- `register_guide(fn)`: `{"page_address": str}` of the guide's page about this page; asked outside of tenants too
- `register_banners(fn, rows=rows)`: an iterable of `Banner`; `rows()` gives a queryset without which there is none

Each `fn` takes the request, is called at most once a page, the others only inside a tenant, and may return None.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise, cached_property
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from portal.core.ui import batching, live_updates, nav, preferences
from tenants.access import Access, TenantRequest, in_tenant
from tenants.models import SupportSession, Tenant

Fact = Callable[[TenantRequest], Mapping[str, Any] | None]
_facts: dict[str, Fact] = {}
_guide_source: list[Callable[[HttpRequest], Mapping[str, Any] | None]] = []
_banners: dict[str, tuple[Callable[[TenantRequest], Iterable["Banner"]], bool]] = {}


@dataclass(frozen=True, slots=True)
class Banner:
    """A line above the page that scrolling never hides.

    `tone` is `support`, `alarm`, `lost` or `note`; `until` shows the minutes left; `action_url` is posted to, with
    `action_fields` as hidden inputs, unless `is_link` makes it a link.
    """

    tone: str
    title: str | Promise
    text: str | Promise = ""
    icon: str = "alert-triangle"
    since: datetime | None = None
    until: datetime | None = None
    action: str | Promise = ""
    action_url: str = ""
    is_link: bool = False
    action_fields: Mapping[str, str] = field(default_factory=dict)


def register_fact(name: str, fact: Fact) -> None:
    """Make `fact` the source of the frame's fact `name`; a second registration replaces the first."""
    _facts[name] = fact


def register_guide(source: Callable[[HttpRequest], Mapping[str, Any] | None]) -> None:
    """Make `source` tell where the guide is about a page; a second registration replaces the first."""
    _guide_source[:] = [source]


def register_banners(
    source: Callable[[TenantRequest], Iterable[Banner]], *, rows: Callable[[], QuerySet[Any]] | None = None
) -> None:
    """Add a source of banners. With `rows`, the rows it is about: a page without any does not ask the source.

    Whether there are any is asked in the one statement of the frame, so that a quiet day costs no query of its own.
    """
    name = f"{source.__module__}.{source.__qualname__}"
    if rows is not None:
        batching.register_query(name, lambda: rows().order_by()[:1])
    _banners[name] = (source, rows is not None)


@dataclass(frozen=True, slots=True)
class AccountLink:
    """A line of the person's menu."""

    label: str | Promise
    icon: str
    href: str


_ACCOUNT = (
    (_("Two-factor authentication and passkeys"), "shield-lock", "mfa_index"),
    (_("Password"), "key", "account_change_password"),
    (_("Signed-in devices"), "devices", "usersessions_list"),
)


@cache
def _reverse(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def support_banner(tenant: Tenant, session: SupportSession) -> Banner:
    """What stands on every page of a support session: who, why, until when, and how to end it."""
    return Banner(
        "support",
        gettext("Support session: %(who)s in %(tenant)s.") % {"who": session.user, "tenant": tenant.name},
        session.reason,
        icon="lifebuoy",
        until=session.expires_at,
        action=_("End session"),
        action_url=_reverse_in("support:end", tenant.slug, session.pk),
    )


def _reverse_in(name: str, *args: Any) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


class Frame:
    """The frame of one request. Everything is worked out when a template first asks: fragments pay for nothing."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @cached_property
    def tenant(self) -> Tenant | None:
        return self.request.tenant if in_tenant(self.request) else None

    @cached_property
    def access(self) -> Access | None:
        return self.request.access if in_tenant(self.request) else None

    @cached_property
    def theme(self) -> str:
        return preferences.theme(self.request)

    @cached_property
    def language(self) -> str:
        return (get_language() or "en")[:2]

    @cached_property
    def kind(self) -> str:
        return nav.page_kind_of(self.request)

    @cached_property
    def links(self) -> list[nav.NavLink]:
        return list(nav.links(self.request))

    @cached_property
    def cache_key(self) -> tuple[Any, ...]:
        """All that the parts around a page follow from, but for the person's name and what was read: the tenant's
        address and mark, what is open to the person, the kind of page, and how pages look.
        """
        tenant, access = self.tenant, self.access
        where = (tenant.slug, tenant.name, tenant.colour, self.kind) if tenant is not None else ()
        user = getattr(self.request, "user", None)
        may = (access.permissions, nav.missing_contracts(self.request)) if access is not None else ()
        return where, may, bool(user and user.is_authenticated), self.theme

    @cached_property
    def sections(self) -> list[list[nav.NavLink]]:
        names = dict.fromkeys(link.entry.section for link in self.links)
        return [[link for link in self.links if link.entry.section == name] for name in names]

    @cached_property
    def phone_links(self) -> list[nav.NavLink]:
        """The phone's bar: at most four, the areas marked for it first."""
        return sorted(self.links, key=lambda link: not link.entry.is_in_phone_bar)[:4]

    @cached_property
    def more_links(self) -> list[nav.NavLink]:
        return [link for link in self.links if link not in self.phone_links]

    @cached_property
    def person_links(self) -> list[AccountLink]:
        """The account's own pages, those that this site has."""
        return [AccountLink(label, icon, href) for label, icon, name in _ACCOUNT if (href := _reverse(name))]

    @cached_property
    def home_link(self) -> nav.NavLink | None:
        """Where this person begins in the tenant; None outside of one, and where nothing is open to them."""
        return next(iter(self.links), None)

    @cached_property
    def palette_label(self) -> str | Promise:
        """What the palette finds here for this person."""
        if self.tenant is None:
            return _("Find a tenant or a page")
        kinds = {link.entry.kind for link in self.links}
        if "members" in kinds:
            return _("Find a member, a door, a page")
        return _("Find a guest, a page") if "guests" in kinds else _("Find a door, a page")

    @cached_property
    def palette_url(self) -> str:
        """Where the palette asks: in the tenant, if the person may ask there at all."""
        return nav.page_address("find", self.access) or _reverse("ui:palette")

    @cached_property
    def banners_url(self) -> str:
        """Where the page asks for newer banners; empty outside of a tenant."""
        return nav.page_address("banners", self.access)

    @cached_property
    def banners_version(self) -> str:
        """What the banners shown are known by."""
        shown = [
            (each.tone, str(each.title), str(each.text), each.since, each.until, str(each.action), each.action_url)
            for each in self.banners
        ]
        return live_updates.version_of(shown, self.alerts)

    @cached_property
    def banners(self) -> list[Banner]:
        if not in_tenant(self.request):
            return []
        support = self.request.access.support_session
        own = [support_banner(self.request.tenant, support)] if support else []
        for name, (source, asked) in _banners.items():
            if not asked or batching.load_rows(self.request, name):
                own += source(self.request)
        return sorted(own, key=lambda each: each.tone == "note")  # what alarms stands above what can wait

    @cached_property
    def alerts(self) -> Mapping[str, Any] | None:
        """How many alerts wait and which is the newest, for title, sound and notifications of the browser."""
        return self._fact("alerts")

    @cached_property
    def freshness(self) -> Mapping[str, Any] | None:
        return self._fact("freshness")

    @property
    def freshness_key(self) -> tuple[Any, ...]:
        """What the line about freshness follows from, but for the moments it tells."""
        told = self.freshness or {}
        return told.get("refresh_url"), bool(told.get("as_of")), bool(told.get("last_sync"))

    @cached_property
    def budget(self) -> Mapping[str, Any] | None:
        return self._fact("budget")

    @cached_property
    def help(self) -> Mapping[str, Any] | None:
        """Where the guide tells about this page."""
        return _guide_source[0](self.request) if _guide_source else None

    def _fact(self, name: str) -> Mapping[str, Any] | None:
        fact = _facts.get(name)
        return fact(self.request) if fact and in_tenant(self.request) else None


def frame(request: HttpRequest) -> dict[str, Frame]:
    """Adds `frame`, which works nothing out before a template asks for it."""
    return {"frame": Frame(request)}
