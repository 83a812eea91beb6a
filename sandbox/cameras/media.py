"""Pictures and videos under /files/cameras/, for anyone who has the address. Pages of any origin may play them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.http import HttpRequest, HttpResponse

from sandbox import behaviour, clock
from sandbox.behaviour import Behaviour
from sandbox.errors import ADDRESS_EXPIRED, CAMERA_AWAY, ApiError, not_found
from sandbox.service.models import Camera

from . import arrivals, picture, playlists, usage, video
from .byte_ranges import ByteRange, requested_range
from .cache import FileCache
from .media_addresses import LIVE, RECORDING, SNAPSHOT, VIDEO, MediaGrant, read_grant

_PLAYLIST, _SEGMENT, _MP4 = "application/vnd.apple.mpegurl", "video/mp2t", "video/mp4"
_segments, _clips = FileCache(64), FileCache(8)


def file(request: HttpRequest, token: str, name: str) -> HttpResponse:
    """Return the file of the address, or a segment of it (GET); errors use the service's words."""
    try:
        response = _answer(request, token, name)
    except ApiError as error:
        response = error.as_response()
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = "Content-Length, Content-Range"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response


def _answer(request: HttpRequest, token: str, name: str) -> HttpResponse:
    if request.method == "OPTIONS":
        allowed = {"Access-Control-Allow-Methods": "GET, HEAD, OPTIONS", "Access-Control-Allow-Headers": "Range"}
        return HttpResponse(status=204, headers=allowed | {"Access-Control-Max-Age": "86400"})
    if request.method not in {"GET", "HEAD"}:
        raise ApiError(405, "40500", "GET")
    grant = read_grant(token)
    ways = behaviour.behaviour_of(grant.tenant_id)
    with clock.shifted(ways.clock_offset):
        now = clock.now()
        if now.timestamp() >= grant.expires:
            raise ApiError(410, ADDRESS_EXPIRED, "the address has expired")
        return _file(request, grant, name, ways, now)


def _file(request: HttpRequest, grant: MediaGrant, name: str, ways: Behaviour, now: datetime) -> HttpResponse:
    cameras = Camera.objects.select_related("door", "tenant")
    camera = cameras.filter(tenant_id=grant.tenant_id, camera_id=grant.camera_id).first()
    if camera is None:
        raise not_found("file")
    if not camera.is_connected:
        raise ApiError(409, CAMERA_AWAY, "the camera is not connected")
    if name == grant.file == SNAPSHOT:
        return _response(ByteRange.whole_file(snapshot(camera, grant.since)), "image/jpeg")
    if name == grant.file == VIDEO:
        seconds = grant.until - grant.since
        return _count_and_respond(
            request, camera, "downloaded", seconds, _clip(camera, grant.since, seconds), _MP4, ways, now
        )
    if name == grant.file and name in {LIVE, RECORDING}:
        usage.check_limit(camera.tenant, "streamed", ways, now)
        text = playlists.live_playlist(now) if name == LIVE else playlists.recording_playlist(grant.since, grant.until)
        return _response(ByteRange.whole_file(text.encode()), _PLAYLIST)
    start = _start_of(name)
    if grant.file == LIVE and playlists.is_live_segment(start, now):
        seconds = video.SEGMENT_SECONDS
    elif grant.file == RECORDING and start in range(grant.since, grant.until, video.SEGMENT_SECONDS):
        seconds = playlists.segment_seconds(start, grant.until)
    else:
        raise not_found("file")
    Camera.objects.filter(pk=camera.pk).update(watched_at=now)
    return _count_and_respond(
        request, camera, "streamed", seconds, _segment(camera, start, seconds), _SEGMENT, ways, now
    )


def snapshot(camera: Camera, at: int) -> bytes:
    """Return the camera's picture at a second, as JPEG."""
    seen = arrivals.find_arrivals(camera, at, at)
    moment = datetime.fromtimestamp(at, clock.SERVICE_ZONE)
    return picture.jpeg(picture.draw_picture(arrivals.view_of(camera), moment, seen, picture.SNAPSHOT_SCALE))


def is_streaming(camera: Camera, now: datetime) -> bool:
    """Return whether its video was fetched in the last ten seconds."""
    since = timedelta(seconds=5 * video.SEGMENT_SECONDS)
    return camera.watched_at is not None and now - since < camera.watched_at <= now


def _segment(camera: Camera, start: int, seconds: int) -> Callable[[], bytes]:
    return partial(_from_cache, _segments, video.encode_segment, camera, start, seconds)


def _clip(camera: Camera, start: int, seconds: int) -> Callable[[], bytes]:
    return partial(_from_cache, _clips, video.encode_clip, camera, start, seconds)


def _from_cache(made: FileCache, make: Callable[..., bytes], camera: Camera, start: int, seconds: int) -> bytes:
    what = (arrivals.view_of(camera), start, seconds, arrivals.find_arrivals(camera, start, start + seconds))
    return made.get((camera.tenant_id, *what), lambda: make(*what))


def _count_and_respond(
    request: HttpRequest,
    camera: Camera,
    kind: usage.Kind,
    seconds: int,
    make: Callable[[], bytes],
    content_type: str,
    ways: Behaviour,
    now: datetime,
) -> HttpResponse:
    """Return the file, or the requested part of it. The sent seconds are counted."""
    usage.check_limit(camera.tenant, kind, ways, now)
    wanted = requested_range(make(), request.headers.get("Range", ""), request.headers.get("If-Range", ""))
    if request.method == "GET":
        usage.count_seconds(camera.tenant_id, kind, seconds * wanted.fraction, ways, now)
    return _response(wanted, content_type)


def _response(wanted: ByteRange, content_type: str) -> HttpResponse:
    response = HttpResponse(wanted.content, content_type=content_type, status=wanted.status)
    for name, value in wanted.headers().items():
        response[name] = value
    return response


def _start_of(name: str) -> int:
    stem, dot, kind = name.rpartition(".")
    if kind != "ts" or not dot or not (stem.isascii() and stem.isdigit() and len(stem) < 13):
        raise not_found("file")
    return int(stem)
