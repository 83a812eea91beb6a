"""/console/api/faults: faults for the next calls. Described in docs/sandbox.md."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import Field, ValidationError, field_validator

from sandbox.catalogue import CATALOGUE
from sandbox.errors import invalid, not_found
from sandbox.faults import kinds, store
from sandbox.service.models import Tenant

from . import request_bodies


class FaultBody(request_bodies.RequestBody):
    """The calls that get a fault, and their number; the rest of the body is the fault itself."""

    tenant_id: str = store.EVERYBODY
    operation: int = Field(store.ANY, ge=0, le=kinds.OAUTH[1])
    count: int = Field(1, ge=1, le=1_000_000)

    @field_validator("operation", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if not isinstance(value, str) or value.isdigit():
            return value
        try:
            return CATALOGUE.find(value).number
        except KeyError:
            raise ValueError("no operation has this name") from None


def faults(request: HttpRequest) -> HttpResponse:
    """Return remaining faults (GET ?tenant_id=), add one (POST), or delete them (DELETE ?tenant_id=&id=)."""
    tenant_id = request.GET.get("tenant_id")
    if request.method == "GET":
        return JsonResponse({"faults": store.list_remaining(tenant_id)})
    if request.method == "DELETE":
        identifier = request_bodies.read_number(request, "id") if "id" in request.GET else None
        return JsonResponse({"cleared": store.clear(tenant_id=tenant_id, identifier=identifier)})
    wanted, fault = _read_fault(
        {name: value for name, value in request_bodies.read_object(request).items() if value is not None}
    )
    if wanted.tenant_id and not Tenant.objects.filter(pk=wanted.tenant_id).exists():
        raise not_found("tenant_id")
    return JsonResponse(store.add(fault, **wanted.model_dump()), status=201)


def _read_fault(body: dict[str, Any]) -> tuple[FaultBody, kinds.AnyFault]:
    whom = {name: body.pop(name) for name in FaultBody.model_fields if name in body}
    try:
        return FaultBody.model_validate(whom), kinds.read_fault(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise invalid(f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]) from error
