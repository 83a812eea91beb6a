"""Writes an incident as one signed ZIP: an offline page, the data, the media, and instructions to check it.

The file is written in one pass into the evidence store. If a worker is killed, its file has no reference and is
deleted, and the export is written again.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from portal.base.files.writing import render_csv_lines
from portal.base.timers.clock import ClockTime
from portal.base.timers.timer_registry import TaskWakeup
from portal.base.ui.times import local
from portal.evidence import store, time_stamps
from portal.evidence.archive import Archive
from portal.evidence.item_words import ItemWords, items_of, words_of
from portal.evidence.models import Export, Incident, Item
from tenants.models import current_tenant

MOST_TRIES = 3
# Longer than the task's time limit: after it, the worker must have died.
_LEASE = timedelta(seconds=330)
_SUFFIXES = {"video/mp4": "mp4", "video/webm": "webm", "video/mp2t": "ts", "image/jpeg": "jpg", "image/png": "png"}
_BOM = "\ufeff".encode()


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
        "stamping": time_stamps.has_stamp_authority(),
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
    if not time_stamps.has_stamp_authority():
        return None, ""
    try:
        return time_stamps.request_stamp(manifest), "stamped"
    except time_stamps.NotStamped:
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


def _due_exports() -> QuerySet[Export]:
    return Export.objects_across_tenants.filter(due_at__lte=ClockTime())


EXPORTS_DUE = TaskWakeup(
    rows=_due_exports, task="portal.evidence.tasks.export", claim_values=lambda: {"due_at": ClockTime() + _LEASE}
)
