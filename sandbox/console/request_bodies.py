"""The bodies of the control API."""

import json
import secrets
from typing import Annotated, Any, Literal, TypeVar

from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from accessapi.operations import SCOPES
from sandbox.errors import ApiError, invalid
from sandbox.seeding.guests import SEEDED

ALL_SCOPES = list(SCOPES)
Scope = Literal[SCOPES]  # type: ignore[valid-type]  # Pydantic reads the names
Contract = Literal["door", "key_box", "qr", "face", "licence"]


def _check_storable(value: Any) -> Any:
    """Refuse characters that no text of the database can hold, at any depth."""
    if isinstance(value, str) and any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value):
        raise PydanticCustomError("nul", "holds characters that cannot be kept")
    if isinstance(value, dict):
        list(map(_check_storable, value.values()))
    elif isinstance(value, list):
        list(map(_check_storable, value))
    return value


class RequestBody(BaseModel):
    """A body or form without unknown fields."""

    # Built when first used: most servers never need most of them.
    model_config = ConfigDict(extra="forbid", defer_build=True)

    _texts = field_validator("*", mode="before")(_check_storable)


class TenantBody(RequestBody):
    """A tenant to create; the same seed and tenant_id give the same data."""

    name: str = Field("Test tenant", min_length=1, max_length=200)
    contracts: list[Contract] = ["door", "key_box", "qr", "face", "licence"]
    members: int = Field(0, ge=0, le=1_000_000)
    guests: int = Field(SEEDED, ge=0, le=100_000)
    seed: str = Field("1", coerce_numbers_to_str=True)
    tenant_id: str | None = Field(None, pattern=r"^[A-Za-z0-9_-]{1,64}$")
    admin_login: str | None = Field(None, min_length=1, max_length=254)
    admin_password: str | None = Field(None, min_length=1, max_length=200)


class CopyBody(RequestBody):
    """A tenant to copy, and the number of copies."""

    tenant_id: str
    number: int = Field(1, ge=1, le=100)


class ClientBody(RequestBody):
    """A registration: system name, redirect URIs, scopes."""

    name: str = Field("Test client", min_length=1, max_length=200)
    redirect_uris: list[Annotated[str, Field(min_length=1, max_length=2000)]] = Field([], max_length=100)
    scopes: list[Scope] = ALL_SCOPES
    client_id: str | None = Field(None, pattern=r"^[A-Za-z0-9_-]{1,80}$")
    client_secret: str | None = Field(None, min_length=1, max_length=120)


class TokenBody(RequestBody):
    """A token for a tenant; without scopes, those of the client."""

    tenant_id: str
    client_id: str | None = None
    scopes: list[Scope] | None = None


class DeviceBody(RequestBody):
    """A device's lines to cut or restore, and the member site's settings of a key box."""

    tenant_id: str
    device_id: str
    has_power: bool | None = None
    is_connected: bool | None = None
    guest_keys_enabled: bool | None = None
    temporary_use_enabled: bool | None = None


class ResetBody(RequestBody):
    """The data to create after everything was deleted."""

    tenants: int = Field(0, ge=0, le=1000)
    members: int = Field(0, ge=0, le=1_000_000)
    seed: int = 1


T = TypeVar("T", bound=RequestBody)


def read_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object of a POST.

    Only JSON is accepted, because a page of another site cannot send it without the user's consent.
    """
    if request.method != "POST":
        raise ApiError(405, "40500", "GET or POST")
    if request.content_type != "application/json":
        raise ApiError(415, "41500", "the body must be application/json")
    try:
        value = json.loads(request.body or b"{}")
    except ValueError:
        raise invalid("body: not JSON") from None
    if not isinstance(value, dict):
        raise invalid("body: must be an object")
    return value


def read_body(request: HttpRequest, model: type[T]) -> T:
    """Return the body as `model`. Raises 40002 with the field's name."""
    try:
        return model.model_validate(read_object(request))
    except ValidationError as error:
        first = error.errors()[0]
        raise invalid(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def read_number(request: HttpRequest, name: str) -> int:
    """Return a whole number of the query."""
    try:
        return int(request.GET[name])
    except ValueError:
        raise invalid(f"{name}: must be a whole number") from None


def new_identifier(kind: str) -> str:
    return f"{kind}-{secrets.token_urlsafe(24)}"
