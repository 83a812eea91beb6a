"""/console/: all tenants, the registered clients, and the differences from the defaults."""

from typing import Any, get_args

from django.core.paginator import Page, Paginator
from django.db.models import Count, Model, Q
from django.http import HttpRequest, HttpResponse
from pydantic import Field, field_validator

from accessapi.operations import SCOPES
from sandbox.console import setup
from sandbox.console.request_bodies import ClientBody, Contract, TenantBody
from sandbox.seeding.tenants import describe
from sandbox.service.models import Client, Member, PassController, Settings, Tenant

from . import summary, words
from .actions import FormAction, respond
from .base import console_page, read_text, render
from .forms import FormState, InvalidForm
from .messages import Message

_PAGE, _CLIENTS = 25, 50


class TenantForm(TenantBody):
    """A new tenant's form: it needs a name."""

    name: str = Field(min_length=1, max_length=200)
    # Limited, since a person waits for the page.
    members: int = Field(50, ge=0, le=200_000)


class ClientForm(ClientBody):
    """A client's form: a name, and one address per line."""

    name: str = Field(min_length=1, max_length=200)

    @field_validator("redirect_uris", mode="before")
    @classmethod
    def _lines(cls, value: list[str]) -> list[str]:
        return [line.strip() for text in value for line in text.splitlines() if line.strip()]


@console_page
def index(request: HttpRequest) -> HttpResponse:
    """Return the tenants (GET ?q=&page=), or create one or register a client (POST act=create or register)."""

    def show(forms: dict[str, FormState], status: int) -> HttpResponse:
        return render(request, "tenants", _context(request) | {"forms": forms}, status)

    return respond(request, _ACTIONS, show, words.words_for(request))


def create(said: words.Words, wanted: TenantForm) -> Message:
    """Create a tenant with its building."""
    try:
        tenant = setup.add_tenant(wanted)
    except setup.AlreadyTaken as taken:
        raise InvalidForm.for_field(str(taken), "taken") from taken
    known = describe(tenant)
    access = f"{said['login']} {known['admin_login']} · {said['password']} {known['admin_password']}"
    return Message("good", f"{said['said_created']} · {tenant.name}", access)


def register(said: words.Words, wanted: ClientForm) -> Message:
    """Register a client, or change one."""
    if not wanted.redirect_uris:
        raise InvalidForm.for_field("redirect_uris", "no_uri")
    client, _ = setup.register_client(wanted)
    access = f"{said['client_id']} {client.client_id} · {said['client_secret']} {client.client_secret}"
    return Message("good", f"{said['said_registered']} · {client.name}", access)


_ACTIONS = {"create": FormAction(TenantForm, create), "register": FormAction(ClientForm, register)}


def _context(request: HttpRequest) -> dict[str, Any]:
    query = read_text(request.GET, "q", 80)
    rows = Tenant.objects.prefetch_related("administrators").order_by("created_at", "pk")
    if query:
        named = Q(name__icontains=query) | Q(pk__icontains=query) | Q(administrators__login__icontains=query)
        rows = rows.filter(named).distinct()
    shown: Page[Tenant] = Paginator(rows, _PAGE).get_page(request.GET.get("page"))
    clients = Client.objects.order_by("name", "client_id")
    return {
        "page": "tenants",
        "query": query,
        "shown": shown,
        "rows": _rows(list(shown)),
        "total": Tenant.objects.count(),
        "clients": clients[:_CLIENTS],
        "client_count": clients.count(),
        "all_contracts": get_args(Contract),
        "all_scopes": SCOPES,
        "defaults": TenantForm.model_construct(),
        "glance": summary.summary(),
    }


def _rows(tenants: list[Tenant]) -> list[dict[str, Any]]:
    members, doors = _counts(Member, tenants), _counts(PassController, tenants)
    own = dict(Settings.objects.filter(key__in=[tenant.pk for tenant in tenants]).values_list("key", "values"))
    return [
        {
            "tenant": tenant,
            "access": describe(tenant),
            "members": members.get(tenant.pk, 0),
            "doors": doors.get(tenant.pk, 0),
            "offset": own.get(tenant.pk, {}).get("clock_offset"),
        }
        for tenant in tenants
    ]


def _counts(model: type[Model], tenants: list[Tenant]) -> dict[str, int]:
    rows = model._default_manager.filter(tenant__in=tenants).values("tenant_id").annotate(count=Count("pk"))
    return {row["tenant_id"]: row["count"] for row in rows}
