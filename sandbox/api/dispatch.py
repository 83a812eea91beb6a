"""Answer a call of the API: check token, rate limit and permission, run the handler, record the call."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import connection
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare

from accessapi.operations import CallClass, Operation
from sandbox import behaviour, clock
from sandbox.api import cameras, devices, groups, guests, histories, keys, members, results, tenant
from sandbox.catalogue import CATALOGUE
from sandbox.engine import steps
from sandbox.errors import (
    FAILED,
    LICENCE_MISSING,
    LIMITED,
    NOT_FOUND,
    SCOPE_MISSING,
    UNAUTHORISED,
    ApiError,
    contract_missing,
    invalid,
)
from sandbox.faults import store
from sandbox.faults.broken_connections import Answer, BrokenResponse
from sandbox.service import models

from . import rates
from .call import Call
from .routes import Routes

log = logging.getLogger(__name__)

#: Every call is recorded. Plain SQL takes a fifth of a model's time.
_INSERT_CALL = "INSERT INTO service_call (tenant_id, token_id, at, operation, status) VALUES (%s, %s, %s, %s, %s)"
_QUERIED_MODELS = ((models.AccessToken, "a"), (models.Tenant, "t"))
Row = TypeVar("Row", models.AccessToken, models.Tenant)

ROUTES = Routes(CATALOGUE)
HANDLERS: dict[str, Callable[[Call], Any]] = {
    **tenant.HANDLERS,
    **members.HANDLERS,
    **keys.HANDLERS,
    **groups.HANDLERS,
    **guests.HANDLERS,
    **histories.HANDLERS,
    **devices.HANDLERS,
    **cameras.HANDLERS,
    **results.HANDLERS,
}


def answer(request: HttpRequest) -> Answer:
    """Answer any address outside of the console and OAuth. Raises ApiError if the token is unknown."""
    found = ROUTES.find(request.method or "", _raw_path(request))
    if found is None:
        raise ApiError(404, NOT_FOUND, "no such operation")
    operation, path = found
    token = _token(request)
    fault = store.take_fault(token.tenant_id, operation.number)
    instead = fault.before(request, operation.number)
    ways = behaviour.behaviour_of(token.tenant_id)
    with clock.shifted(ways.clock_offset):
        call = Call(request, operation, path, token, token.tenant, ways, clock.now())
        response = _with_rate_headers(call, instead) if fault.is_counted or instead is None else instead
        _record(call, response)
    if ways.request_latency:
        time.sleep(ways.request_latency)
    return fault.after(request, operation.number, response)


def _with_rate_headers(call: Call, instead: Answer | None) -> Answer:
    """Return the answer, or a fault's answer, with the token's rate headers."""
    allowance = rates.count_call(call.token.pk, call.operation.call_class, call.behaviour, call.at)
    response = _handle(call, allowed=allowance.is_allowed) if instead is None else instead
    for name, value in allowance.headers().items():
        response[name] = value
    return response


def _record(call: Call, response: Answer) -> None:
    # A call that the service never received has no status.
    status = 0 if isinstance(response, BrokenResponse) else response.status_code
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_CALL, [call.token.tenant_id, call.token.pk, call.at, call.operation.number, status])


def _handle(call: Call, *, allowed: bool) -> HttpResponse:
    try:
        if not allowed:
            raise ApiError(429, LIMITED, f"the limit of {call.operation.call_class} calls is reached")
        _check_permitted(call)
        handler = HANDLERS.get(call.operation.name)
        if handler is None:
            raise ApiError(404, NOT_FOUND, f"{call.operation.title} is not offered")
        # Commands and states of devices skip the queue: a door must not wait for a bulk request.
        if call.operation.call_class is not CallClass.DEVICE:
            steps.advance(call.tenant)
        value = handler(call)
    except ApiError as error:
        return error.as_response()
    except (SuspiciousOperation, BadRequest):
        # Requests that Django itself refuses, such as a query of a thousand parameters.
        return invalid("the request cannot be read").as_response()
    except Exception:
        log.exception("%s failed", call.operation.name)
        return ApiError(500, FAILED, "the service failed").as_response()
    return value if isinstance(value, HttpResponse) else JsonResponse(value)


def _raw_path(request: HttpRequest) -> str:
    # Django decodes the path, but an identifier may hold an encoded slash: use the raw line.
    raw: str = request.META.get("RAW_URI", request.path)
    return raw.partition("?")[0] if raw.startswith("/") else request.path


def _token(request: HttpRequest) -> models.AccessToken:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not value or "\0" in value:
        raise ApiError(401, UNAUTHORISED, "Authorization must carry Bearer and an access token")
    with connection.cursor() as cursor:
        cursor.execute(_token_query(), [value])
        found = cursor.fetchone()
    if found is None:
        raise ApiError(401, UNAUTHORISED, "the access token is unknown or revoked")
    token, tenant = _row(models.AccessToken, found), _row(models.Tenant, found[len(_columns(models.AccessToken)) :])
    token.tenant = tenant
    return token


@cache
def _token_query() -> str:
    """Return the SQL that finds a token and its tenant. Compiled once, since every call runs it."""
    columns = [f"{short}.{field.column}" for model, short in _QUERIED_MODELS for field in _columns(model)]
    return (
        f"SELECT {', '.join(columns)} FROM service_accesstoken a JOIN service_tenant t USING (tenant_id)"  # noqa: S608
        " WHERE a.access_token = %s AND a.ended_at IS NULL"
    )


def _columns(model: type[Model]) -> Any:
    return model._meta.concrete_fields


def _row(model: type[Row], values: Sequence[Any]) -> Row:
    """Return a row of this model from the first of these values, as a queryset would."""
    fields = _columns(model)
    read = [_value(field, value) for field, value in zip(fields, values, strict=False)]
    return model.from_db(connection.alias, [field.attname for field in fields], read)


def _value(field: Any, value: Any) -> Any:
    return field.from_db_value(value, None, connection) if hasattr(field, "from_db_value") else value


def _check_permitted(call: Call) -> None:
    """Raise 403 unless the token has the operation's scope, and the tenant has its contract and licence."""
    row: Operation = call.operation
    if row.scope and row.scope not in call.token.scopes:
        raise ApiError(403, SCOPE_MISSING, f"the scope {row.scope} is missing")
    if row.contract and not call.tenant.has_contract(row.contract):
        raise contract_missing(row.contract)
    if row.needs_licence:
        key = call.request.headers.get("License-Key", "")
        if (
            not key
            or not call.tenant.has_contract("licence")
            or not constant_time_compare(key, call.tenant.licence_key)
        ):
            raise ApiError(403, LICENCE_MISSING, "License-Key is missing or not valid for this tenant")
