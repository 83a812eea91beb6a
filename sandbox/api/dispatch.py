"""From an HTTP request to a handler and back: token, allowance, permission, work, record."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare

from accessapi.operations import CallClass, Operation
from sandbox import behaviour, clock, engine
from sandbox.api import cameras, devices, groups, guests, histories, images, keys, members, results, tenant
from sandbox.catalogue import CATALOGUE
from sandbox.faults import store
from sandbox.faults.lines import Broken
from sandbox.service import models

from . import rates
from .call import Call
from .faults import (
    FAILED,
    LICENCE_MISSING,
    LIMITED,
    NOT_FOUND,
    SCOPE_MISSING,
    UNAUTHORISED,
    Fault,
    contract_missing,
    invalid,
)
from .guard import respond
from .routes import Routes

log = logging.getLogger(__name__)

ROUTES = Routes(CATALOGUE)
HANDLERS: dict[str, Callable[[Call], Any]] = {
    **tenant.HANDLERS,
    **members.HANDLERS,
    **images.HANDLERS,
    **keys.HANDLERS,
    **groups.HANDLERS,
    **guests.HANDLERS,
    **histories.HANDLERS,
    **devices.HANDLERS,
    **cameras.HANDLERS,
    **results.HANDLERS,
}


def answer(request: HttpRequest) -> HttpResponse:
    """Answers any address that is not the console's or OAuth's. Raises Fault before the token is known."""
    found = ROUTES.find(request.method or "", _raw_path(request))
    if found is None:
        raise Fault(404, NOT_FOUND, "no such operation")
    operation, path = found
    token = _token(request)
    mishap = store.take(token.tenant_id, operation.number)
    instead = mishap.before(request, operation.number)
    ways = behaviour.of(token.tenant_id)
    with clock.moved(ways.clock_offset):
        call = Call(request, operation, path, token, token.tenant, ways, clock.now())
        response = _counted(call, instead) if mishap.counted or instead is None else instead
        _record(call, response)
    if ways.request_latency:
        time.sleep(ways.request_latency)
    return mishap.after(request, operation.number, response)


def _counted(call: Call, instead: HttpResponse | None) -> HttpResponse:
    """The answer, or the one in its place, with what is left of the token's calls."""
    allowance = rates.take(call.token.pk, call.operation.call_class, call.behaviour, call.at)
    response = _work(call, allowed=allowance.allowed) if instead is None else instead
    for name, value in allowance.headers().items():
        response[name] = value
    return response


def _record(call: Call, response: HttpResponse) -> None:
    models.Call.objects.create(
        tenant_id=call.token.tenant_id,
        token_id=call.token.pk,
        at=call.at,
        operation=call.operation.number,
        # A call that the service never saw was answered nothing at all.
        status=0 if isinstance(response, Broken) else response.status_code,
    )


def _work(call: Call, *, allowed: bool) -> HttpResponse:
    try:
        if not allowed:
            raise Fault(429, LIMITED, f"the limit of {call.operation.call_class} calls is reached")
        _permit(call)
        handler = HANDLERS.get(call.operation.name)
        if handler is None:
            raise Fault(404, NOT_FOUND, f"{call.operation.title} is not offered")
        # Commands and statuses of devices wait for no queue: a door must not stand behind a bulk request.
        if call.operation.call_class is not CallClass.DEVICE:
            engine.advance(call.tenant)
        value = handler(call)
    except Fault as fault:
        return respond(fault)
    except (SuspiciousOperation, BadRequest):
        # What Django itself will not read, such as a query of a thousand parameters.
        return respond(invalid("the request cannot be read"))
    except Exception:
        log.exception("%s failed", call.operation.name)
        return respond(Fault(500, FAILED, "the service failed"))
    return value if isinstance(value, HttpResponse) else JsonResponse(value)


def _raw_path(request: HttpRequest) -> str:
    # Django decodes the path; an identifier may hold an encoded slash, so the line as it came decides.
    raw: str = request.META.get("RAW_URI", request.path)
    return raw.partition("?")[0] if raw.startswith("/") else request.path


def _token(request: HttpRequest) -> models.AccessToken:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not value or "\0" in value:
        raise Fault(401, UNAUTHORISED, "Authorization must carry Bearer and an access token")
    tokens = models.AccessToken.objects.select_related("tenant")
    found = tokens.filter(access_token=value, ended_at=None).first()
    if found is None:
        raise Fault(401, UNAUTHORISED, "the access token is unknown or revoked")
    return found


def _permit(call: Call) -> None:
    """Scope, contract and licence of the operation. Raises 403."""
    row: Operation = call.operation
    if row.scope and row.scope not in call.token.scopes:
        raise Fault(403, SCOPE_MISSING, f"the scope {row.scope} is missing")
    if row.contract and not call.tenant.has(row.contract):
        raise contract_missing(row.contract)
    if row.licence:
        key = call.request.headers.get("License-Key", "")
        if not key or not call.tenant.has("licence") or not constant_time_compare(key, call.tenant.licence_key):
            raise Fault(403, LICENCE_MISSING, "License-Key is missing or not valid for this tenant")
