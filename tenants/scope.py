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
    """A tenant's rows were asked for while no tenant was entered."""


class WrongTenant(RuntimeError):
    """Code working for one tenant reached for another's rows. Nothing was read or written."""


class TenantLike(Protocol):
    """The part of a tenant that entering needs: `tenants.models.Tenant` has it."""

    @property
    def pk(self) -> Any: ...

    @property
    def slug(self) -> str: ...


@dataclass(frozen=True)
class Scope:
    """One tenant, or (with a reason) all of them. `tenant` is None when it was entered by its key alone."""

    tenant_id: int | None = None
    tenant: TenantLike | None = None
    across_reason: str = ""


_scope: ContextVar[Scope | None] = ContextVar("tenant_scope", default=None)


def current_scope() -> Scope | None:
    """Return what this thread entered last; None outside of any scope."""
    return _scope.get()


@contextlib.contextmanager
def tenant_scope(tenant: TenantLike | int) -> Iterator[None]:
    """Work for one tenant until the block ends.

    Entering the same tenant again is harmless; entering another one from inside raises WrongTenant, because the only
    code that may go from tenant to tenant is code that said `across_tenants` first.
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

    The reason is for readers of the code: it must say why no single tenant can be named here.
    """
    if not reason.strip():
        raise ValueError("Working across tenants needs a reason.")
    entered = _scope.set(Scope(across_reason=reason))
    try:
        yield
    finally:
        _scope.reset(entered)


def current_tenant_id() -> int:
    """Return the entered tenant's key. Raises NoTenant outside of a tenant, also inside `across_tenants`."""
    scope = _scope.get()
    if scope is None or scope.tenant_id is None:
        raise NoTenant("No tenant is entered: wrap the work in tenant_scope(tenant).")
    return scope.tenant_id


def may_write(tenant_id: int | None) -> bool:
    """Return whether rows of this tenant may be written from here."""
    scope = _scope.get()
    return scope is not None and (bool(scope.across_reason) or scope.tenant_id == tenant_id)


def row_security_settings() -> tuple[str, str]:
    """Return what row security must see: the values of `portal.tenant` and `portal.across_reason`."""
    scope = _scope.get()
    if scope is None:
        return "", ""
    if scope.across_reason:
        return "", "on"
    return str(scope.tenant_id), ""
