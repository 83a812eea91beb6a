"""Functions of both the JSON API and the pages: create tenants, register clients, reset."""

from typing import Any

from django.apps import apps
from django.db import IntegrityError, connection, transaction

from sandbox import behaviour, clock
from sandbox.engine import reset_lock
from sandbox.seeding.tenants import analyse, create_tenant, seed
from sandbox.service.models import AccessToken, Administrator, Client, Tenant

from . import request_bodies
from .request_bodies import ClientBody, ResetBody, TenantBody


class AlreadyTaken(Exception):
    """Another tenant has this value already. The text is the name of the field."""


def add_tenant(wanted: TenantBody) -> Tenant:
    """Create a tenant with its building and people, and return it. Raises AlreadyTaken."""
    _check_free(wanted)
    try:
        tenant = create_tenant(**wanted.model_dump())
    except IntegrityError:
        # Another request was quicker.
        _check_free(wanted)
        raise
    analyse(wanted.members)
    return tenant


def register_client(wanted: ClientBody) -> tuple[Client, bool]:
    """Register or change a client. Return it, and whether it is new. An issued secret stays."""
    values: dict[str, Any] = wanted.model_dump(include={"name", "redirect_uris", "scopes"})
    return Client.objects.update_or_create(
        client_id=wanted.client_id or request_bodies.new_identifier("client"),
        defaults=values,
        create_defaults=values | {"client_secret": wanted.client_secret or request_bodies.new_identifier("secret")},
    )


def own_client() -> Client:
    """Return the console's own client."""
    made = {"client_secret": request_bodies.new_identifier("secret"), "name": "Console"}
    return Client.objects.get_or_create(client_id="console", defaults=made)[0]


def create_token(tenant: Tenant, client: Client, scopes: list[str] | None = None) -> AccessToken:
    """Return a new token without the code flow, with these scopes, or those of the client, or all."""
    with behaviour.using_clock_of(tenant.pk):
        return AccessToken.objects.create(
            access_token=request_bodies.new_identifier("token"),
            client=client,
            tenant=tenant,
            scopes=scopes if scopes is not None else client.scopes or request_bodies.ALL_SCOPES,
            issued_at=clock.now(),
        )


def reset(wanted: ResetBody) -> list[Tenant]:
    """Delete everything, then seed again if tenants are requested."""
    tables = ", ".join(model._meta.db_table for model in apps.get_app_config("service").get_models())
    with transaction.atomic(), connection.cursor() as cursor:
        reset_lock.acquire_exclusive()
        cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY")
    return seed(wanted.tenants, wanted.members, wanted.seed)


def _check_free(wanted: TenantBody) -> None:
    if wanted.tenant_id and Tenant.objects.filter(pk=wanted.tenant_id).exists():
        raise AlreadyTaken("tenant_id")
    if wanted.admin_login and Administrator.objects.filter(login=wanted.admin_login).exists():
        raise AlreadyTaken("admin_login")
