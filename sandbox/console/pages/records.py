"""The records of a building: its log, notifications and running requests. By the tenant's clock."""

import json
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import F, Func, IntegerField

from sandbox.catalogue import CATALOGUE
from sandbox.console.pages.words import Words, sentences
from sandbox.engine import doors
from sandbox.service.models import (
    BulkRequest,
    Call,
    Command,
    Delivery,
    DeviceRequest,
    FaceRequest,
    History,
    Mail,
    Tenant,
)

#: The number of shown rows of each kind.
LOGS, OTHERS = 60, 8
_ICONS = {
    "normal": "check",
    "operation": "remote",
    "suspicious": "eye",
    "warning": "alert",
    "error": "power",
    "emergency": "siren",
}


def log(tenant: Tenant, now: datetime, words: Words) -> list[dict[str, Any]]:
    """Return the newest records that the service shows, newest first."""
    rows = History.objects.filter(tenant=tenant, held_by="", at__lte=now).order_by("-at", "-id")[:LOGS]
    return [_log_line(row, words) for row in rows]


def count_held_back(tenant: Tenant) -> int:
    """Return the number of records that are still in devices without a connection."""
    return History.objects.filter(tenant=tenant).exclude(held_by="").count()


def deliveries(tenant: Tenant, words: Words) -> list[dict[str, Any]]:
    """Return the notifications, newest first, with their results."""
    rows = Delivery.objects.filter(tenant=tenant).order_by("-id")[:OTHERS]
    return [{"row": row, "event": _event(row, words), **_answer(row, words)} for row in rows]


def requests(tenant: Tenant, now: datetime, words: Words) -> list[dict[str, Any]]:
    """Return the asynchronous requests, newest first: bulk, faces, device commands."""
    counts = {
        "wanted": Func(F("members"), function="jsonb_array_length", output_field=IntegerField()),
        "done": Func(F("results"), function="jsonb_array_length", output_field=IntegerField()),
    }
    # Each may hold thousands of members, so only the shown ones are counted.
    newest = list(_newest(BulkRequest.objects.filter(tenant=tenant)).values_list("pk", flat=True))
    bulk = BulkRequest.objects.filter(pk__in=newest).annotate(**counts).defer("members", "results")
    faces = FaceRequest.objects.filter(tenant=tenant).select_related("member")
    devices = DeviceRequest.objects.filter(tenant=tenant)
    found = chain(
        (
            _request(row, "members_bulk", row.status, f"{row.tag} {row.done:,} / {row.wanted:,}")
            for row in _newest(bulk)
        ),
        (_request(row, "face", row.status, _name(row)) for row in _newest(faces)),
        (_request(row, "device_request", doors.status(row, now), _command(row, words)) for row in _newest(devices)),
    )
    kinds, states = words["request_types"], words["request_states"]
    return [
        item | {"kind": kinds[item["kind"]], "word": states.get(item["status"], item["status"])}
        for item in sorted(found, key=lambda item: item["at"], reverse=True)[:OTHERS]
    ]


def commands(tenant: Tenant, words: Words) -> list[dict[str, Any]]:
    """Return the physical commands that were accepted, newest first."""
    rows = Command.objects.filter(tenant_id=tenant.pk).order_by("-id")[:OTHERS]
    controls = words["controls"]
    return [
        {"row": row, "control": controls.get(row.control, row.control), "units": " ".join(row.targets)} for row in rows
    ]


def mails(tenant: Tenant) -> list[Mail]:
    """Return the mails that would have been sent, newest first."""
    return list(Mail.objects.filter(tenant=tenant).order_by("-id")[:OTHERS])


def calls(tenant: Tenant) -> list[dict[str, Any]]:
    """Return the calls of the API with a known token, newest first."""
    rows = Call.objects.filter(tenant_id=tenant.pk).order_by("-id")[:OTHERS]
    return [{"row": row, "name": _operation(row.operation), **_result_icon(100 <= row.status < 400)} for row in rows]


def _log_line(row: History, words: Words) -> dict[str, Any]:
    member, device = row.member or {}, row.device or {}
    return {
        "row": row,
        "icon": _ICONS.get(row.category, "dot"),
        "category": words["categories"].get(row.category, row.category),
        "tone": row.category if row.category in _ICONS else "normal",
        "text": sentences.translate_sentence(row.content, words),
        "restored": row.status == "restore",
        "who": member.get("name") or (member.get("data", "")[:40] if member else ""),
        "where": device.get("name", ""),
        "units": " ".join(unit["unit_no"] for unit in device.get("units", [])),
    }


def _event(row: Delivery, words: Words) -> str:
    try:
        return sentences.translate_sentence(
            str(next(CATALOGUE.webhook.read_records(json.loads(row.body)))["event_name"]), words
        )
    except (ValueError, KeyError, TypeError):
        return ""


def _answer(row: Delivery, words: Words) -> dict[str, str]:
    said = words["deliveries"]
    if row.sent_at is None:
        return {"tone": "quiet", "icon": "clock", "word": said["waiting"]}
    if row.status is None:
        return {"tone": "bad", "icon": "cross", "word": said["no_answer"]}
    accepted = row.status < 300
    return _result_icon(accepted) | {"word": said["answered" if accepted else "refused"].format(status=row.status)}


def _result_icon(is_good: bool) -> dict[str, str]:
    return {"tone": "good", "icon": "check"} if is_good else {"tone": "bad", "icon": "cross"}


def _newest(rows: Any) -> Any:
    return rows.order_by("-id")[:OTHERS]


def _request(row: Any, kind: str, status: str, text: str) -> dict[str, Any]:
    tone = "bad" if status.startswith("failed") or status == "timeout" else "good"
    icon = {"bad": "cross", "good": "check"}[tone]
    if status in ("pending", "progress"):
        tone, icon = "quiet", "clock"
    if status == "completed_with_errors":
        tone, icon = "bad", "alert"
    return {
        "at": row.at,
        "id": row.request_id,
        "kind": kind,
        "status": status,
        "text": text,
        "tone": tone,
        "icon": icon,
    }


def _name(row: FaceRequest) -> str:
    return str(row.member.listed["member_name"]) if row.member else ""


def _command(row: DeviceRequest, words: Words) -> str:
    return " ".join([words["controls"].get(row.control, row.control), row.device_id, *row.targets])


def _operation(number: int) -> str:
    found = next((row.name for row in CATALOGUE if row.number == number), "")
    return found or str(number)
