"""Rows that belong to a tenant, and managers that raise an error without a tenant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.db import models
from django.db.models.signals import class_prepared
from django.db.models.sql import Query
from django.dispatch import receiver

from tenants.scope import NoTenant, WrongTenant, current_scope, current_tenant_id, may_write

M = TypeVar("M", bound="TenantModel")


class TenantQuerySet(models.QuerySet[M]):
    """A queryset whose writes stay inside the current tenant."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        objs = list(objs)
        for obj in objs:
            obj.check_tenant()
        return super().bulk_create(objs, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        objs, fields = list(objs), list(fields)
        if {"tenant", "tenant_id"} & set(fields):
            raise WrongTenant("A row never moves to another tenant.")
        for obj in objs:
            obj.check_tenant()
        return super().bulk_update(objs, fields, *args, **kwargs)

    def update(self, **values: Any) -> int:
        if {"tenant", "tenant_id"} & set(values):
            raise WrongTenant("A row never moves to another tenant.")
        return super().update(**values)


def _all_rows(manager: models.Manager[M]) -> TenantQuerySet[M]:
    return TenantQuerySet(manager.model, using=manager._db, hints=manager._hints)  # type: ignore[attr-defined]  # private to Django


def _rows_of_tenant(manager: models.Manager[M]) -> TenantQuerySet[M]:
    rows = _all_rows(manager)
    rows.query = _query_of_tenant(manager.model, current_tenant_id()).chain()
    return rows


@lru_cache(maxsize=2_000)
def _query_of_tenant(model: type[M], tenant_id: int) -> Query:
    """Return the query that each query on a tenant's rows copies. Building it each time took 5% of a page's time."""
    return TenantQuerySet(model).filter(tenant_id=tenant_id).query


class TenantManager(models.Manager[M]):
    """Rows of the current tenant. Raises NoTenant if there is none, before any query is made."""

    def get_queryset(self) -> TenantQuerySet[M]:
        return _rows_of_tenant(self)

    # Defined here to keep the types, which Manager's proxies lose.
    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        return self.get_queryset().bulk_create(objs, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        return self.get_queryset().bulk_update(objs, fields, *args, **kwargs)


class AcrossTenantsManager(models.Manager[M]):
    """Rows of all tenants, only inside `across_tenants(reason)`. Raises NoTenant elsewhere."""

    def get_queryset(self) -> TenantQuerySet[M]:
        scope = current_scope()
        if scope is None or not scope.across_reason:
            raise NoTenant("Rows of all tenants are read inside across_tenants(reason) only.")
        return _all_rows(self)


class ReachableManager(models.Manager[M]):
    """A manager for Django's own use (save, refresh, foreign keys, deletion).

    It has the rows of the current tenant, or all rows inside `across_tenants`.
    """

    def get_queryset(self) -> TenantQuerySet[M]:
        scope = current_scope()
        return _all_rows(self) if scope is not None and scope.across_reason else _rows_of_tenant(self)


class TenantModel(models.Model):
    """A row of one tenant. Created, read, changed and deleted only while that tenant is entered.

    `objects` raises NoTenant outside of a tenant; `objects_across_tenants` works only inside `across_tenants(reason)`.
    The migration must end with `EnableRowSecurity`. Meta classes of subclasses need not inherit anything.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    tenant_id: int

    objects = TenantManager()
    objects_across_tenants = AcrossTenantsManager()
    reachable_objects = ReachableManager()

    class Meta:
        abstract = True
        base_manager_name = "reachable_objects"
        default_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.check_tenant()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        self.check_tenant()
        return super().delete(*args, **kwargs)

    def check_tenant(self) -> None:
        """Set the current tenant if none is set; raise WrongTenant or NoTenant if this row may not be written."""
        if self.tenant_id is None:
            self.tenant_id = current_tenant_id()
        if not may_write(self.tenant_id):
            if current_scope() is None:
                raise NoTenant(f"A {self._meta.label} was written while no tenant was entered.")
            raise WrongTenant(f"A {self._meta.label} of tenant {self.tenant_id} was written from another tenant.")

    def refresh_from_db(
        self, using: str | None = None, fields: Iterable[str] | None = None, from_queryset: Any = None
    ) -> None:
        if "tenant_id" in self.__dict__:
            self.check_tenant()
        if fields is not None:  # a deferred secret needs it to be decrypted
            fields = [*dict.fromkeys([*fields, "tenant_id"])]
        super().refresh_from_db(using=using, fields=fields, from_queryset=from_queryset)


@receiver(class_prepared)
def _keep_scoped_managers(sender: type[models.Model], **kwargs: Any) -> None:
    """Set the managers again after a model class is created.

    Django takes their names from the first base class, so a mixin before TenantModel would remove the scope.
    """
    if issubclass(sender, TenantModel):
        sender._meta.base_manager_name = "reachable_objects"
        sender._meta.default_manager_name = "objects"
        sender._meta._expire_cache()  # type: ignore[attr-defined]  # private to Django
        for name in ("base_manager", "default_manager"):
            sender._meta.__dict__.pop(name, None)
