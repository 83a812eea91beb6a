"""The first page that a person sees in a tenant. The site registers it, since it knows the pages."""

from collections.abc import Callable

from tenants.models import Tenant
from tenants.roles import Permission

FirstPage = Callable[[str, frozenset[Permission]], str]


def _tenant_address(slug: str, allowed: frozenset[Permission]) -> str:
    return f"/t/{slug}/"


_first_page: FirstPage = _tenant_address


def register_first_page(first_page: FirstPage) -> None:
    """Register `first_page(slug, permissions)`, which returns the address of the first page.

    The site calls this once.
    """
    global _first_page
    _first_page = first_page


def first_page_of(tenant: Tenant, allowed: frozenset[Permission]) -> str:
    """Return the address of the first page in the tenant for a person with these permissions."""
    return _first_page(tenant.slug, allowed)
