"""The areas of work as data, for the sidebar, the phone's bar, the palette and the tenant switcher.

Each area registers its entry in its `signals.py`. It is shown when the person's role has access, and the service has
not refused the contract (`contract`) that it needs. The page itself and the connection page explain a missing contract.
`kind` names the kind of page: switching tenants opens the entry of the same kind. Entries without a permission are open
to anyone with access to the tenant.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.functional import Promise

from portal.base.ui.url_lookup import url_in_tenant
from tenants.access import Access, in_tenant
from tenants.roles import Permission


@dataclass(frozen=True, slots=True)
class NavEntry:
    """One area of work. `section` groups entries in the sidebar; `is_in_phone_bar` puts it in the bar of four.

    `hidden_with`: it is hidden from roles that have this permission, because they see the whole area. `contract`: the
    service's contract that it needs.
    """

    kind: str
    label: str | Promise
    icon: str
    url_name: str
    permission: Permission | None = None
    section: str = "work"
    is_in_phone_bar: bool = False
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


def register(*entries: NavEntry) -> None:
    """Add entries to the menu, below those of the apps before."""
    ENTRIES.extend(entries)


def page_kind_of(request: HttpRequest) -> str:
    """Return the kind of the requested page, or "" for pages of no area."""
    match = request.resolver_match
    if match is None:
        return ""
    allowed = request.access.permissions if in_tenant(request) else None
    mine = [each for each in ENTRIES if each.hidden_with is None or (allowed is not None and each.is_open_to(allowed))]
    exact = [entry for entry in mine if entry.url_name == match.view_name]
    same = [entry for entry in mine if entry.url_name.partition(":")[0] == match.namespace]
    return (exact or same or [NavEntry("", "", "", "")])[0].kind


def links(request: HttpRequest) -> Iterator[NavLink]:
    """Yield the entries that this person has access to in the request's tenant."""
    if not in_tenant(request):
        return
    current, missing = page_kind_of(request), missing_contracts(request)
    for entry in ENTRIES:
        if entry.is_open_to(request.access.permissions) and entry.contract not in missing:
            yield NavLink(entry, url_in_tenant(entry.url_name, request.tenant.slug), entry.kind == current)


def missing_contracts(request: HttpRequest) -> frozenset[str]:
    """Return the contracts that the tenant lacks, as reported by the service."""
    line = getattr(request.tenant, "connection", None) if in_tenant(request) else None
    return frozenset(line.contracts_refused) if line is not None else frozenset()


def home_of(slug: str, allowed: frozenset[Permission]) -> str:
    """Return the URL of the first page of the tenant `slug` that `allowed` gives access to."""
    return address_of_kind(ENTRIES[0].kind, slug, allowed)


def address_of_kind(kind: str, slug: str, allowed: frozenset[Permission]) -> str:
    """Return the URL of the tenant's page of this kind, or of the first page that `allowed` gives access to."""
    allowed_entries = [entry for entry in ENTRIES if entry.is_open_to(allowed)]
    of_kind = [entry for entry in allowed_entries if entry.kind == kind]
    chosen = (of_kind or allowed_entries or ENTRIES)[0]
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
