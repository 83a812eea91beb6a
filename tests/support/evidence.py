"""Helpers for tests of evidence: records with video, workers' steps, exports, and their checks."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.base.storage import check_export, store
from portal.base.storage.models import StoredFile
from portal.base.ui.times import local
from portal.domain.cameras.models import Camera
from portal.domain.history.models import History
from portal.evidence import exporting, fetching
from portal.evidence.models import Export, Item, LegalHold
from tenants import signing
from tenants.models import SigningKey
from tenants.scope import tenant_scope
from tests.support.places import Place
from tests.support.sandbox import Sandbox

CHECK = Path(check_export.__file__)


def url(place: Place, name: str, *more: Any) -> str:
    return reverse(f"evidence:{name}", args=[place.tenant.slug, *more])


def when(moment: Any) -> str:
    return f"{local(moment):%Y-%m-%dT%H:%M:%S}"


def at_cameras(sandbox: Sandbox, tenant_id: str) -> list[tuple[dict[str, Any], str]]:
    """Return the records of the service's log at doors with a camera that works, each with that camera's ID."""
    theirs = sandbox.look("cameras", tenant_id=tenant_id)["cameras"]
    watched = {each["device_id"]: each["camera_id"] for each in theirs if each["is_connected"] and each["device_id"]}
    found = sandbox.look("histories", tenant_id=tenant_id)["histories"]
    there = [each for each in found if each["device"] and each["device"]["id"] in watched]
    return [(each, watched[each["device"]["id"]]) for each in there]


def records(place: Place, count: int = 1, **before: float) -> list[History]:
    """Store records of the service's log at doors with a camera, by default from an hour ago."""
    there = at_cameras(place.sandbox, place.service.tenant_id)[:count]
    at = timezone.now() - timedelta(**(before or {"hours": 1}))
    with tenant_scope(place.tenant):
        for each, camera_id in there:
            named = {"name": "East entrance", "doors": [each["device"]["id"]]}
            Camera.objects.get_or_create(camera_id=camera_id, defaults=named)
        return [
            History.objects.create(
                history_id=each["history_id"],
                at=at + timedelta(seconds=number),
                device_id=each["device"]["id"],
                device_name="East door",
                member_name="=佐藤 太郎",
                content="Entry",
            )
            for number, (each, _camera_id) in enumerate(there)
        ]


def opened(place: Place, client: Client, count: int = 1, **before: float) -> Any:
    """Open an incident around records and add them; return its page as it is right after."""
    rows = records(place, count, **before)
    client.post(url(place, "new"), {"title": "Side door forced open", "began_at": when(rows[0].at)})
    return client.post(url(place, "records", 1), {"record": [row.history_id for row in rows]}, follow=True)


def work(place: Place) -> None:
    """Do what workers do: load the requested files, then write the requested exports."""
    with tenant_scope(place.tenant):
        for item in fetching.MEDIA.claim_batch():
            fetching.fetch(item.pk)
        for export in exporting.EXPORTS.claim_batch():
            exporting.write_export(export.pk)


def stored(content_type: str) -> StoredFile:
    """Keep a file of the tenant in scope in the store."""
    with store.FileWriter(content_type) as file:
        file.write(bytes(range(100)))
    store.retain(file.row)
    return file.row


def filmed(place: Place, client: Client) -> Item:
    """Open an incident around a record whose video is in the store, without the service; return that item."""
    opened(place, client)
    with tenant_scope(place.tenant):
        video = {"media": Item.Media.STORED, "file": stored("video/mp4"), "due_at": None}
        Item.objects.filter(kind=Item.Kind.CLIP).update(**video)
        return Item.objects.get(kind=Item.Kind.CLIP)


def held(place: Place, client: Client, reason: str = "Police case 2026-118") -> LegalHold:
    """Put the incident on legal hold; return that hold."""
    client.post(url(place, "hold", 1), {"reason": reason})
    with tenant_scope(place.tenant):
        return LegalHold.objects.select_related("by").latest("pk")


def exported(place: Place, client: Client) -> bytes:
    """Create an export, and return its bytes as they are downloaded."""
    client.post(url(place, "export", 1))
    work(place)
    return downloaded(place, client)


def downloaded(place: Place, client: Client) -> bytes:
    """Return the bytes of the newest export as they are downloaded."""
    with tenant_scope(place.tenant):
        export = Export.objects.latest("pk")
    answer = client.get(url(place, "download", 1, export.pk))
    assert answer.status_code == 200, answer.headers
    return b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def public_key(folder: Path) -> Path:
    """Write the public key of this installation to a file, as anyone can download it from the site."""
    path = folder / "key.pem"
    path.write_bytes(signing.public_pem(SigningKey.objects.get(retired_at=None)))
    return path


def checked(*arguments: Path) -> tuple[int, str]:
    """Run the checking program as a separate process, without the portal; return its exit code and its output."""
    command = [sys.executable, "-I", str(CHECK), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    return done.returncode, done.stdout + done.stderr
