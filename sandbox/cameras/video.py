"""Moving pictures: H.264 in MPEG-TS for playlists, in MP4 for downloads."""

from datetime import datetime
from fractions import Fraction
from io import BytesIO
from typing import Any

import av

from sandbox.cameras.canvas import HEIGHT, WIDTH
from sandbox.cameras.pedestrians import Arrival
from sandbox.cameras.picture import CameraView, draw_picture
from sandbox.clock import SERVICE_ZONE

FRAMES_PER_SECOND = 8
#: Length of a segment of a playlist, in seconds.
SEGMENT_SECONDS = 2
_DAY_SECONDS = 24 * 3600
_MIDNIGHT = int(SERVICE_ZONE.utcoffset(None).total_seconds())
# One thread: the same pictures give the same bytes. No frame depends on a later one.
_CODEC = {"preset": "ultrafast", "tune": "zerolatency", "profile": "main", "crf": "25", "threads": "1"}
# Reserves space for the index before the pictures, so that a player need not read the end first.
_MP4 = {"moov_size": "16384"}


def day_of(start: int) -> int:
    """Return the day of a second, in the service's zone.

    Segments' time stamps have 33 bits, so they restart each day.
    """
    return (start + _MIDNIGHT) // _DAY_SECONDS


def encode_segment(view: CameraView, start: int, seconds: int, arrivals: tuple[Arrival, ...]) -> bytes:
    """Return MPEG-TS from this second on. Time stamps continue those of the segment before."""
    first = (start + _MIDNIGHT) % _DAY_SECONDS * FRAMES_PER_SECOND
    return _encode(view, start, seconds, arrivals, "mpegts", {}, first)


def encode_clip(view: CameraView, start: int, seconds: int, arrivals: tuple[Arrival, ...]) -> bytes:
    """Return MP4 from this second on, its index in front."""
    return _encode(view, start, seconds, arrivals, "mp4", _MP4, 0)


def _encode(
    view: CameraView,
    start: int,
    seconds: int,
    arrivals: tuple[Arrival, ...],
    kind: str,
    options: dict[str, str],
    first: int,
) -> bytes:
    content = BytesIO()
    with av.open(content, "w", format=kind, options=options) as container:
        stream: Any = container.add_stream(
            "libx264", rate=FRAMES_PER_SECOND, options=_CODEC | {"g": str(FRAMES_PER_SECOND * SEGMENT_SECONDS)}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, FRAMES_PER_SECOND)
        for number in range(seconds * FRAMES_PER_SECOND):
            moment = datetime.fromtimestamp(start + number / FRAMES_PER_SECOND, SERVICE_ZONE)
            frame = av.VideoFrame.from_image(draw_picture(view, moment, arrivals))  # type: ignore[no-untyped-call]  # av types it halfway
            frame.pts, frame.time_base = first + number, Fraction(1, FRAMES_PER_SECOND)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return content.getvalue()
