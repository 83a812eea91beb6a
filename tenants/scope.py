"""The tenant that the running code works for: entered explicitly, kept per thread, never guessed.

Scoped managers (`tenants.models.base`) and PostgreSQL's row security (`tenants.postgresql`) both read it from here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol


class NoTenant(RuntimeError):
    """A tenant's rows were requested while no tenant was entered."""


class WrongTenant(RuntimeError):
    """Code for one tenant used another tenant's rows. Nothing was read or written."""


class TenantLike(Protocol):
    """The attributes of a tenant that entering needs, as `tenants.models.Tenant` has them."""

    @property
    def pk(self) -> Any: ...

    @property
    def slug(self) -> str: ...


@dataclass(frozen=True)
class Scope:
    """One tenant, or (with a reason) all of them. `tenant` is None if only its ID was entered."""

    tenant_id: int | None = None
    tenant: TenantLike | None = None
    across_reason: str = ""


_scope: ContextVar[Scope | None] = ContextVar("tenant_scope", default=None)


def current_scope() -> Scope | None:
    """Return the scope that this thread entered last; None outside of any scope."""
    return _scope.get()


@contextlib.contextmanager
def tenant_scope(tenant: TenantLike | int) -> Iterator[None]:
    """Work for one tenant until the block ends.

    Entering the same tenant again is harmless. Entering another one from inside raises WrongTenant: only code that used
    `across_tenants` first may go from tenant to tenant.
    """
    tenant_id, known = (tenant, None) if isinstance(tenant, int) else (tenant.pk, tenant)
    if tenant_id is None:
        raise NoTenant("A tenant must be saved before it can be entered.")
    outer = _scope.get()
    if outer is not None and outer.tenant_id not in (None, tenant_id):
        raise WrongTenant(f"Tenant {tenant_id} was entered while working for tenant {outer.tenant_id}.")
    if known is None and outer is not None and outer.tenant_id == tenant_id:
        known = outer.tenant
    entered = _scope.set(Scope(tenant_id=tenant_id, tenant=known))
    try:
        yield
    finally:
        _scope.reset(entered)


@contextlib.contextmanager
def across_tenants(reason: str) -> Iterator[None]:
    """Work for all tenants, through `objects_across_tenants`, until the block ends.

    The reason is for readers of the code: why no single tenant can be entered here.
    """
    if not reason.strip():
        raise ValueError("Working across tenants needs a reason.")
    entered = _scope.set(Scope(across_reason=reason))
    try:
        yield
    finally:
        _scope.reset(entered)


def current_tenant_id() -> int:
    """Return the current tenant's ID. Raises NoTenant outside of a tenant, also inside `across_tenants`."""
    scope = _scope.get()
    if scope is None or scope.tenant_id is None:
        raise NoTenant("No tenant is entered: wrap the work in tenant_scope(tenant).")
    return scope.tenant_id


def may_write(tenant_id: int | None) -> bool:
    """Return whether rows of this tenant may be written in the current scope."""
    scope = _scope.get()
    return scope is not None and (bool(scope.across_reason) or scope.tenant_id == tenant_id)


def row_security_settings() -> tuple[str, str]:
    """Return the values for row security: `portal.tenant` and `portal.across`."""
    scope = _scope.get()
    if scope is None:
        return "", ""
    if scope.across_reason:
        return "", "on"
    return str(scope.tenant_id), ""
