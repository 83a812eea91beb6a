"""Write incidents as signed ZIP files: an offline page, the data, the media, and instructions to check them.

An archive is written in one pass into the evidence store, so that no plain bytes are stored on the way. If a worker is
killed, its file has no reference and is deleted, and the export is written again.

`manifest.sha256` lists the SHA-256 of every file in the format of `sha256sum -c`. `manifest.sha256.sig` is its Ed25519
signature. The ZIP's comment, its last 64 bytes, is the signature of the SHA-256 of all bytes before it. It reveals
changes anywhere in the file, also between its files. `check_export.py` checks both signatures. A time stamp of an
authority (RFC 3161), if one is configured, proves that the manifest existed at that time.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

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
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.times import local
from portal.evidence import store
from portal.evidence.check_export import MANIFEST, SEAL, SIGNATURE, STAMP, TAIL
from portal.evidence.items import ItemWords, items_of, words_of
from portal.evidence.models import Export, Incident, Item
from tenants import signing
from tenants.models import current_tenant

# Compression of text; video and pictures are compressed already.
_QUICK, _NONE = 1, 0
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


class _Sink(Protocol):
    def write(self, data: bytes) -> int: ...


class _TailBuffer:
    """A writer that passes on all bytes except the last 64, which the signature replaces, and computes their digest."""

    def __init__(self, sink: _Sink) -> None:
        self.sink, self.digest, self._held = sink, hashlib.sha256(), b""

    def write(self, data: bytes) -> int:
        told = self._held + bytes(data)
        passed, self._held = told[:-TAIL], told[-TAIL:]
        self.digest.update(passed)
        self.sink.write(passed)
        return len(data)

    def flush(self) -> None:
        """Do nothing: only the last bytes are held back."""


class Archive:
    """A ZIP that is written into `sink`.

    Call `add` for each file, then `close` with the manifest's time stamp, if any.
    """

    def __init__(self, sink: _Sink, at: datetime) -> None:
        self._tail = _TailBuffer(sink)
        unseekable: Any = self._tail
        self._zip = zipfile.ZipFile(unseekable, "w", zipfile.ZIP_DEFLATED)
        self._at = at.timetuple()[:6]
        self._digests: list[tuple[str, str]] = []

    def add(self, name: str, pieces: Iterable[bytes], *, is_compressed: bool = False) -> str:
        """Write one file, list it in the manifest and return its SHA-256.

        `is_compressed` means no further compression.
        """
        digest = self._write(name, pieces, _NONE if is_compressed else _QUICK)
        self._digests.append((name, digest))
        return digest

    @property
    def manifest(self) -> bytes:
        """Return the list of the files added so far."""
        return "".join(f"{digest}  {name}\n" for name, digest in self._digests).encode()

    def close(self, stamp: bytes | None) -> tuple[str, str]:
        """Write the manifest with signature and time stamp, then sign the whole file.

        Return the manifest's SHA-256 and the name of the signing key.
        """
        signed = signing.sign(self.manifest)
        digest = self._write(MANIFEST, [self.manifest])
        self._write(SIGNATURE, [signed.value])
        if stamp is not None:
            self._write(STAMP, [stamp])
        self._zip.comment = bytes(TAIL)
        self._zip.close()
        self._tail.sink.write(signing.sign(SEAL + self._tail.digest.digest()).value)
        return digest, signed.key

    def _write(self, name: str, pieces: Iterable[bytes], level: int = _QUICK) -> str:
        entry: Any = zipfile.ZipInfo(name, self._at)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        # Without a level, zipfile would use its slow default; the archive's level applies to other calls only.
        entry._compresslevel = level
        digest = hashlib.sha256()
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()


class NotStamped(Exception):
    """The error if the authority returns no usable time stamp."""


def has_stamp_authority() -> bool:
    return bool(settings.TIME_STAMP_URL)


def request_stamp(message: bytes) -> bytes:
    """Return the authority's answer for a message, as DER for `openssl ts -verify`. Raises NotStamped."""
    asked = TimestampRequestBuilder().data(message).hash_algorithm(HashAlgorithm.SHA256).build()
    try:
        answer = _post(asked.as_bytes())
        told = decode_timestamp_response(answer)
        granted = told.status in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)
        if not granted or told.tst_info.nonce != asked.nonce:
            raise NotStamped
        if told.tst_info.message_imprint.message != asked.message_imprint.message:
            raise NotStamped
    except (ServiceError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        log.warning("evidence_not_stamped", error=type(error).__name__)
        raise NotStamped from None
    return answer


def _post(asked: bytes) -> bytes:
    """Return the authority's answer, limited in size and time and without redirects. Raises NotStamped."""
    pool = ConnectionPool(max_idle=0)
    try:
        wire = ServiceTransport(
            pool, read_seconds=_ANSWER_SECONDS, answer_seconds=_ANSWER_SECONDS, answer_max=_ANSWER_MAX
        )
        answer = wire.handle_request(httpx2.Request("POST", settings.TIME_STAMP_URL, headers=_HEADERS, content=asked))
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
    export = Export.objects.select_related("incident", "asked_by").filter(pk=export_id, due_at__isnull=False).first()
    if export is None:
        return
    if export.tries >= MOST_TRIES:
        Export.objects.filter(pk=export.pk).update(due_at=None, trouble="failed")
        return
    Export.objects.filter(pk=export.pk).update(tries=export.tries + 1)
    try:
        with override(export.language), store.FileWriter("application/zip") as file:
            told = _write_into(file, export)
    except store.FileUnreadable:
        Export.objects.filter(pk=export.pk).update(due_at=None, trouble="unreadable")
        return
    except store.STORE_ERRORS:
        Export.objects.filter(pk=export.pk).update(trouble="store")
        return
    with transaction.atomic():
        waits = Export.objects.filter(pk=export.pk, due_at__isnull=False)
        if waits.update(file=file.row, due_at=None, trouble="", **told):
            store.retain(file.row)


def _write_into(file: store.FileWriter, export: Export) -> dict[str, Any]:
    """Write the files of an export. Return the values for its row."""
    incident = export.incident
    archive = Archive(file, local(export.asked_at))
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
        "check_url": settings.PORTAL_URL + reverse("evidence_check"),
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
    stamp, came = _stamp(archive.manifest)
    manifest, key = archive.close(stamp)
    return {"manifest": manifest, "key": key, "stamp": came, "items": len(rows), "missing": missing}


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
        told = row.words
        details = " / ".join(filter(None, [*told.lines, told.problem]))
        added = f"{local(row.item.added_at):%Y-%m-%d %H:%M:%S}"
        at = f"{local(row.item.at):%Y-%m-%d %H:%M:%S}"
        yield [str(row.number), at, told.kind, told.headline, details, row.path, str(row.item.added_by), added]


def _json(incident: Incident, export: Export, rows: list[ExportRow]) -> bytes:
    """Return the incident and all data of its items as JSON, under the names of the service and the portal."""
    told = {
        "tenant": current_tenant().name,
        "incident": {
            "number": incident.number,
            "title": incident.title,
            "began_at": local(incident.began_at).isoformat(),
            "ended_at": local(incident.ended_at).isoformat() if incident.ended_at else None,
            "opened_by": str(incident.opened_by),
            "opened_at": local(incident.opened_at).isoformat(),
        },
        "export": {"asked_by": str(export.asked_by), "asked_at": local(export.asked_at).isoformat()},
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
    return json.dumps(told, ensure_ascii=False, indent=1).encode()


EXPORTS = Process(
    name="evidence_exports",
    rows=due(Export),
    step=write_export,
    queue="bulk",
    every=2.0,
    seconds=280,
    claim_values=retry_after(_LEASE),
)
