"""Where the small pages of the frame stand for whom: most people reach them in the tenant, some only within an area.

`find` is what the palette finds, `banners` what stands above every page. An area of work whose people may enter nothing
else of the tenant mounts them once more among its own addresses and says so here.
"""

from portal.core.ui.addresses import within
from tenants.access import Access
from tenants.roles import Permission

# In the order of preference: the first that the person's role opens.
_PLACES: dict[str, list[tuple[Permission, str]]] = {
    "find": [(Permission.TENANT_VIEW, "find")],
    "banners": [(Permission.TENANT_VIEW, "banners")],
}


def also_at(page: str, permission: Permission, url_name: str) -> None:
    """Offer a page at `url_name` to those whose role has `permission` and does not open the whole tenant."""
    if (permission, url_name) not in _PLACES[page]:
        _PLACES[page].append((permission, url_name))


def address(page: str, access: Access | None) -> str:
    """Where this person reaches the page; empty when the role opens no place of it."""
    if access is None:
        return ""
    found = (url_name for permission, url_name in _PLACES[page] if access.can(permission))
    url_name = next(found, "")
    return within(url_name, access.tenant.slug) if url_name else ""
