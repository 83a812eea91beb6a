"""Logs and what a webhook says of them. Specification: resource "Log (history) record", operation 23,
"Events".
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from accessapi.resources.received import Identifier, Moment, Received, UnitNo, each_readable, words


class HistoryMember(Received):
    id: str | None = None
    name: str | None = None
    type_: str | None = Field(default=None, alias="_type")
    data: str | None = None
    label: str | None = None
    attribute: str | None = None


class HistoryUnit(Received):
    unit_no: UnitNo
    unit_name: str | None = None


class HistoryDevice(Received):
    id: str | None = None
    name: str | None = None
    module: str | None = None
    units: Annotated[list[HistoryUnit], BeforeValidator(each_readable(HistoryUnit))] = Field(default_factory=list)


class History(Received):
    """One log record. Value sets of status, category and member._type are not shown: any text may come."""

    history_id: Identifier
    datetime: Moment | None = None
    status: str | None = None
    category: str | None = words("normal", "operation")
    content: str | None = Field(default=None, alias="_content")
    member: HistoryMember | None = None
    device: HistoryDevice | None = None


class Notification(Received):
    """Body of a webhook notification (published, not specified). A hint to read the histories, never the
    truth.
    """

    history_id: Identifier
    tenant_id: str | None = None
    datetime: Moment | None = None
    event: str | None = None
    event_name: str | None = None
    status: str | None = words("occur", "restore")
    category: str | None = words("normal", "suspicious", "warning", "error", "emergency")
    device_id: str | None = None
    device_name: str | None = None
    device_module: str | None = None
    additional_info: dict[str, Any] | None = None
