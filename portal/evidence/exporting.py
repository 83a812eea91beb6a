"""Write incidents as signed ZIP files: an offline page, the data, the media, and instructions to check them.

An export is a `SignedArchive`, written into the store. If a worker is killed, its file has no reference and is deleted,
and the export is written again. A time stamp of an authority (RFC 3161), if one is configured, proves that the manifest
existed at that time.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import structlog
from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override
from rfc3161_client import HashAlgorithm, PKIStatus, TimestampRequestBuilder, decode_timestamp_response

from accessapi.errors import ServiceError
from accessapi.transport import ConnectionPool, ServiceTransport
from portal.base.files.writing import render_csv_lines
from portal.base.storage import store
from portal.base.storage.signed_archive import SignedArchive
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.times import local
from portal.evidence.items import ItemWords, items_of, words_of
from portal.evidence.models import Export, Incident, Item
from tenants.models import current_tenant

log = structlog.get_logger(__name__)
# Limits of the whole answer, even if it is slow; a time stamp with all certificates has about 6 KB.
_ANSWER_SECONDS, _ANSWER_MAX = 15.0, 256 * 1024
_HEADERS = {
    "Content-Type": "application/timestamp-query",
    "Accept": "application/timestamp-reply",
    "Accept-Encoding": "identity",
}
MOST_TRIES = 3
# Longer than the task's time limit: after it, the worker must have died.
_LEASE = timedelta(seconds=330)
_SUFFIXES = {"video/mp4": "mp4", "video/webm": "webm", "video/mp2t": "ts", "image/jpeg": "jpg", "image/png": "png"}
_BOM = "\ufeff".encode()


class NotStamped(Exception):
    """The error if the authority returns no usable time stamp."""


def has_stamp_authority() -> bool:
    return bool(settings.TIME_STAMP_URL)


def request_stamp(message: bytes) -> bytes:
    """Return the authority's answer for a message, as DER for `openssl ts -verify`. Raises NotStamped."""
    request = TimestampRequestBuilder().data(message).hash_algorithm(HashAlgorithm.SHA256).build()
    try:
        answer = _post(request.as_bytes())
        response = decode_timestamp_response(answer)
        granted = response.status in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)
        if not granted or response.tst_info.nonce != request.nonce:
            raise NotStamped
        if response.tst_info.message_imprint.message != request.message_imprint.message:
            raise NotStamped
    except (ServiceError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        log.warning("evidence_not_stamped", error=type(error).__name__)
        raise NotStamped from None
    return answer


def _post(request: bytes) -> bytes:
    """Return the authority's answer, limited in size and time and without redirects. Raises NotStamped."""
    pool = ConnectionPool(max_idle=0)
    try:
        wire = ServiceTransport(
            pool, read_seconds=_ANSWER_SECONDS, answer_seconds=_ANSWER_SECONDS, answer_max=_ANSWER_MAX
        )
        answer = wire.handle_request(httpx2.Request("POST", settings.TIME_STAMP_URL, headers=_HEADERS, content=request))
    finally:
        pool.close()
    if answer.status_code != 200:
        log.warning("evidence_not_stamped", status=answer.status_code)
        raise NotStamped
    return answer.content


@dataclass(frozen=True)
class ExportRow:
    """An item with its number, and the path of its file in the export ("" without a file)."""

    number: int
    words: ItemWords
    path: str

    @property
    def item(self) -> Item:
        return self.words.item


def write_export(export_id: int) -> None:
    """Write a waiting export of the tenant in scope and store it."""
    export = (
        Export.objects.select_related("incident", "requested_by").filter(pk=export_id, due_at__isnull=False).first()
    )
    if export is None:
        return
    if export.tries >= MOST_TRIES:
        Export.objects.filter(pk=export.pk).update(due_at=None, trouble="failed")
        return
    Export.objects.filter(pk=export.pk).update(tries=export.tries + 1)
    try:
        with override(export.language), store.FileWriter("application/zip") as file:
            values = _write_into(file, export)
    except store.FileUnreadable:
        Export.objects.filter(pk=export.pk).update(due_at=None, trouble="unreadable")
        return
    except store.STORE_ERRORS:
        Export.objects.filter(pk=export.pk).update(trouble="store")
        return
    with transaction.atomic():
        waits = Export.objects.filter(pk=export.pk, due_at__isnull=False)
        if waits.update(file=file.row, due_at=None, trouble="", **values):
            store.retain(file.row)


def _write_into(file: store.FileWriter, export: Export) -> dict[str, Any]:
    """Write the files of an export. Return the values for its row."""
    incident = export.incident
    archive = SignedArchive(file, local(export.requested_at))
    rows = list(_rows(incident))
    missing = sum(1 for row in rows if row.item.media and not row.path)
    context = {
        "incident": incident,
        "export": export,
        "rows": rows,
        "tenant": current_tenant(),
        "missing": missing,
        "stamping": has_stamp_authority(),
        "keys_url": settings.PORTAL_URL + reverse("signing_keys"),
        "check_url": settings.PORTAL_URL + reverse("check_program"),
    }
    archive.add("index.html", [render_to_string("evidence/export/index.html", context).encode()])
    archive.add("items.csv", [_BOM, *render_csv_lines(_lines(rows))])
    archive.add("items.json", [_json(incident, export, rows)])
    for row in rows:
        if row.path and row.item.file is not None:
            archive.add(
                row.path, store.read_file(row.item.file), is_compressed=row.words.is_video or row.words.is_picture
            )
    archive.add("CHECK.txt", [render_to_string("evidence/export/check.txt", context).encode()])
    stamp, outcome = _stamp(archive.manifest)
    manifest, key = archive.close(stamp)
    return {"manifest": manifest, "key": key, "stamp": outcome, "items": len(rows), "missing": missing}


def _stamp(manifest: bytes) -> tuple[bytes | None, str]:
    """Return the time stamp of a manifest and its result in the words of `Export.stamp`."""
    if not has_stamp_authority():
        return None, ""
    try:
        return request_stamp(manifest), "stamped"
    except NotStamped:
        return None, "no_answer"


def _rows(incident: Incident) -> Iterator[ExportRow]:
    for number, item in enumerate(items_of(incident).iterator(chunk_size=200), start=1):
        path = ""
        if item.file is not None:
            path = f"media/{number:04d}.{_SUFFIXES.get(item.file.content_type, 'bin')}"
        yield ExportRow(number, words_of(item), path)


def _lines(rows: list[ExportRow]) -> Iterator[list[str]]:
    yield [_("No."), _("Date and time"), _("Type"), _("What"), _("Details"), _("File"), _("Added by"), _("Added at")]
    for row in rows:
        words = row.words
        details = " / ".join(filter(None, [*words.lines, words.problem]))
        added = f"{local(row.item.added_at):%Y-%m-%d %H:%M:%S}"
        at = f"{local(row.item.at):%Y-%m-%d %H:%M:%S}"
        yield [str(row.number), at, words.kind, words.headline, details, row.path, str(row.item.added_by), added]


def _json(incident: Incident, export: Export, rows: list[ExportRow]) -> bytes:
    """Return the incident and all data of its items as JSON, under the names of the service and the portal."""
    content = {
        "tenant": current_tenant().name,
        "incident": {
            "number": incident.number,
            "title": incident.title,
            "began_at": local(incident.began_at).isoformat(),
            "ended_at": local(incident.ended_at).isoformat() if incident.ended_at else None,
            "opened_by": str(incident.opened_by),
            "opened_at": local(incident.opened_at).isoformat(),
        },
        "export": {"requested_by": str(export.requested_by), "requested_at": local(export.requested_at).isoformat()},
        "items": [
            {
                "number": row.number,
                "kind": row.item.kind,
                "reference": row.item.reference,
                "at": local(row.item.at).isoformat(),
                "headline": row.words.headline,
                "lines": row.words.lines,
                "facts": row.item.facts,
                "added_by": str(row.item.added_by),
                "added_at": local(row.item.added_at).isoformat(),
                "media": row.item.media,
                "trouble": row.item.trouble,
                "file": row.path,
                "sha256": row.item.file.sha256 if row.item.file else "",
            }
            for row in rows
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


EXPORTS = Process(
    name="evidence_exports",
    rows=due(Export),
    step=write_export,
    queue="bulk",
    every=2.0,
    seconds=280,
    claim_values=retry_after(_LEASE),
)
