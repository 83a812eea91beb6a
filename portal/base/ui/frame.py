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

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
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

Fact = Callable[[TenantRequest], Mapping[str, Any] | None]
_facts: dict[str, Fact] = {}
_guide_source: list[Callable[[HttpRequest], Mapping[str, Any] | None]] = []
_banners: dict[str, tuple[Callable[[TenantRequest], Iterable["Banner"]], bool]] = {}


@dataclass(frozen=True, slots=True)
class Banner:
    """A line above the page that stays visible while scrolling.

    `tone` is `support`, `alarm`, `lost` or `note`; `until` shows the minutes left. `action_url` receives a POST with
    `action_fields` as hidden inputs, or is a link with `is_link`.
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
        return where, may, bool(user and user.is_authenticated), self.theme

    @cached_property
    def sections(self) -> list[list[nav.NavLink]]:
        names = dict.fromkeys(link.entry.section for link in self.links)
        return [[link for link in self.links if link.entry.section == name] for name in names]

    @cached_property
    def phone_links(self) -> list[nav.NavLink]:
        """Return the links of the phone's bar: at most four, marked areas first."""
        return sorted(self.links, key=lambda link: not link.entry.is_in_phone_bar)[:4]

    @cached_property
    def more_links(self) -> list[nav.NavLink]:
        return [link for link in self.links if link not in self.phone_links]

    @cached_property
    def person_links(self) -> list[AccountLink]:
        """Return the links to the account pages that this site has."""
        return [AccountLink(label, icon, href) for label, icon, name in _ACCOUNT if (href := _reverse(name))]

    @cached_property
    def home_link(self) -> nav.NavLink | None:
        """Return the person's first page in the tenant; None outside of a tenant or if no page is open to them."""
        return next(iter(self.links), None)

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
            (each.tone, str(each.title), str(each.text), each.since, each.until, str(each.action), each.action_url)
            for each in self.banners
        ]
        return live_updates.version_of(contents, self.alerts)

    @cached_property
    def banners(self) -> list[Banner]:
        if not in_tenant(self.request):
            return []
        support = self.request.access.support_session
        own = [support_banner(self.request.tenant, support)] if support else []
        for name, (source, is_queried) in _banners.items():
            if not is_queried or batching.load_rows(self.request, name):
                own += source(self.request)
        return sorted(own, key=lambda each: each.tone == "note")  # notes are last

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
        return facts.get("refresh_url"), bool(facts.get("as_of")), bool(facts.get("last_sync"))

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


#: The named colours of tenants. White text on each has a contrast of at least 4.5:1.
COLOURS = {
    "blue": "#1f5fa8",
    "teal": "#0f6b66",
    "green": "#356b2e",
    "orange": "#a8480f",
    "red": "#a62a2a",
    "pink": "#a3296a",
    "purple": "#6f3a96",
    "indigo": "#4245a0",
    "cyan": "#10667f",
    "yellow": "#7a5a06",
}
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")


@dataclass(frozen=True, slots=True)
class TenantIdentity:
    """A tenant's `colour` (`#rrggbb`), `text_colour` (black or white) and up to two `initials`."""

    name: str
    colour: str
    text_colour: str
    initials: str

    @classmethod
    def of(cls, tenant: Any) -> "TenantIdentity":
        name = str(getattr(tenant, "name", "") or getattr(tenant, "slug", "") or "?")
        own = str(getattr(tenant, "colour", "") or "")
        colour = COLOURS.get(own) or (own if _HEX.match(own) else _by_slug(str(getattr(tenant, "slug", name))))
        return cls(name, colour, text_colour_on(colour), initials(name))


def _by_slug(slug: str) -> str:
    return list(COLOURS.values())[zlib.crc32(slug.encode()) % len(COLOURS)]


def initials(name: str) -> str:
    """Return up to two initials: `Aozora Building` -> AB; `青空ビル` -> 青空. Ignore company forms such as 株式会社."""
    core = re.sub(r"株式会社|有限会社|合同会社|\(株\)|（株）", "", name).strip() or name.strip() or "?"
    words = re.findall(r"\w+", core)
    if core[0].isascii():
        letters = [word[0] for word in words[:2]] if len(words) > 1 else [core[:2]]
        return "".join(letters).upper()[:2]
    return core[:2]


def text_colour_on(colour: str) -> str:
    """Return white or near-black, the one with more contrast on `colour` (`#rrggbb`), by WCAG's luminance."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.055 else "#16181b"


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
