"""Asynchronous requests. Specification: resource "Request record", operation 34.

Results are kept for 30 days.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from accessapi.resources.received import Identifier, ReceivedModel, WholeNumber, open_text


class MemberError(ReceivedModel):
    error_code: str | None = None
    error_detail: str | None = None


class BulkItem(ReceivedModel):
    """Result of one member, in the order of the request. member_id is absent for failed members."""

    member_id: str | None = None
    member_name: str | None = None
    status: str | None = open_text("succeeded", "failed")
    error: MemberError | None = None


def _retain_order(value: Any) -> list[Any]:
    # The position identifies the member: an unreadable item must keep its place.
    if not isinstance(value, list):
        raise ValueError("is not a list")
    return [item if isinstance(item, dict) else {"unreadable": item} for item in value]


class BulkResult(ReceivedModel):
    """Result of a bulk request: counts, and the members finished so far. completed counts failures too."""

    member_count: WholeNumber | None = None
    completed_member_count: WholeNumber | None = None
    members: Annotated[list[BulkItem], BeforeValidator(_retain_order)] = Field(default_factory=list)


class RequestRecord(ReceivedModel):
    """Answer of operation 34: the progress of a request.

    `States.outcome_of(request_type, status)` returns the meaning of the status.
    """

    request_id: Identifier
    request_type: str | None = open_text("face", "members_bulk", "device_request")
    status: str | None = open_text(
        "pending", "progress", "completed", "completed_with_errors", "failed", "succeeded", "failed_registered"
    )
    tag: str | None = open_text("create")
    result: BulkResult | None = None
