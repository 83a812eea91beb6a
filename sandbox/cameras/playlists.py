"""Playlists of HTTP Live Streaming (RFC 8216). Segments are named after their first second."""

from collections.abc import Sequence
from datetime import datetime

from sandbox import clock
from sandbox.cameras.video import SEGMENT_SECONDS, day_of

#: Seconds by which the live picture is late: enough to know everyone who walks to the door.
LAG_SECONDS = 6
#: Segments in a live playlist, and seconds for which each may still be fetched after that.
_SHOWN, _KEPT = 5, 60


def live_playlist(now: datetime) -> str:
    """Return the playlist of the live picture at this moment."""
    newest = _newest_segment(now)
    starts = range(newest - (_SHOWN - 1) * SEGMENT_SECONDS, newest + 1, SEGMENT_SECONDS)
    return _playlist([(start, SEGMENT_SECONDS) for start in starts], starts[0] // SEGMENT_SECONDS, ended=False)


def is_live_segment(start: int, now: datetime) -> bool:
    """Return whether a live playlist names, or named a moment ago, the segment that begins at this second."""
    return start % SEGMENT_SECONDS == 0 and 0 <= _newest_segment(now) - start <= _KEPT


def recording_playlist(since: int, until: int) -> str:
    """Return the whole playlist of a recording."""
    starts = range(since, until, SEGMENT_SECONDS)
    return _playlist([(start, segment_seconds(start, until)) for start in starts], 0, ended=True)


def segment_seconds(start: int, until: int) -> int:
    """Return the seconds of the segment of a recording that begins here; the last one may be shorter."""
    return min(SEGMENT_SECONDS, until - start)


def _newest_segment(now: datetime) -> int:
    return (int(now.timestamp()) - LAG_SECONDS) // SEGMENT_SECONDS * SEGMENT_SECONDS - SEGMENT_SECONDS


def _playlist(segments: Sequence[tuple[int, int]], number: int, *, ended: bool) -> str:
    first = segments[0][0]
    lines = [
        "#EXTM3U",
        "#EXT-X-VERSION:3",
        f"#EXT-X-TARGETDURATION:{SEGMENT_SECONDS}",
        f"#EXT-X-MEDIA-SEQUENCE:{number}",
    ]
    lines += ["#EXT-X-PLAYLIST-TYPE:VOD"] if ended else [f"#EXT-X-DISCONTINUITY-SEQUENCE:{day_of(first)}"]
    lines.append(f"#EXT-X-PROGRAM-DATE-TIME:{clock.format_moment(datetime.fromtimestamp(first, clock.SERVICE_ZONE))}")
    before = first
    for start, seconds in segments:
        if day_of(start) != day_of(before):
            lines.append("#EXT-X-DISCONTINUITY")
        lines += [f"#EXTINF:{seconds:.3f},", f"{start}.ts"]
        before = start
    return "\n".join([*lines, *(["#EXT-X-ENDLIST"] if ended else []), ""])
