"""Moving pictures: H.264 in MPEG-TS for playlists, in MP4 for downloads."""

from datetime import datetime
from fractions import Fraction
from io import BytesIO
from typing import Any

import av

from sandbox.cameras.canvas import HEIGHT, WIDTH
from sandbox.cameras.people import Arrival
from sandbox.cameras.picture import View, draw
from sandbox.clock import SERVICE_ZONE

FRAMES = 8
#: Length of a segment of a playlist, in seconds.
SEGMENT = 2
_DAY = 24 * 3600
_MIDNIGHT = int(SERVICE_ZONE.utcoffset(None).total_seconds())
# One thread: the same pictures give the same bytes. No frame depends on a later one.
_CODEC = {"preset": "ultrafast", "tune": "zerolatency", "profile": "main", "crf": "25", "threads": "1"}
# Reserves space for the index before the pictures, so that a player need not read the end first.
_MP4 = {"moov_size": "16384"}


def day(start: int) -> int:
    """Return the day of a second, in the service's zone. Time stamps of segments restart with it: they have 33 bits."""
    return (start + _MIDNIGHT) // _DAY


def segment(view: View, start: int, seconds: int, arrivals: tuple[Arrival, ...]) -> bytes:
    """Return MPEG-TS from this second on. Time stamps continue those of the segment before."""
    first = (start + _MIDNIGHT) % _DAY * FRAMES
    return _encoded(view, start, seconds, arrivals, "mpegts", {}, first)


def clip(view: View, start: int, seconds: int, arrivals: tuple[Arrival, ...]) -> bytes:
    """Return MP4 from this second on, its index in front."""
    return _encoded(view, start, seconds, arrivals, "mp4", _MP4, 0)


def _encoded(
    view: View, start: int, seconds: int, arrivals: tuple[Arrival, ...], kind: str, options: dict[str, str], first: int
) -> bytes:
    content = BytesIO()
    with av.open(content, "w", format=kind, options=options) as container:
        stream: Any = container.add_stream("libx264", rate=FRAMES, options=_CODEC | {"g": str(FRAMES * SEGMENT)})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, FRAMES)
        for number in range(seconds * FRAMES):
            moment = datetime.fromtimestamp(start + number / FRAMES, SERVICE_ZONE)
            frame = av.VideoFrame.from_image(draw(view, moment, arrivals))  # type: ignore[no-untyped-call]  # av types it halfway
            frame.pts, frame.time_base = first + number, Fraction(1, FRAMES)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return content.getvalue()
