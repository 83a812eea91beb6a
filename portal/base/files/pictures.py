"""Check uploaded pictures before they are decoded, and remove their metadata.

Faces are sent as JPEG of at most 2 MB (specification: operation 8, Limits). Profile pictures have no limit in the
specification and are scaled down here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from math import ceil
from typing import TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from PIL import Image, ImageOps

from accessapi import limits
from portal.base.files import jpeg

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


def prepare_face(upload: Upload) -> CheckedPicture:
    """Return a face image for operation 8. Raises PictureFault."""
    data = _read(upload, limits.FACE_IMAGE_MAX)
    found = _jpeg(data, only=True)
    _check_size(found.width, found.height, MAX_PIXELS)
    if min(found.width, found.height) < MIN_SHORT_SIDE or max(found.width, found.height) < MIN_LONG_SIDE:
        words = _("The picture has only %(width)d × %(height)d pixels. Take one of about 1200 × 1600, closer up.")
        raise PictureFault(words % {"width": found.width, "height": found.height})
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
        words = _("The file is %(size)s MB; the limit is %(most)d MB. Save it smaller, or take a new picture here.")
        size = ceil((upload.size or 0) * 100 / 1024**2) / 100
        raise PictureFault(words % {"size": f"{size:.2f}", "most": most // 1024**2})
    data = bytes(upload.read())
    if not data:
        raise PictureFault(_("The file is empty. Choose another one."))
    return data


def _jpeg(data: bytes, *, only: bool) -> jpeg.Jpeg:
    if not data.startswith(b"\xff\xd8"):
        kind = _kind(data)
        wanted = "JPEG" if only else _("JPEG or PNG")
        if kind:
            words = _("This is a %(kind)s file. Use %(wanted)s: save it as JPEG first.")
            raise PictureFault(words % {"kind": kind, "wanted": wanted})
        raise PictureFault(_("This picture cannot be read. Use %(wanted)s.") % {"wanted": wanted})
    try:
        return jpeg.parse_jpeg(data)
    except jpeg.BrokenJpeg:
        raise PictureFault(_damaged_text()) from None


def _kind(data: bytes) -> str:
    if data[4:8] == b"ftyp":
        return "AVIF" if data[8:12] == b"avif" else "HEIC" if data[8:11] in (b"hei", b"mif") else "MP4"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    return next((name for start, name in _KINDS if data.lstrip()[:8].startswith(start)), "")


def _check_size(width: int, height: int, most: int) -> None:
    if width * height > most:
        words = _(
            "The picture has %(width)d × %(height)d pixels (%(mega)d megapixels); the limit is "
            "%(most)d megapixels. Save it smaller: 1200 × 1600 is enough."
        )
        mega = round(width * height / 1e6)
        raise PictureFault(words % {"width": width, "height": height, "mega": mega, "most": most // 10**6})


def _decoded(found: jpeg.Jpeg, least: tuple[int, int]) -> Image.Image:
    try:
        return jpeg.decode_jpeg(found, least)
    except jpeg.BrokenJpeg:
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
    ground = Image.new("RGB", picture.size, "white")
    seen = picture.convert("RGBA")
    ground.paste(seen, mask=seen)
    return ground


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
