"""Operations 29 to 33: cameras."""

import base64
from datetime import datetime, timedelta
from typing import Any

from accessapi import limits
from sandbox import clock
from sandbox.cameras import arrivals, media, media_addresses, usage
from sandbox.cameras.media_addresses import MediaGrant
from sandbox.catalogue import CATALOGUE
from sandbox.errors import CAMERA_AWAY, NO_VIDEO, VIDEO_LATER, ApiError, invalid, not_found
from sandbox.service.models import Camera, History

from .bodies import read_query
from .call import Call

#: Seconds of a log's video, before and after it.
_BEFORE, _AFTER = 7, 8
_VIDEO_RETENTION = timedelta(days=limits.VIDEO_RETENTION_DAYS)


def camera_usage(call: Call) -> dict[str, Any]:
    """Return the seconds of video that were fetched in this calendar month (both assumed), with the tenant's limits.

    A fetch counts once, with the fraction of the file that was sent. At a limit, sessions, segments and downloads are
    refused (403, 40306, assumed).
    """
    call.query()
    use, unit = usage.current_usage(call.tenant, call.at), CATALOGUE.media.usage_seconds
    return {
        "since": clock.format_moment(use.since),
        "until": clock.format_moment(use.until),
        "tenant_streaming_total": round(use.streamed / unit, 3),
        "tenant_streaming_limit": call.behaviour.streaming_limit / unit,
        "tenant_download_total": round(use.downloaded / unit, 3),
        "tenant_download_limit": call.behaviour.download_limit / unit,
    }


def camera_snapshots(call: Call) -> dict[str, Any]:
    """Return each camera's picture of now, or of a moment within 90 days, as the address of a JPEG or, by the shapes,
    as base64. A camera that is not connected has an empty text (all assumed).

    An unknown camera or a future moment refuses the whole call.
    """
    query = read_query(call)
    at = query.datetime or call.at
    _check_recorded(at, call.at, "datetime")
    wanted = list(dict.fromkeys(query.cameras_list.split(",")))
    rows = Camera.objects.select_related("door").filter(tenant=call.tenant, camera_id__in=wanted)
    cameras = {row.camera_id: row for row in rows}
    if len(cameras) < len(wanted):
        raise not_found("camera_id")
    return {"cameras": [{"camera_id": name, "snapshot": _snapshot(call, cameras[name], at)} for name in wanted]}


def camera_streaming(call: Call) -> dict[str, Any]:
    """Return the address of an HLS playlist that is valid for an hour: live, or a recording from `since` for ten
    minutes at most. Without `until`, it lasts ten minutes or until now (assumed).

    `until` needs an earlier `since`, and `since` is within the last 90 days. A camera that is not connected is refused
    (409, 40904, assumed).
    """
    query = read_query(call)
    camera = _camera(call)
    if query.until and not query.since:
        raise invalid("until: needs since")
    if query.since:
        _check_recorded(query.since, call.at, "since")
        if query.until and query.until <= query.since:
            raise invalid("until: must be after since")
    _check_connected(camera)
    usage.check_limit(call.tenant, "streamed", call.behaviour, call.at)
    since, until, file = 0, 0, media_addresses.LIVE
    if query.since:
        since, file = int(query.since.timestamp()), media_addresses.RECORDING
        until = min(since + limits.STREAMING_SECONDS_MAX, int((query.until or call.at).timestamp()))
        # The future is not recorded.
        until = max(since + 1, min(until, int(call.at.timestamp())))
    grant = _media_grant(call, camera, file, since, until)
    return {
        "camera_id": camera.camera_id,
        "streaming_url": media_addresses.media_address(call.request, grant),
        "playback_type": "on_demand" if query.since else "live",
        "expires_at": clock.format_moment(datetime.fromtimestamp(grant.expires, clock.SERVICE_ZONE)),
    }


def camera_status(call: Call) -> dict[str, Any]:
    """Return whether the camera is connected, and whether its video was fetched in the last ten seconds."""
    call.query()
    camera = _camera(call)
    return {"is_connected": camera.is_connected, "is_streaming": media.is_streaming(camera, call.at)}


def history_video(call: Call) -> dict[str, Any]:
    """Return the address of an MP4 of 15 seconds around the log record, from the camera at its door. It is available
    `video_lag_seconds` after the record; before that 404, 40402 (assumed): try again.

    Without a camera at the door, and 90 days after the record, there is none (404, 40403, assumed).
    """
    call.query()
    logs = History.objects.filter(tenant=call.tenant, at__lte=call.at, held_by="")
    history = logs.filter(history_id=call.identifier("history_id")).first()
    if history is None:
        raise not_found("history_id")
    camera = arrivals.camera_of(history)
    if camera is None or history.at < call.at - _VIDEO_RETENTION:
        raise ApiError(404, NO_VIDEO, "there is no video of this log")
    if call.at < history.at + timedelta(seconds=call.behaviour.video_lag_seconds):
        raise ApiError(404, VIDEO_LATER, "the video is not there yet: ask again in some seconds")
    _check_connected(camera)
    usage.check_limit(call.tenant, "downloaded", call.behaviour, call.at)
    at = int(history.at.timestamp())
    grant = _media_grant(call, camera, media_addresses.VIDEO, at - _BEFORE, at + _AFTER)
    return {"camera_name": camera.name, "video_url": media_addresses.media_address(call.request, grant)}


def _camera(call: Call) -> Camera:
    rows = Camera.objects.select_related("door").filter(tenant=call.tenant)
    found = rows.filter(camera_id=call.identifier("camera_id")).first()
    if found is None:
        raise not_found("camera_id")
    return found


def _check_connected(camera: Camera) -> None:
    if not camera.is_connected:
        raise ApiError(409, CAMERA_AWAY, "the camera is not connected")


def _check_recorded(moment: datetime, now: datetime, name: str) -> None:
    """Raise 40002 for a time without a recording."""
    if moment > now:
        raise invalid(f"{name}: lies in the future")
    if moment < now - _VIDEO_RETENTION:
        raise invalid(f"{name}: recordings are kept for {limits.VIDEO_RETENTION_DAYS} days")


def _media_grant(call: Call, camera: Camera, file: str, since: int, until: int) -> MediaGrant:
    expires = int(call.at.timestamp() + call.behaviour.media_seconds)
    return MediaGrant(call.tenant.tenant_id, camera.camera_id, file, since, until, expires)


def _snapshot(call: Call, camera: Camera, at: datetime) -> str:
    if not camera.is_connected:
        return ""
    second = int(at.timestamp())
    if CATALOGUE.shapes.snapshot == "base64":
        return base64.b64encode(media.snapshot(camera, second)).decode()
    return media_addresses.media_address(
        call.request, _media_grant(call, camera, media_addresses.SNAPSHOT, second, second)
    )


HANDLERS = {
    "camera_usage": camera_usage,
    "camera_snapshots": camera_snapshots,
    "camera_streaming": camera_streaming,
    "camera_status": camera_status,
    "history_video": history_video,
}
