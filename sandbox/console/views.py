"""The control API for tests and demonstrations. Described in docs/sandbox.md."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse

from sandbox import behaviour, clock
from sandbox.engine import physical_actions
from sandbox.errors import ApiError, invalid, not_found
from sandbox.seeding.tenants import copy_tenant, describe
from sandbox.service import models

from . import request_bodies, setup
from .request_bodies import ClientBody, CopyBody, DeviceBody, ResetBody, TenantBody, TokenBody, read_body


def tenants(request: HttpRequest) -> HttpResponse:
    """Return all tenants (GET), or create one with members (POST)."""
    if request.method == "GET":
        rows = models.Tenant.objects.prefetch_related("administrators").order_by("created_at", "pk")
        return JsonResponse({"tenants": [describe(row) for row in rows]})
    try:
        tenant = setup.add_tenant(read_body(request, TenantBody))
    except setup.AlreadyTaken as taken:
        raise ApiError(409, "40900", f"{taken} exists") from taken
    return JsonResponse(describe(tenant), status=201)


def copies(request: HttpRequest) -> HttpResponse:
    """Create copies of a tenant, each with a token (POST)."""
    wanted = read_body(request, CopyBody)
    of, client = _tenant(wanted.tenant_id), setup.own_client()
    made = copy_tenant(of, wanted.number)
    told = [describe(each) | {"access_token": setup.create_token(each, client).access_token} for each in made]
    return JsonResponse({"tenants": told}, status=201)


def clients(request: HttpRequest) -> HttpResponse:
    """Return all clients (GET), or register or change one (POST)."""
    if request.method == "GET":
        rows = models.Client.objects.order_by("client_id")
        return JsonResponse({"clients": [_client(row) for row in rows]})
    client, created = setup.register_client(read_body(request, ClientBody))
    return JsonResponse(_client(client), status=201 if created else 200)


def tokens(request: HttpRequest) -> HttpResponse:
    """Create a token without the code flow (POST)."""
    wanted = read_body(request, TokenBody)
    tenant = _tenant(wanted.tenant_id)
    named = wanted.client_id is not None
    client = models.Client.objects.filter(pk=wanted.client_id).first() if named else setup.own_client()
    if client is None:
        raise not_found("client_id")
    token = setup.create_token(tenant, client, wanted.scopes)
    return JsonResponse({"access_token": token.access_token, "token_id": token.pk}, status=201)


def settings(request: HttpRequest) -> HttpResponse:
    """Return the behaviour (GET ?tenant_id=), or change it (POST {tenant_id?, …}); null means the default."""
    if request.method == "GET":
        tenant_id = request.GET.get("tenant_id", behaviour.ALL_TENANTS)
    else:
        values = request_bodies.read_object(request)
        tenant_id = values.pop("tenant_id", None) or behaviour.ALL_TENANTS
        if tenant_id:
            _tenant(tenant_id)
        try:
            behaviour.save_settings(tenant_id, values)
        except behaviour.UnknownSetting as error:
            raise invalid(str(error)) from error
    return JsonResponse(behaviour.behaviour_of(tenant_id).model_dump())


def commands(request: HttpRequest) -> HttpResponse:
    """Return every accepted physical command, oldest first (GET ?tenant_id=&after=)."""
    rows = _records(models.Command.objects, request)
    return JsonResponse(
        {
            "commands": [
                {
                    "id": row.pk,
                    "tenant_id": row.tenant_id,
                    "at": row.at.astimezone(clock.SERVICE_ZONE).isoformat(),
                    "operation": row.operation,
                    "device_id": row.device_id,
                    "control": row.control,
                    "targets": row.targets,
                    "info": row.info,
                    "request_id": row.request_id,
                }
                for row in rows
            ]
        }
    )


def calls(request: HttpRequest) -> HttpResponse:
    """Return every call with a known token, oldest first (GET ?tenant_id=&operation=&after=)."""
    rows = _records(models.Call.objects, request)
    if "operation" in request.GET:
        rows = rows.filter(operation=request_bodies.read_number(request, "operation"))
    fields = ("id", "tenant_id", "token_id", "at", "operation", "status")
    found = [row | {"at": row["at"].astimezone(clock.SERVICE_ZONE).isoformat()} for row in rows.values(*fields)]
    return JsonResponse({"calls": found})


def mails(request: HttpRequest) -> HttpResponse:
    """Return every saved mail with a QR code, oldest first (GET ?tenant_id=&after=)."""
    fields = ("id", "tenant_id", "at", "email", "recipient_id", "recipient_name", "qr_data", "remarks")
    rows = _records(models.Mail.objects, request).values(*fields)
    return JsonResponse({"mails": [row | {"at": row["at"].astimezone(clock.SERVICE_ZONE).isoformat()} for row in rows]})


def devices(request: HttpRequest) -> HttpResponse:
    """Cut or restore a device's lines, or change a key box's settings (POST {tenant_id, device_id, …})."""
    wanted = read_body(request, DeviceBody)
    change = wanted.model_dump(exclude_none=True, exclude={"tenant_id", "device_id"})
    tenant = _tenant(wanted.tenant_id)
    if not change:
        raise invalid("body: changes nothing")
    boxes = models.KeyBox.objects.filter(tenant=tenant, key_device_id=wanted.device_id)
    lines = {name: on for name, on in change.items() if name in {"has_power", "is_connected"}}
    others = {name: on for name, on in change.items() if name not in lines}
    with behaviour.using_clock_of(tenant.tenant_id), transaction.atomic():
        physical_actions.set_power_and_connection(tenant, wanted.device_id, **lines)
        if others and not boxes.update(**others):
            raise invalid("device_id: is not a key box")
    return JsonResponse({"device_id": wanted.device_id} | change)


def reset(request: HttpRequest) -> HttpResponse:
    """Delete everything, then seed again if tenants are requested (POST {tenants?, members?, seed?})."""
    return JsonResponse({"tenants": [describe(tenant) for tenant in setup.reset(read_body(request, ResetBody))]})


def unknown(request: HttpRequest) -> HttpResponse:
    raise ApiError(404, "40401", "no such control")


def _tenant(tenant_id: str) -> models.Tenant:
    tenant = models.Tenant.objects.filter(pk=tenant_id).first()
    if tenant is None:
        raise not_found("tenant_id")
    return tenant


def _client(client: models.Client) -> dict[str, Any]:
    return {
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "name": client.name,
        "redirect_uris": client.redirect_uris,
        "scopes": client.scopes,
    }


def _records(manager: Any, request: HttpRequest) -> QuerySet[Any]:
    rows: QuerySet[Any] = manager.order_by("id")
    if "tenant_id" in request.GET:
        rows = rows.filter(tenant_id=request.GET["tenant_id"])
    if "after" in request.GET:
        rows = rows.filter(id__gt=request_bodies.read_number(request, "after"))
    return rows
