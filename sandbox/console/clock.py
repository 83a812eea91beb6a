"""/console/api/clock: the time, for all tenants or for one. Described in docs/sandbox.md."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import AwareDatetime, model_validator

from sandbox import behaviour
from sandbox import clock as clocks
from sandbox.errors import invalid, not_found
from sandbox.service.models import Tenant

from . import request_bodies


class ClockBody(request_bodies.RequestBody):
    """One of three: by seconds (back, if negative), to a time, or reset to the real time."""

    tenant_id: str | None = None
    seconds: float | None = None
    at: AwareDatetime | None = None
    reset: bool = False

    @model_validator(mode="after")
    def _one_of_them(self) -> "ClockBody":
        if [self.seconds is not None, self.at is not None, self.reset].count(True) != 1:
            raise ValueError("give seconds, at, or reset: true")
        return self


def clock(request: HttpRequest) -> HttpResponse:
    """Return the tenant's clock (GET ?tenant_id=), or move it (POST {tenant_id?, seconds | at | reset})."""
    if request.method == "GET":
        return _clock_response(request.GET.get("tenant_id", behaviour.ALL_TENANTS))
    move = request_bodies.read_body(request, ClockBody)
    tenant_id = move.tenant_id or behaviour.ALL_TENANTS
    if tenant_id and not Tenant.objects.filter(pk=tenant_id).exists():
        raise not_found("tenant_id")
    try:
        behaviour.move_clock(tenant_id, seconds=move.seconds, at=move.at)
    except behaviour.UnknownSetting as error:
        raise invalid(str(error)) from error
    return _clock_response(tenant_id)


def _clock_response(tenant_id: str) -> HttpResponse:
    offset = behaviour.behaviour_of(tenant_id).clock_offset
    with clocks.shifted(offset):
        shown = {"tenant_id": tenant_id or None, "now": clocks.now().isoformat(), "offset_seconds": offset}
    return JsonResponse(shown)
