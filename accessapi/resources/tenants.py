"""The tenant and its webhook settings. Specification: resource "Tenant", operations 1 and 2."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from accessapi.resources import received as r
from accessapi.resources import sent as s


class HistoryTrigger(s.SentModel):
    """Categories that notify; the full set of values is not shown, so any non-empty word may be sent."""

    category: list[s.NonEmptyText]


class Trigger(s.SentModel):
    history: HistoryTrigger


class WebhookUpdate(s.SentModel):
    """Body of operation 2. is_invalid true switches notifications off. secret_token signs them."""

    nullable: ClassVar[frozenset[str]] = frozenset({"secret_token"})

    is_invalid: bool
    url: s.Text
    secret_token: s.SecretToken | None = None
    trigger: Trigger


class HolidaySettings(r.ReceivedModel):
    """Days that count as holidays. The maps go from a date YYYY-MM-DD to its name.

    `permissions.holidays` returns the resulting days.
    """

    is_include_public_holiday: bool | None = None
    public_holiday: dict[str, Any] | None = None
    include_date: dict[str, Any] | None = None
    exclude_date: dict[str, Any] | None = None
    weekly: list[str] | None = None


class ReceivedHistoryTrigger(r.ReceivedModel):
    category: list[str] | None = None


class ReceivedTrigger(r.ReceivedModel):
    history: ReceivedHistoryTrigger | None = None


class WebhookSettings(r.ReceivedModel):
    nullable: ClassVar[frozenset[str]] = frozenset({"secret_token"})

    is_invalid: bool | None = None
    url: str | None = None
    secret_token: str | None = None
    trigger: ReceivedTrigger | None = None


_Holiday = Annotated[HolidaySettings, Field(default_factory=HolidaySettings)]
_Webhook = Annotated[WebhookSettings, Field(default_factory=WebhookSettings)]


class Settings(r.ReceivedModel):
    holiday: _Holiday
    webhook: _Webhook


class Tenant(r.ReceivedModel):
    """Answer of operation 1. Missing settings are read as empty."""

    tenant_id: r.Identifier
    tenant_name: str | None = None
    settings: Annotated[Settings, Field(default_factory=lambda: Settings.model_validate({}))]
