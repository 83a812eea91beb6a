"""Check uploaded pictures before they are decoded, and remove their metadata.

A JPEG file is parsed by its markers first: a file of 1.7 MB can contain 144 megapixels, and decoding it would use up
the memory. The result is the same picture without metadata (place and time, thumbnails, data after its end).

Faces are sent as JPEG of at most 2 MB (specification: operation 8, Limits). Profile pictures have no limit in the
specification and are scaled down here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from math import ceil
from typing import TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext as _
from PIL import Image, ImageOps

from accessapi import limits

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
    parts, size, orientation, at = [data[:2]], (0, 0), 1, 2
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
            parts.append(data[start:at].rstrip(b"\xff") if marker == _SOS else data[start:at])
    if not all(size) or not any(part[1] == _SOS for part in parts):
        raise BrokenJpeg("no picture")
    return Jpeg(b"".join([*parts, b"\xff\xd9"]), *size, orientation)


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


# Decoding larger pictures would use up the server's memory. 16 megapixels are four times what a face needs.
MAX_PIXELS = 16_000_000
MAX_PIXELS_PNG = 8_000_000
PROFILE_MAX = 8 * 1024 * 1024
PROFILE_SIDE = 800
DRAWING_MAX = 8 * 1024 * 1024
DRAWING_SIDE = 2400
# An assumption: smaller faces cannot be distinguished. 1200 x 1600 is what the specification recommends.
MIN_SHORT_SIDE, MIN_LONG_SIDE = 300, 400
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"), (b"%PDF", "PDF"), (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"), (b"\0\0\1\0", "ICO"), (b"<svg", "SVG"), (b"PK\3\4", "ZIP"),
)  # fmt: skip

_SHOWN_TYPES = {b"\xff\xd8\xff": "image/jpeg", _KINDS[0][0]: "image/png"}

Upload: TypeAlias = "UploadedFile[bytes]"


class PictureFault(ValueError):
    """The picture cannot be used. The text gives the reason and the remedy, for a person."""


@dataclass(frozen=True)
class CheckedPicture:
    """A checked JPEG."""

    content: bytes
    width: int
    height: int

    @property
    def metadata(self) -> dict[str, object]:
        """Return what an intent stores about the picture. With the digest, a form that is sent again is recognised."""
        digest = sha256(self.content).hexdigest()
        return {"content_type": "image/jpeg", "bytes": len(self.content), "width": self.width, "height": self.height,
                "sha256": digest}  # fmt: skip


def content_type_of(content: bytes) -> str:
    """Return the content type of a picture from its first bytes; "" for types that pages do not show."""
    return next((kind for head, kind in _SHOWN_TYPES.items() if content.startswith(head)), "")


def mark_of(content: bytes) -> str:
    """Return a text that is in a picture's address, so that the address changes with the picture."""
    return sha256(content).hexdigest()[:32]


def send_picture(content: bytes) -> HttpResponse:
    """Return the response with a stored picture."""
    return HttpResponse(content, content_type=content_type_of(content) or "application/octet-stream")


def prepare_face(upload: Upload) -> CheckedPicture:
    """Return a face image for operation 8. Raises PictureFault."""
    data = _read(upload, limits.FACE_IMAGE_MAX)
    found = _jpeg(data, only=True)
    _check_size(found.width, found.height, MAX_PIXELS)
    if min(found.width, found.height) < MIN_SHORT_SIDE or max(found.width, found.height) < MIN_LONG_SIDE:
        text = _("The picture has only %(width)d × %(height)d pixels. Take one of about 1200 × 1600, closer up.")
        raise PictureFault(text % {"width": found.width, "height": found.height})
    pixels = _decoded(found, (found.width // 8, found.height // 8))
    if found.orientation == 1 and pixels.mode in ("RGB", "L"):
        return CheckedPicture(found.content, found.width, found.height)
    return _normalize(
        _decoded(found, limits.FACE_IMAGE_RECOMMENDED), found.orientation, limits.FACE_IMAGE_RECOMMENDED[1]
    )


def prepare_profile_picture(upload: Upload) -> CheckedPicture:
    """Return a profile picture (operation 7) from a JPEG or PNG, at most 800 pixels a side. Raises PictureFault."""
    return prepare_picture(_read(upload, PROFILE_MAX))


def prepare_drawing(upload: Upload, page: Callable[[bytes], bytes]) -> CheckedPicture:
    """Return a drawing from a JPEG, PNG or PDF file, at most 2400 pixels a side. `page` draws a PDF's page as PNG.

    Raises PictureFault, and the errors of `page`.
    """
    data = _read(upload, DRAWING_MAX)
    return prepare_picture(page(data) if data.startswith(b"%PDF") else data, DRAWING_SIDE)


def prepare_picture(data: bytes, side: int = PROFILE_SIDE) -> CheckedPicture:
    """Return a picture from the bytes of a JPEG or PNG file, at most `side` pixels a side. Raises PictureFault."""
    if data.startswith(_KINDS[0][0]):
        return _normalize(_png(data), 1, side)
    found = _jpeg(data, only=False)
    _check_size(found.width, found.height, MAX_PIXELS)
    return _normalize(_decoded(found, (side, side)), found.orientation, side)


def _read(upload: Upload, most: int) -> bytes:
    if (upload.size or 0) > most:
        text = _("The file is %(size)s MB; the limit is %(most)d MB. Save it smaller, or take a new picture here.")
        size = ceil((upload.size or 0) * 100 / 1024**2) / 100
        raise PictureFault(text % {"size": f"{size:.2f}", "most": most // 1024**2})
    data = bytes(upload.read())
    if not data:
        raise PictureFault(_("The file is empty. Choose another one."))
    return data


def _jpeg(data: bytes, *, only: bool) -> Jpeg:
    if not data.startswith(b"\xff\xd8"):
        kind = _kind(data)
        formats = "JPEG" if only else _("JPEG or PNG")
        if kind:
            text = _("This is a %(kind)s file. Use %(wanted)s: save it as JPEG first.")
            raise PictureFault(text % {"kind": kind, "wanted": formats})
        raise PictureFault(_("This picture cannot be read. Use %(wanted)s.") % {"wanted": formats})
    try:
        return parse_jpeg(data)
    except BrokenJpeg:
        raise PictureFault(_damaged_text()) from None


def _kind(data: bytes) -> str:
    if data[4:8] == b"ftyp":
        return "AVIF" if data[8:12] == b"avif" else "HEIC" if data[8:11] in (b"hei", b"mif") else "MP4"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    return next((name for start, name in _KINDS if data.lstrip()[:8].startswith(start)), "")


def _check_size(width: int, height: int, most: int) -> None:
    if width * height > most:
        text = _(
            "The picture has %(width)d × %(height)d pixels (%(mega)d megapixels); the limit is "
            "%(most)d megapixels. Save it smaller: 1200 × 1600 is enough."
        )
        mega = round(width * height / 1e6)
        raise PictureFault(text % {"width": width, "height": height, "mega": mega, "most": most // 10**6})


def _decoded(found: Jpeg, least: tuple[int, int]) -> Image.Image:
    try:
        return decode_jpeg(found, least)
    except BrokenJpeg:
        raise PictureFault(_damaged_text()) from None


def _png(data: bytes) -> Image.Image:
    # The first block contains the size: check it before Pillow opens the file.
    _check_size(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"), MAX_PIXELS_PNG)
    try:
        picture = Image.open(BytesIO(data), formats=("PNG",))
        picture.load()
    except Exception:  # Pillow's readers raise many kinds
        raise PictureFault(_damaged_text()) from None
    if picture.mode in ("RGB", "L"):
        return picture
    if picture.mode.startswith("I"):
        return _to_eight_bits(picture)
    background = Image.new("RGB", picture.size, "white")
    image = picture.convert("RGBA")
    background.paste(image, mask=image)
    return background


def _to_eight_bits(picture: Image.Image) -> Image.Image:
    """Return a grey picture of 16 bits in 8 bits. Pillow's own conversion clips, so that nearly all would be white."""
    return picture.convert("I").point(lambda value: value * (1 / 257) + 0.5).convert("L")


def _damaged_text() -> str:
    return _("The file is damaged or incomplete. Copy it again, or take a new picture.")


def _normalize(picture: Image.Image, orientation: int, longest: int) -> CheckedPicture:
    """Return a new JPEG: rotated upright, no side longer than `longest`, in RGB or grey."""
    if picture.mode not in ("RGB", "L"):
        picture = picture.convert("RGB")
    picture.thumbnail((longest, longest))
    if orientation != 1:
        picture.getexif()[0x0112] = orientation
        picture = ImageOps.exif_transpose(picture)
    for quality in (90, 75):
        made = BytesIO()
        picture.save(made, "JPEG", quality=quality, exif=b"")
        if made.tell() <= limits.FACE_IMAGE_MAX:
            break
    return CheckedPicture(made.getvalue(), *picture.size)
