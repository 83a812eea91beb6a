"""Fetches video and pictures into the evidence store, within the budget and download limits, and retries.

Media that the service still prepares are requested again later; for missing media the reason is stored. The bytes are
copied piece by piece. If a worker is killed, its file has no reference and is deleted, and the item is fetched again.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accessapi.errors import ServiceError
from portal.base.files.pictures import content_type_of
from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.clock import ClockTime, database_now, scaled_seconds
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import clips, pictures
from portal.domain.cameras.models import Camera, Clip, Picture
from portal.domain.history.models import History
from portal.evidence.models import Item, LegalHold
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.models import current_tenant
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.sentences import coded_sentence

# So that nothing is downloaded or counted twice.
_ONE_WORKER = AdvisoryLock("evidence.fetching")
_RETRY_AFTER, _LEASE = timedelta(seconds=30), timedelta(seconds=330)
_TYPES = {b"ftyp": (4, "video/mp4"), b"\x1aE\xdf\xa3": (0, "video/webm"), b"G": (0, "video/mp2t")}


class _RetryLater(Exception):
    """The error for media that are not ready yet; the next try is after `after`."""

    def __init__(self, after: timedelta) -> None:
        super().__init__(after)
        self.after = after


class _NotAvailable(Exception):
    """The error for media that cannot be fetched. `ever` is False if this will never change."""

    def __init__(self, trouble: str, *, ever: bool = True) -> None:
        super().__init__(trouble)
        self.trouble, self.ever = trouble, ever


def fetch(item_id: int) -> None:
    """Fetch the media of an item of the tenant in scope, unless another worker is doing so."""
    with _ONE_WORKER.held(item_id) as is_alone:
        if is_alone:
            _fetch(item_id)


def _fetch(item_id: int) -> None:
    item = Item.objects.select_related("incident").filter(pk=item_id, media=Item.Media.WANTED).first()
    if item is None:
        return
    try:
        file = _fetch_clip(item) if item.kind == Item.Kind.CLIP else _fetch_snapshot(item)
    except _RetryLater as later:
        Item.objects.filter(pk=item.pk).update(due_at=ClockTime() + later.after)
    except _NotAvailable as none:
        state = Item.Media.FAILED if none.ever else Item.Media.NEVER
        Item.objects.filter(pk=item.pk, media=Item.Media.WANTED).update(media=state, trouble=none.trouble, due_at=None)
    except store.STORE_ERRORS:
        Item.objects.filter(pk=item.pk).update(due_at=ClockTime() + _RETRY_AFTER, trouble="store")
    else:
        _save_file(item, file)


def _save_file(item: Item, file: StoredFile) -> None:
    """Link the stored file to the item, if the item still waits for one."""
    with transaction.atomic():
        values = {"media": Item.Media.STORED, "file": file, "due_at": None, "trouble": "", "expires_at": None}
        if not Item.objects.filter(pk=item.pk, media=Item.Media.WANTED).update(**values):
            return
        store.retain(file)
        number = item.incident.number
        after = {"kind": item.kind, "reference": item.reference, "sha256": file.sha256, "size": file.size}
        audit.record(
            tenant=current_tenant(),
            by=None,
            action="evidence.stored",
            target=f"incident:{number}",
            summary=coded_sentence("evidence.stored", number=number),
            after=after,
        )


def _fetch_clip(item: Item) -> StoredFile:
    """Return the stored video of a record. Raises _RetryLater and _NotAvailable."""
    record = History.objects.filter(history_id=item.reference).first() or History(
        history_id=item.reference, at=item.at, device_id=item.facts.get("device_id", "")
    )
    if clips.is_expired(record):
        raise _NotAvailable("gone", ever=False)
    clip = clips.request_clip(current_connection(), record, Priority.JOBS, incident=True)
    if clip.state == Clip.State.NEVER:
        raise _NotAvailable("no_video", ever=False)
    if clip.state == Clip.State.FAILED:
        raise _NotAvailable(clip.trouble)
    if clip.state == Clip.State.WAITING or not clip.address:
        raise _RetryLater(max((clip.due_at or database_now()) - database_now(), timedelta()) + timedelta(seconds=2))
    if not clips.count_download(clip, incident=True):
        raise _NotAvailable("no_downloads")
    try:
        return _store(pictures.stream_media(current_tenant().environment, clip.address, pictures.VIDEO_MAX))
    except _NotAvailable as none:
        if none.trouble == "expired":
            clips.forget_address(clip)
        raise


def _fetch_snapshot(item: Item) -> StoredFile:
    """Return the stored picture of a camera at a moment. Raises _RetryLater and _NotAvailable."""
    camera = Camera.objects.filter(camera_id=item.facts["camera_id"]).first()
    if camera is None:
        raise _NotAvailable("no_camera", ever=False)
    picture = Picture.objects.filter(camera=camera, at=item.at).exclude(mark="").first()
    if picture is None:
        try:
            pictures.read(current_connection(), [camera], Priority.JOBS, item.at)
        except BudgetExhausted as error:
            raise _RetryLater(max(error.check_again_at - database_now(), _RETRY_AFTER)) from None
        except ServiceError as error:
            raise _NotAvailable(pictures.trouble_of(error)) from None
        picture = Picture.objects.get(camera=camera, at=item.at)
    if not picture.content:
        raise _NotAvailable(picture.trouble or "none")
    return _store([picture.content])


def _store(source: Iterable[bytes]) -> StoredFile:
    """Write the bytes into the store and return the file. Its content type is detected from the first bytes."""
    with store.FileWriter() as file:
        try:
            for number, piece in enumerate(source):
                if number == 0:
                    file.row.content_type = _type_of(piece)
                file.write(piece)
        except pictures.NotFetched as why:
            raise _NotAvailable(str(why)) from None
    return file.row


def _type_of(head: bytes) -> str:
    """Return the content type of a picture or video. Unknown types get a general one and are stored too."""
    for mark, (at, name) in _TYPES.items():
        if head[at:].startswith(mark):
            return name
    return content_type_of(head) or "application/octet-stream"


def expiring_incidents(before: timedelta) -> list[tuple[int, int]]:
    """Return primary key and number of incidents for which the service deletes unsaved media within this time.

    Only incidents that are open or on legal hold are returned.
    """
    held = Exists(LegalHold.objects.filter(incident=OuterRef("incident"), ended_at=None))
    rows = Item.objects.filter(Q(incident__closed_at=None) | held, media__in=Item.LACKING)
    near = rows.filter(expires_at__gt=ClockTime(), expires_at__lt=ClockTime() + before)
    return list(near.order_by("incident_id").values_list("incident_id", "incident__number").distinct())


# If a worker dies, the item is due again after the lease, which is longer than the task's time limit.
MEDIA = Process(
    name="evidence_media",
    rows=due(Item),
    step=fetch,
    queue="sync",
    every=scaled_seconds(2),
    seconds=280,
    claim_values=retry_after(_LEASE),
)
