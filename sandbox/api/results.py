"""Operation 34: results of asynchronous requests. Kept for 30 days."""

from datetime import timedelta
from typing import Any

from accessapi import limits
from sandbox import clock, state_words
from sandbox.engine import doors
from sandbox.errors import not_found
from sandbox.service.models import BulkRequest, DeviceRequest, FaceRequest

from .call import Call


def request_result(call: Call) -> dict[str, Any]:
    """Return the progress of a face, bulk or device request of this tenant. It is deleted 30 days after creation."""
    call.query()
    now = clock.now()
    wanted = {
        "tenant": call.tenant,
        "request_id": call.identifier("request_id"),
        "at__gt": now - timedelta(days=limits.RESULT_RETENTION_DAYS),
    }
    if bulk := BulkRequest.objects.filter(**wanted).first():
        return _bulk(bulk)
    if face := FaceRequest.objects.filter(**wanted).first():
        return {"request_id": face.request_id, "request_type": "face", "status": face.status}
    if device := DeviceRequest.objects.filter(**wanted).first():
        status = state_words.request_status(doors.status(device, now))
        return {"request_id": device.request_id, "request_type": "device_request", "status": status}
    raise not_found("request_id")


def _bulk(request: BulkRequest) -> dict[str, Any]:
    return {
        "request_id": request.request_id,
        "request_type": "members_bulk",
        "status": request.status,
        "tag": request.tag,
        "result": {
            "member_count": len(request.members),
            "completed_member_count": len(request.results),
            "members": request.results,
        },
    }


HANDLERS = {"request_result": request_result}
