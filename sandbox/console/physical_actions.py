"""Actions of people in the building, as JSON: credentials, keys, doors; and their records and notifications.

Described in docs/sandbox.md.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import AfterValidator, AwareDatetime, Field

from accessapi import limits
from sandbox import behaviour, clock
from sandbox.engine import physical_actions, recognition
from sandbox.engine.device_outcomes import DeviceOutcome
from sandbox.errors import ApiError, not_found
from sandbox.service.models import Delivery, Guest, History, Member, Tenant

from . import request_bodies
from .request_bodies import RequestBody, read_body


def _check_storable(value: str) -> str:
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError("holds characters that cannot be kept")
    return value


def _check_moment(value: datetime) -> datetime:
    if not 2000 <= value.year <= 2200:
        raise ValueError("is too far away")
    return value


Moment = Annotated[AwareDatetime, AfterValidator(_check_moment)]
Text = Annotated[str, Field(max_length=10_000), AfterValidator(_check_storable)]


class CredentialBody(RequestBody):
    """A credential that a person shows at a door. `at` is the time, now by default."""

    tenant_id: Text
    device_id: Text
    kind: recognition.CredentialKind
    value: Text
    at: Moment | None = None


class KeyBody(RequestBody):
    """A key that a person takes, returns, or replaces with another one, showing `value` to the box."""

    tenant_id: Text
    key_device_id: Text
    unit_no: Annotated[str, Field(pattern=limits.UNIT_PATTERN)]
    action: Literal["take", "return", "replace"]
    kind: recognition.CredentialKind
    value: Text
    second_factor: bool = True
    at: Moment | None = None


class DoorBody(RequestBody):
    """An action at a door by force."""

    tenant_id: Text
    device_id: Text
    action: Literal["force", "hold", "close"]
    at: Moment | None = None


_DOOR_ACTIONS = {
    "force": physical_actions.force_door,
    "hold": physical_actions.leave_door_open,
    "close": physical_actions.close_door,
}


def present(request: HttpRequest) -> HttpResponse:
    """Show a card, code or face at a door: POST {tenant_id, device_id, kind, value, at?}."""
    wanted = read_body(request, CredentialBody)
    tenant = tenant_of(wanted.tenant_id)
    with behaviour.using_clock_of(tenant.tenant_id):
        return _outcome_response(
            physical_actions.show_credential(tenant, wanted.device_id, wanted.kind, wanted.value, wanted.at)
        )


def keys(request: HttpRequest) -> HttpResponse:
    """Take, return or replace a key (POST).

    Body: {tenant_id, key_device_id, unit_no, action: take | return | replace, kind, value, second_factor?, at?}.
    """
    wanted = read_body(request, KeyBody)
    tenant = tenant_of(wanted.tenant_id)
    move = tenant, wanted.key_device_id, wanted.unit_no, wanted.kind, wanted.value, wanted.at
    with behaviour.using_clock_of(tenant.tenant_id):
        if wanted.action == "take":
            return _outcome_response(physical_actions.take_key(*move, second_factor=wanted.second_factor))
        return _outcome_response(physical_actions.return_key(*move, is_wrong=wanted.action == "replace"))


def doors(request: HttpRequest) -> HttpResponse:
    """Force, hold or close a door: POST {tenant_id, device_id, action: force | hold | close, at?}."""
    wanted = read_body(request, DoorBody)
    tenant = tenant_of(wanted.tenant_id)
    with behaviour.using_clock_of(tenant.tenant_id):
        history = _DOOR_ACTIONS[wanted.action](tenant, wanted.device_id, wanted.at)
    return JsonResponse({"device_id": wanted.device_id, "history": _history(history)})


def persons(request: HttpRequest) -> HttpResponse:
    """Return members and guests, each with their current credentials (GET ?tenant_id=&search=)."""
    tenant = _tenant_of_query(request)
    with behaviour.using_clock_of(tenant.tenant_id):
        found = recognition.search(tenant, _read_text(request, "search"))
        return JsonResponse({"people": [_person(row) for row in found]})


def histories(request: HttpRequest) -> HttpResponse:
    """Return every record, oldest first, also future ones and those that a device holds (GET ?tenant_id=&after=)."""
    rows = History.objects.filter(tenant=_tenant_of_query(request)).order_by("id")
    if "after" in request.GET:
        rows = rows.filter(pk__gt=request_bodies.read_number(request, "after"))
    return JsonResponse({"histories": [_history(row) for row in rows[: limits.PAGE_MAX]]})


def deliveries(request: HttpRequest) -> HttpResponse:
    """Return every notification, oldest first, with its result (GET ?tenant_id=&after=)."""
    rows = Delivery.objects.filter(tenant=_tenant_of_query(request)).order_by("id")
    if "after" in request.GET:
        rows = rows.filter(pk__gt=request_bodies.read_number(request, "after"))
    return JsonResponse({"deliveries": [_delivery(row) for row in rows[: limits.PAGE_MAX]]})


def tenant_of(tenant_id: str) -> Tenant:
    """Return the tenant. Raises ApiError (40401)."""
    tenant = Tenant.objects.filter(pk=tenant_id).first()
    if tenant is None:
        raise not_found("tenant_id")
    return tenant


def _tenant_of_query(request: HttpRequest) -> Tenant:
    if request.method != "GET":
        raise ApiError(405, "40500", "GET only")
    return tenant_of(_read_text(request, "tenant_id"))


def _read_text(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "")


def _outcome_response(outcome: DeviceOutcome) -> HttpResponse:
    person = outcome.person
    return JsonResponse(
        {
            "admitted": outcome.is_admitted,
            "rule": outcome.rule,
            "reason": outcome.reason,
            "person": {"id": person.identifier, "name": person.name} if person else None,
            "history": _history(outcome.history),
        }
    )


def _history(row: History | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "id": row.pk,
        "history_id": row.history_id,
        "datetime": clock.format_moment(row.at),
        "status": row.status,
        "category": row.category,
        "_content": row.content,
        "member": row.member,
        "device": row.device,
        "held_by": row.held_by or None,
    }


def _delivery(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.pk,
        "delivery_id": row.delivery_id,
        "url": row.url,
        "body": row.body,
        "signature": row.signature or None,
        "due_at": row.due_at.astimezone(clock.SERVICE_ZONE).isoformat(),
        "sent_at": row.sent_at and row.sent_at.astimezone(clock.SERVICE_ZONE).isoformat(),
        "status": row.status,
        "error": row.error or None,
    }


def _person(row: Member | Guest) -> dict[str, Any]:
    if isinstance(row, Guest):
        shown = [("qr", row.qr_data)]
        described = {"kind": "guest", "id": row.guest_id, "name": row.name}
    else:
        shown = recognition.credentials(row, clock.now())
        described = {"kind": "member", "id": row.member_id, "name": row.listed["member_name"]}
    return described | {"credentials": [{"kind": kind, "value": value} for kind, value in shown]}
