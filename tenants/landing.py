"""Where somebody begins in a tenant. The site knows its pages; this part only knows that there is a first one."""

from collections.abc import Callable

from tenants.models import Tenant
from tenants.roles import Permission

FirstPage = Callable[[str, frozenset[Permission]], str]


def _bare(slug: str, allowed: frozenset[Permission]) -> str:
    return f"/t/{slug}/"


_first_page: FirstPage = _bare


def register(first_page: FirstPage) -> None:
    """Called once by the site: `first_page(slug, permissions)` is the address of the first page that they open."""
    global _first_page
    _first_page = first_page


def home_of(tenant: Tenant, allowed: frozenset[Permission]) -> str:
    """The address at which somebody with these permissions begins in the tenant."""
    return _first_page(tenant.slug, allowed)
