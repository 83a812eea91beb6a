"""Log records and webhook notifications. Specification: resource "Log (history) record", operation 23, "Events"."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from accessapi.resources.received import Identifier, Moment, ReceivedModel, UnitNo, open_text, readable_items


class HistoryMember(ReceivedModel):
    id: str | None = None
    name: str | None = None
    type_: str | None = Field(default=None, alias="_type")
    data: str | None = None
    label: str | None = None
    attribute: str | None = None


class HistoryUnit(ReceivedModel):
    unit_no: UnitNo
    unit_name: str | None = None


class HistoryDevice(ReceivedModel):
    id: str | None = None
    name: str | None = None
    module: str | None = None
    units: Annotated[list[HistoryUnit], BeforeValidator(readable_items(HistoryUnit))] = Field(default_factory=list)


class History(ReceivedModel):
    """One log record. Value sets of status, category and member._type are not shown: any text may come."""

    history_id: Identifier
    datetime: Moment | None = None
    status: str | None = None
    category: str | None = open_text("normal", "operation")
    content: str | None = Field(default=None, alias="_content")
    member: HistoryMember | None = None
    device: HistoryDevice | None = None


class WebhookMessage(ReceivedModel):
    """Body of a webhook notification (published, not specified).

    It is only a reason to read the histories, never trusted data.
    """

    history_id: Identifier
    tenant_id: str | None = None
    datetime: Moment | None = None
    event: str | None = None
    event_name: str | None = None
    status: str | None = open_text("occur", "restore")
    category: str | None = open_text("normal", "suspicious", "warning", "error", "emergency")
    device_id: str | None = None
    device_name: str | None = None
    device_module: str | None = None
    additional_info: dict[str, Any] | None = None
