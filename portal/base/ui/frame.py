"""The frame around every page: areas of work, tenant, banners, freshness and API budget.

Other modules (mirror, budget, connections) register their facts in `signals.py`, so that the frame imports none
of them:

- `register_fact("freshness", fn)`: `{"as_of": datetime | None, "last_sync": datetime | None, "refresh_url": str}`
- `register_fact("budget", fn)`:
  `{"meters": [{"label": str, "left": int, "limit": int, "refills_at": datetime | None}]}`
- `register_fact("alerts", fn)`: `{"count": int, "newest": int, "title": str}` of unassigned alerts
- `register_guide(fn)`: `{"page_address": str}` of the guide's page about this page; called outside of tenants too
- `register_banners(fn, rows=rows)`: an iterable of `Banner`; `rows()` returns a queryset; if it is empty, so are they

Each `fn` takes the request, is called at most once a page, and may return None. Except for the guide, it is called only
inside a tenant.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.functional import Promise, cached_property
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, live_updates, nav
from tenants.access import Access, TenantRequest, in_tenant
from tenants.models import SupportSession, Tenant
from tenants.roles import Permission

Fact = Callable[[TenantRequest], Mapping[str, Any] | None]
# The saved choice of `ListChoice` with the groups of the menu that a person has folded.
MENU_CHOICE = "menu"
_facts: dict[str, Fact] = {}
_guide_source: list[Callable[[HttpRequest], Mapping[str, Any] | None]] = []
_banners: dict[str, tuple[Callable[[TenantRequest], Iterable["Banner"]], bool]] = {}


class Rank(IntEnum):
    """The order of banners, the worst first."""

    SUPPORT = 0
    LOCKDOWN = 1
    FORCED = 2
    ALERT = 3
    LEFT_OPEN = 4
    LOST = 5
    ALARM = 6
    HELD = 7
    NOTE = 8


@dataclass(frozen=True, slots=True)
class Banner:
    """A notice above the page that stays visible while scrolling.

    `tone` is `support`, `alarm`, `warning`, `lost` or `note`; `until` shows the minutes left. `action_url` receives a
    POST with `action_fields` as hidden inputs, or is a link with `is_link`. `rank` orders banners. `has_bar`: it
    has a bar; all others share the status line.
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
    rank: Rank = Rank.ALARM
    has_bar: bool = False


def register_fact(name: str, fact: Fact) -> None:
    """Make `fact` the source of the frame's fact `name`; a later registration replaces an earlier one."""
    _facts[name] = fact


def register_guide(source: Callable[[HttpRequest], Mapping[str, Any] | None]) -> None:
    """Make `source` return the guide's page about a page; a later registration replaces an earlier one."""
    _guide_source[:] = [source]


def register_banners(
    source: Callable[[TenantRequest], Iterable[Banner]], *, rows: Callable[[], QuerySet[Any]] | None = None
) -> None:
    """Add a source of banners. With `rows`, a page calls the source only if there is such a row.

    The one statement of the frame checks for rows, so that a page without banners needs no extra query.
    """
    name = f"{source.__module__}.{source.__qualname__}"
    if rows is not None:
        batching.register_query(name, lambda: rows().order_by()[:1])
    _banners[name] = (source, rows is not None)


@dataclass(frozen=True, slots=True)
class AccountLink:
    """A link in the person's menu."""

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
    """Return the banner of every page in a support session: who, why, until when, and how to end it."""
    return Banner(
        "support",
        gettext("Support session: %(who)s in %(tenant)s.") % {"who": session.user, "tenant": tenant.name},
        session.reason,
        icon="lifebuoy",
        until=session.expires_at,
        action=_("End session"),
        action_url=_reverse_in("support:end", tenant.slug, session.pk),
        rank=Rank.SUPPORT,
        has_bar=True,
    )


def _reverse_in(name: str, *args: Any) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


class Frame:
    """The frame of one request. Each part is computed when a template first reads it, so fragments cost nothing."""

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
        return chosen_theme(self.request)

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
        """Return everything that the parts around a page depend on, except the person's name and loaded data.

        These are the tenant's URL and mark, the pages that the person can open, the kind of page, and the theme.
        """
        tenant, access = self.tenant, self.access
        where = (tenant.slug, tenant.name, tenant.colour, self.kind) if tenant is not None else ()
        user = getattr(self.request, "user", None)
        may = (access.permissions, nav.missing_contracts(self.request)) if access is not None else ()
        return where, may, self.folded, bool(user and user.is_authenticated), self.theme

    @cached_property
    def folded(self) -> frozenset[str]:
        """Return the groups of the menu that the person has folded."""
        if not in_tenant(self.request):
            return frozenset()
        rows = batching.load_rows(self.request, "choices")
        return frozenset(name for row in rows if row.table == MENU_CHOICE for name in row.columns)

    @cached_property
    def sections(self) -> list[tuple[nav.Section, list[nav.NavLink], bool]]:
        """Return the groups of the menu, each with its links and whether it is open; that of the page always is."""
        return [
            (section, links, section.name not in self.folded or any(link.is_current for link in links))
            for section, links in nav.grouped(self.links)
        ]

    @cached_property
    def phone_links(self) -> list[nav.NavLink]:
        """Return the links of the phone's bar: those of the person's role."""
        return nav.phone_links(self.links, self.access.permissions) if self.access else []

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return the number of things that need action by kind of page, without zeros."""
        if not in_tenant(self.request):
            return {}
        kinds = [link.entry.kind for link in self.links if link.entry.kind in nav.COUNTS]
        return {kind: number for kind in kinds if (number := nav.COUNTS[kind](self.request))}

    @property
    def counts_json(self) -> str:
        return json.dumps(self.counts)

    @cached_property
    def person_links(self) -> list[AccountLink]:
        """Return the links to the account pages that this site has."""
        return [AccountLink(label, icon, href) for label, icon, name in _ACCOUNT if (href := _reverse(name))]

    @cached_property
    def home_link(self) -> nav.NavLink | None:
        """Return the person's first page in the tenant; None outside of a tenant or if no page is open to them."""
        kind = nav.home_kind(self.access.permissions) if self.access else ""
        links = sorted(self.links, key=lambda link: link.entry.kind != kind)
        return next(iter(links), None)

    @cached_property
    def palette_label(self) -> str | Promise:
        """Return the palette's label: what this person can find here."""
        if self.tenant is None:
            return _("Find a tenant or a page")
        kinds = {link.entry.kind for link in self.links}
        if "members" in kinds:
            return _("Find a member, a door, a page")
        return _("Find a guest, a page") if "guests" in kinds else _("Find a door, a page")

    @cached_property
    def palette_url(self) -> str:
        """Return the palette's URL: that of the tenant, if the person has access to it."""
        return nav.page_address("find", self.access) or _reverse("ui:palette")

    @cached_property
    def banners_url(self) -> str:
        """Return the URL for newer banners; empty outside of a tenant."""
        return nav.page_address("banners", self.access)

    @cached_property
    def banners_version(self) -> str:
        """Return the version of the banners that are shown."""
        contents = [
            (
                each.tone,
                each.rank,
                str(each.title),
                str(each.text),
                each.since,
                each.until,
                str(each.action),
                each.action_url,
            )
            for each in self.banners
        ]
        return live_updates.version_of(contents, self.alerts, self.counts)

    @cached_property
    def banners(self) -> list[Banner]:
        if not in_tenant(self.request):
            return []
        support = self.request.access.support_session
        own = [support_banner(self.request.tenant, support)] if support else []
        for name, (source, is_queried) in _banners.items():
            if not is_queried or batching.load_rows(self.request, name):
                own += source(self.request)
        return sorted(own, key=lambda each: each.rank)

    @property
    def bars(self) -> list[Banner]:
        """Return the banners that have a bar each."""
        return [each for each in self.banners if each.has_bar]

    @property
    def notices(self) -> list[Banner]:
        """Return the banners that share the status line, the worst first."""
        return [each for each in self.banners if not each.has_bar]

    @property
    def more_notices(self) -> int:
        """Return how many notices the status line does not show."""
        return len(self.notices) - 1

    @cached_property
    def alerts(self) -> Mapping[str, Any] | None:
        """Return how many alerts are unassigned and which is the newest, for the browser's title, sound and notices."""
        return self._fact("alerts")

    @cached_property
    def freshness(self) -> Mapping[str, Any] | None:
        return self._fact("freshness")

    @property
    def freshness_key(self) -> tuple[Any, ...]:
        """Return what the line about freshness depends on, except the times in it."""
        facts = self.freshness or {}
        return facts.get("refresh_url"), bool(facts.get("as_of")), bool(facts.get("last_sync")), self.shows_calls

    @property
    def shows_calls(self) -> bool:
        """Return whether the footer shows calls left and the last sync: to people who may see the connection."""
        return self.access is not None and self.access.can(Permission.CONNECTION_VIEW)

    @cached_property
    def budget(self) -> Mapping[str, Any] | None:
        return self._fact("budget")

    @cached_property
    def help(self) -> Mapping[str, Any] | None:
        """Return the guide's page about this page."""
        return _guide_source[0](self.request) if _guide_source else None

    def _fact(self, name: str) -> Mapping[str, Any] | None:
        fact = _facts.get(name)
        return fact(self.request) if fact and in_tenant(self.request) else None


def frame(request: HttpRequest) -> dict[str, Frame]:
    """Return `frame` for templates; nothing is computed before a template reads it."""
    return {"frame": Frame(request)}


THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
_YEAR = 365 * 24 * 3600


def chosen_theme(request: HttpRequest) -> str:
    """Return `light`, `dark` or `auto` (the device's setting)."""
    user = getattr(request, "user", None)
    saved = getattr(user, "theme", "") if user is not None and user.is_authenticated else ""
    chosen = saved or request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "auto"


def save_preferences(request: HttpRequest, response: HttpResponse) -> None:
    """Save the posted theme or language; ignore other values."""
    offered = {
        "theme": (THEMES, THEME_COOKIE),
        "language": (dict(settings.LANGUAGES), settings.LANGUAGE_COOKIE_NAME),
    }
    for name, (known, cookie) in offered.items():
        chosen = request.POST.get(name, "")
        if chosen in known:
            _save_on_account(request, name, chosen)
            response.set_cookie(
                cookie, chosen, max_age=_YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True
            )


def _save_on_account(request: HttpRequest, field: str, value: str) -> None:
    user = request.user
    if user.is_authenticated and hasattr(user, field):
        setattr(user, field, value)
        user.save(update_fields=[field])


def person_language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Activate the language of the account, if it has one. Place it after AuthenticationMiddleware."""

    def middleware(request: HttpRequest) -> HttpResponse:
        chosen = getattr(request.user, "language", "") if request.user.is_authenticated else ""
        if chosen in dict(settings.LANGUAGES) and chosen != translation.get_language():
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
        return get_response(request)

    return middleware
