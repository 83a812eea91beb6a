"""The video of a log record (operation 33): requested by a person, and requested again until it is available."""

import contextlib
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accessapi.errors import NotFound, Rejected, ServiceError
from accessapi.limits import VIDEO_RETENTION_DAYS
from accessapi.resources.cameras import HistoryVideo
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import pictures, usage
from portal.domain.cameras.models import Clip
from portal.domain.cameras.pictures import trouble_of, trouble_text
from portal.domain.history.models import History
from portal.domain.intents.recording import Requester
from portal.domain.sync import failure_reasons
from portal.domain.sync.single_reads import call_shared
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, Tenant, current_tenant
from tenants.sentences import coded_sentence

# The portal stops waiting for a video this long after its record.
_WAITED_FOR = timedelta(hours=1)
_SOONEST, _LATEST = timedelta(seconds=15), timedelta(minutes=10)


def is_expired(record: History) -> bool:
    """Return True if the record is older than the service keeps video. The machine's clock is exact enough for that."""
    return record.at < timezone.now() - timedelta(days=VIDEO_RETENTION_DAYS)


def is_playable(clip: Clip) -> bool:
    """Return True if the address is known and recent enough to be played."""
    is_recent = bool(clip.answered_at and clip.answered_at > database_now() - usage.CLIP_VALID_FOR)
    return clip.state == Clip.State.READY and bool(clip.address) and is_recent


def request_clip(
    connection: Connection, record: History, priority: Priority = Priority.PEOPLE, *, incident: bool = False
) -> Clip:
    """Return the clip of a record. Request it now, unless it is available or was requested already.

    With `incident` it may use the share of the period's limit that is reserved for incidents.
    """
    clip, _created = Clip.objects.get_or_create(history_id=record.history_id, defaults={"at": record.at})
    waits = clip.state == Clip.State.WAITING and clip.due_at is not None
    if not is_playable(clip) and not waits:
        clip.state, clip.trouble = Clip.State.WAITING, ""
        _request(connection, clip, priority, incident=incident)
    return clip


def forget_address(clip: Clip) -> None:
    """Delete the address of a clip that no longer works, so that it is requested again."""
    Clip.objects.filter(pk=clip.pk, answered_at=clip.answered_at).update(address=None)


def count_download(clip: Clip, *, incident: bool) -> bool:
    """Count one download of a clip before its first byte. A download that breaks off counts too.

    Return False if the period's limit is used up. The lock on the tenant ensures that it is never exceeded.
    """
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=clip.tenant_id)
        if not usage.may_download(incident=incident):
            return False
        Clip.objects.filter(pk=clip.pk).update(shown=F("shown") + 1, shown_at=ClockTime())
    return True


def count_viewing(clip: Clip, record: History, *, by: Requester, incident: bool) -> bool:
    """Count a download and record in the audit log that a person views the clip. Return False if none is left."""
    with transaction.atomic():
        if not count_download(clip, incident=incident):
            return False
        at = f"{record.at:%Y-%m-%d %H:%M:%S}"
        summary = coded_sentence("camera.clip", camera=clip.camera_name, at=at)
        audit.record(**by.audit_author, action="camera.clip", target=f"history:{clip.history_id}", summary=summary)
    return True


@dataclass(frozen=True)
class ClipStatus:
    """The status of a record's video. `state` is gone, unasked, or one of Clip.State; `reason` is in words."""

    state: str
    reason: str = ""
    clip: Clip | None = None


def clip_status(record: History, clip: Clip | None) -> ClipStatus:
    """Return the status of a record's video."""
    if is_expired(record):
        return ClipStatus("gone", clip=clip)
    if clip is None or (clip.state == Clip.State.READY and not is_playable(clip)):
        return ClipStatus("unasked", clip=clip)
    return ClipStatus(clip.state, trouble_text(clip.trouble), clip)


def retry(pk: int) -> None:
    """Request a clip of the current tenant that is not available yet."""
    clip = Clip.objects.filter(pk=pk, state=Clip.State.WAITING).first()
    if clip is not None:
        _request(current_connection(), clip, Priority.JOBS, incident=True)


# If a worker crashes, the task is started again after the claim's 60 seconds.
CLIPS = Process(
    name="clips", rows=due(Clip), step=retry, queue="sync", every=5.0, seconds=280, claim_values=retry_after(60)
)


def _request(connection: Connection, clip: Clip, priority: Priority, *, incident: bool) -> None:
    """Request a clip from the service and save the answer."""
    clip.due_at = None
    if connection.is_connected:
        with contextlib.suppress(ServiceError):  # without a new count, the last one plus later viewings is used
            usage.refresh_if_old(connection, priority)
    if not connection.is_connected:
        clip.state, clip.trouble = Clip.State.FAILED, "not_connected"
    elif not usage.may_download(incident=incident):
        clip.state, clip.trouble = Clip.State.FAILED, "no_downloads"
    else:
        _save_answer(connection, clip, priority)
    clip.save()


def _save_answer(connection: Connection, clip: Clip, priority: Priority) -> None:
    try:
        data, _first = call_shared(connection, "history_video", {"history_id": clip.history_id}, priority)
    except Rejected as refusal:
        _save_refusal(clip, refusal)
        return
    except ServiceError as error:
        _schedule_retry(clip, error)
        return
    video = HistoryVideo.model_validate(data)
    clip.camera_name = video.camera_name or ""
    if not video.video_url or not pictures.is_media_address(current_tenant().environment, video.video_url):
        clip.state, clip.trouble = Clip.State.FAILED, "other_host" if video.video_url else "none"
        return
    clip.state, clip.address, clip.answered_at, clip.trouble = Clip.State.READY, video.video_url, database_now(), ""


def _save_refusal(clip: Clip, refusal: Rejected) -> None:
    codes, age = current_tenant().environment.catalogue.media, database_now() - clip.at
    comes = refusal.code in codes.later or (isinstance(refusal, NotFound) and refusal.code not in codes.never)
    if comes and age < _WAITED_FOR:
        clip.state, clip.due_at = Clip.State.WAITING, database_now() + min(max(_SOONEST, age / 2), _LATEST)
    elif comes or refusal.code in codes.never:
        clip.state, clip.trouble = Clip.State.NEVER, ""
    else:
        clip.state, clip.trouble = Clip.State.FAILED, failure_reasons.reason_of(refusal)


def _schedule_retry(clip: Clip, error: ServiceError) -> None:
    """Schedule the next request: when device calls are available again, or soon if the service did not answer."""
    clip.trouble = trouble_of(error)
    if isinstance(error, BudgetExhausted):
        clip.due_at = error.check_again_at
    elif database_now() - clip.at > _WAITED_FOR:
        clip.state = Clip.State.FAILED
    else:
        clip.due_at = database_now() + _SOONEST
