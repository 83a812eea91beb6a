"""Parse a JPEG file by its markers: check its dimensions and completeness before any pixel is decoded.

A file of 1.7 MB can contain 144 megapixels, and decoding it would use up the memory. The result is the same picture
without metadata (place and time, thumbnails, data after its end).
"""

import re
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

_SOI, _EOI, _SOS, _COM, _DNL = 0xD8, 0xD9, 0xDA, 0xFE, 0xDC
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_RESTARTS = range(0xD0, 0xD8)
_ORIENTATION = 0x0112
_MARKER = re.compile(rb"\xff([^\x00\xff])", re.DOTALL)


class BrokenJpeg(ValueError):
    """The data is not a complete JPEG file."""


@dataclass(frozen=True)
class Jpeg:
    """A complete JPEG. `content` has no metadata; `orientation` is from its EXIF (1: unchanged, up to 8)."""

    content: bytes
    width: int
    height: int
    orientation: int


def parse_jpeg(data: bytes) -> Jpeg:
    """Parse a file. Raises BrokenJpeg."""
    if data[:2] != b"\xff\xd8":
        raise BrokenJpeg("no beginning")
    kept, size, orientation, at = [data[:2]], (0, 0), 1, 2
    while True:
        marker, at = _next_marker(data, at)
        if marker == _EOI:
            break
        start, at = at - 2, _segment_end(data, at)
        segment = data[start + 4 : at]
        if marker in _FRAMES:
            size = _frame_size(segment, size)
        elif marker == 0xE1 and segment.startswith(b"Exif\0\0"):
            orientation = _orientation(segment)
        if marker == _SOS:
            at = _scan_end(data, at)
        if _is_needed(marker, segment):
            # Pixel data does not end in 0xFF: such bytes only fill up to the next marker.
            kept.append(data[start:at].rstrip(b"\xff") if marker == _SOS else data[start:at])
    if not all(size) or not any(part[1] == _SOS for part in kept):
        raise BrokenJpeg("no picture")
    return Jpeg(b"".join([*kept, b"\xff\xd9"]), *size, orientation)


def _next_marker(data: bytes, at: int) -> tuple[int, int]:
    """Return the next marker and where it ends.

    Bytes before it are skipped, as browsers do, because some phones and editors write them.
    """
    found = _MARKER.search(data, at)
    if found is None:
        raise BrokenJpeg("no marker")
    marker = found[1][0]
    if marker in (_SOI, _DNL) or marker in _RESTARTS:
        raise BrokenJpeg("no end")
    return marker, found.end()


def _segment_end(data: bytes, at: int) -> int:
    length = int.from_bytes(data[at : at + 2], "big")
    if length < 2 or at + length > len(data):
        raise BrokenJpeg("a broken segment")
    return at + length


def _scan_end(data: bytes, at: int) -> int:
    """Return where the pixel data ends: at the next marker that is neither an escaped byte nor a restart."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise BrokenJpeg("cut off")
        if data[at + 1] != 0xFF and data[at + 1] != 0 and data[at + 1] not in _RESTARTS:
            return at
        at += 1 if data[at + 1] == 0xFF else 2


def _frame_size(segment: bytes, before: tuple[int, int]) -> tuple[int, int]:
    """Return width and height of a frame. A second frame must have the same size."""
    if len(segment) < 6:
        raise BrokenJpeg("a broken frame")
    found = int.from_bytes(segment[3:5], "big"), int.from_bytes(segment[1:3], "big")
    if before not in ((0, 0), found):
        raise BrokenJpeg("two sizes")
    return found


def _is_needed(marker: int, segment: bytes) -> bool:
    """Return True if the picture needs this segment. Of the application segments, only those for colours are needed."""
    if marker == _COM or 0xE0 <= marker <= 0xEF:
        return marker in (0xE0, 0xEE) or (marker == 0xE2 and segment.startswith(b"ICC_PROFILE\0"))
    return True


def _orientation(segment: bytes) -> int:
    exif = Image.Exif()
    try:
        exif.load(segment)
        found = exif.get(_ORIENTATION, 1)
    except Exception:  # ignore all errors of broken metadata: the picture is still usable
        return 1
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def decode_jpeg(jpeg: Jpeg, least: tuple[int, int]) -> Image.Image:
    """Return the pixels, scaled down while decoding to no less than `least`. Raises BrokenJpeg."""
    try:
        picture = Image.open(BytesIO(jpeg.content), formats=("JPEG",))
        picture.draft(picture.mode, least)
        picture.load()
    except Exception as error:  # Pillow's readers raise many kinds
        raise BrokenJpeg("cannot be decoded") from error
    return picture
