"""The areas of work as data, for the sidebar, the phone's bar, the palette and the tenant switcher.

Each area registers its entry in its `signals.py`; `SECTIONS` has its place. It is shown when the person's role has
access, and the service has not refused the contract (`contract`) that it needs. The connection page explains a missing
contract. `kind` names the kind of page: switching tenants opens the entry of the same kind. Entries without a
permission are open to anyone with access to the tenant. `register_count` adds the number of things that need action.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from portal.base.ui.url_lookup import url_in_tenant
from tenants.access import Access, TenantRequest, in_tenant
from tenants.roles import Permission


@dataclass(frozen=True, slots=True)
class Section:
    """A group of the menu that can be folded. `kinds` are its entries in their order, at most seven."""

    name: str
    label: Promise
    kinds: tuple[str, ...]


SECTIONS = (
    Section("today", pgettext_lazy("menu", "Today"), ("home", "building", "rollcall", "alerts", "my_reviews")),
    Section(
        "people",
        pgettext_lazy("menu", "People"),
        ("members", "groups", "guests", "expected", "imports", "changes"),
    ),
    Section("access", pgettext_lazy("menu", "Access"), ("areas", "rights", "explain", "reviews")),
    Section(
        "building",
        pgettext_lazy("menu", "Building"),
        ("devices", "keys", "cameras", "plans", "intercom", "lockdown"),
    ),
    Section("records", pgettext_lazy("menu", "Records"), ("logs", "requests", "evidence", "reports", "audit")),
    Section(
        "settings",
        pgettext_lazy("menu", "Settings"),
        ("connection", "staff", "roles", "alert_rules", "notifications"),
    ),
)
_PLACES = {kind: (place, kind_place) for place, one in enumerate(SECTIONS) for kind_place, kind in enumerate(one.kinds)}
# The phone's bar by role: the first row with a permission that the person has. Missing entries are filled up in the
# menu's order, so custom sets of permissions have four entries as well.
_PHONE_BARS = (
    (Permission.MEMBERS_VIEW, ("home", "members", "devices", "alerts")),
    (Permission.GUESTS_VIEW, ("guests", "building", "intercom", "rollcall")),
    (Permission.DEVICES_VIEW, ("devices", "alerts", "logs", "lockdown")),
)
_PHONE_LINKS = 4


@dataclass(frozen=True, slots=True)
class NavEntry:
    """One area of work.

    `hidden_with`: it is hidden from roles that have this permission, because they see the whole area. `contract`: the
    service's contract that it needs.
    """

    kind: str
    label: str | Promise
    icon: str
    url_name: str
    permission: Permission | None = None
    hidden_with: Permission | None = None
    contract: str = ""

    def is_open_to(self, allowed: frozenset[Permission]) -> bool:
        """Return whether a person with these permissions has this entry."""
        return (self.permission is None or self.permission in allowed) and self.hidden_with not in allowed


@dataclass(frozen=True, slots=True)
class NavLink:
    """An entry with its URL for one request."""

    entry: NavEntry
    href: str
    is_current: bool


ENTRIES: list[NavEntry] = []
COUNTS: dict[str, Callable[[TenantRequest], int]] = {}


def register(*entries: NavEntry) -> None:
    """Add entries to the menu, each at the place that `SECTIONS` has for its kind."""
    ENTRIES.extend(entries)
    ENTRIES.sort(key=lambda entry: _PLACES[entry.kind])


def register_count(kind: str, count: Callable[[TenantRequest], int]) -> None:
    """Show beside the entry how many things need action. `count` is called on every page: it must not query."""
    COUNTS[kind] = count


def page_kind_of(request: HttpRequest) -> str:
    """Return the kind of the requested page, or "" for pages of no area.

    Among the entries of the page's app, it is the one whose URL has most in common with the page's.
    """
    match = request.resolver_match
    if match is None or not in_tenant(request):
        return ""
    slug = request.tenant.slug
    urls = {each.kind: url_in_tenant(each.url_name, slug) for each in entries_of(request)}
    root = request.tenant.get_absolute_url()
    above = [
        kind for kind, url in urls.items() if (request.path.startswith(url) and url != root) or url == request.path
    ]
    return max(above, key=lambda kind: len(urls[kind]), default="")


def entries_of(request: TenantRequest) -> list[NavEntry]:
    """Return the entries that the person's role has access to, with any contract."""
    return [entry for entry in ENTRIES if entry.is_open_to(request.access.permissions)]


def links(request: HttpRequest) -> Iterator[NavLink]:
    """Yield the entries that this person has access to in the request's tenant, in the menu's order."""
    if not in_tenant(request):
        return
    current, missing = page_kind_of(request), missing_contracts(request)
    for entry in entries_of(request):
        if entry.contract not in missing:
            yield NavLink(entry, url_in_tenant(entry.url_name, request.tenant.slug), entry.kind == current)


def grouped(found: Iterable[NavLink]) -> Iterator[tuple[Section, list[NavLink]]]:
    """Yield each section of the menu that has links."""
    by_kind = {link.entry.kind: link for link in found}
    for section in SECTIONS:
        if inside := [by_kind[kind] for kind in section.kinds if kind in by_kind]:
            yield section, inside


def phone_links(found: list[NavLink], allowed: frozenset[Permission]) -> list[NavLink]:
    """Return the links of the phone's bar."""
    kinds = _phone_kinds(allowed)
    return sorted(found, key=lambda link: kinds.index(link.entry.kind) if link.entry.kind in kinds else len(kinds))[
        :_PHONE_LINKS
    ]


def _phone_kinds(allowed: frozenset[Permission]) -> tuple[str, ...]:
    return next((kinds for permission, kinds in _PHONE_BARS if permission in allowed), ())


def missing_contracts(request: HttpRequest) -> frozenset[str]:
    """Return the contracts that the tenant lacks, as reported by the service."""
    line = getattr(request.tenant, "connection", None) if in_tenant(request) else None
    return frozenset(line.contracts_refused) if line is not None else frozenset()


def home_of(slug: str, allowed: frozenset[Permission]) -> str:
    """Return the URL of the first page of the tenant `slug` that `allowed` gives access to."""
    return address_of_kind("", slug, allowed)


def home_kind(allowed: frozenset[Permission]) -> str:
    """Return the kind of a role's first page: the overview, or for roles without it the first of the phone's bar."""
    open_kinds = [entry.kind for entry in ENTRIES if entry.is_open_to(allowed)]
    return next((kind for kind in ("home", *_phone_kinds(allowed)) if kind in open_kinds), next(iter(open_kinds), ""))


def address_of_kind(kind: str, slug: str, allowed: frozenset[Permission]) -> str:
    """Return the URL of the tenant's page of this kind, or of the first page that `allowed` gives access to."""
    allowed_entries = {entry.kind: entry for entry in ENTRIES if entry.is_open_to(allowed)}
    chosen = allowed_entries.get(kind) or allowed_entries.get(home_kind(allowed)) or ENTRIES[0]
    return url_in_tenant(chosen.url_name, slug)


# In order of preference: the first one that the person's role has access to.
_ADDRESSES: dict[str, list[tuple[Permission, str]]] = {
    "find": [(Permission.TENANT_VIEW, "find")],
    "banners": [(Permission.TENANT_VIEW, "banners")],
}


def register_address(page: str, permission: Permission, url_name: str) -> None:
    """Offer a page at `url_name` to roles that have `permission` but no access to the whole tenant."""
    if (permission, url_name) not in _ADDRESSES[page]:
        _ADDRESSES[page].append((permission, url_name))


def page_address(page: str, access: Access | None) -> str:
    """Return the URL of the page for this person; "" if the role has access to none."""
    if access is None:
        return ""
    found = (url_name for permission, url_name in _ADDRESSES[page] if access.can(permission))
    url_name = next(found, "")
    return url_in_tenant(url_name, access.tenant.slug) if url_name else ""
