"""Check uploaded pictures before they are decoded, and write them again as clean JPEG files.

The size in the header is checked first: a file of 1.7 MB can contain 144 megapixels, and decoding it would use up the
memory. The result has no metadata (place and time, thumbnails, data after its end), is upright and in the colours of a
screen. Pillow reads what browsers and phones read.

Faces are sent as JPEG of at most 2 MB (specification: operation 8, Limits). Profile pictures have no limit in the
specification and are scaled down here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from math import ceil
from typing import Final, TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext as _
from PIL import Image, ImageCms
from PIL.ExifTags import Base
from PIL.Image import Transpose
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile

from accessapi import limits

# Decoding larger pictures would use up the server's memory. 16 megapixels are four times what a face needs.
MAX_PIXELS = 16_000_000
MAX_PIXELS_PNG = 8_000_000
# Decoding takes time for each scan of the whole picture. Programs write up to about ten.
_MAX_SCANS = 500
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
# PDF readers search this many bytes for the beginning of the file, because mail and web programs put bytes before it.
_SEARCHED = 1024
_BEGINNING = re.compile(rb"\A\xff\xd8|\xff\xd8\xff|\x89PNG\r\n\x1a\n|%PDF")
_TURNS: Final[dict[object, Transpose]] = {
    2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM, 5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_90,
}  # fmt: skip

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


class _Jpeg(JpegImageFile):
    """A JPEG whose resolution is not looked for in its metadata: an error there would end the reading."""

    def _read_dpi_from_exif(self) -> None:
        return


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
    """Return a face image for operation 8, at most 1600 pixels a side. Raises PictureFault."""
    picture = _open(_read(upload, limits.FACE_IMAGE_MAX), only_jpeg=True)
    width, height = picture.size
    if min(width, height) < MIN_SHORT_SIDE or max(width, height) < MIN_LONG_SIDE:
        text = _("The picture has only %(width)d × %(height)d pixels. Take one of about 1200 × 1600, closer up.")
        raise PictureFault(text % {"width": width, "height": height})
    return _rewrite(picture, max(limits.FACE_IMAGE_RECOMMENDED))


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
    return _rewrite(_open(data), side)


def _read(upload: Upload, most: int) -> bytes:
    """Return the file from its beginning on."""
    if (upload.size or 0) > most:
        text = _("The file is %(size)s MB; the limit is %(most)d MB. Save it smaller, or take a new picture here.")
        size = ceil((upload.size or 0) * 100 / 1024**2) / 100
        raise PictureFault(text % {"size": f"{size:.2f}", "most": most // 1024**2})
    data = bytes(upload.read())
    if not data:
        raise PictureFault(_("The file is empty. Choose another one."))
    begins = _BEGINNING.search(data, 0, _SEARCHED)
    # Other kinds have pictures inside, for example the thumbnail of a HEIC file.
    return data[begins.start() :] if begins and _kind(data) in ("", "PNG", "PDF") else data


def _kind(data: bytes) -> str:
    if data[4:8] == b"ftyp":
        return "AVIF" if data[8:12] == b"avif" else "HEIC" if data[8:11] in (b"hei", b"mif") else "MP4"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    return next((name for start, name in _KINDS if data.lstrip()[:8].startswith(start)), "")


def _open(data: bytes, *, only_jpeg: bool = False) -> JpegImageFile | PngImageFile:
    """Return the picture. Its size is checked, its pixels are not decoded yet."""
    kind = "JPEG" if data.startswith(b"\xff\xd8") else _kind(data)
    if kind != "JPEG" and (only_jpeg or kind != "PNG"):
        formats = "JPEG" if only_jpeg else _("JPEG or PNG")
        if kind:
            text = _("This is a %(kind)s file. Use %(wanted)s: save it as JPEG first.")
            raise PictureFault(text % {"kind": kind, "wanted": formats})
        raise PictureFault(_("This picture cannot be read. Use %(wanted)s.") % {"wanted": formats})
    try:  # not Image.open, which refuses large pictures before their size can be read
        if kind == "PNG":
            picture: JpegImageFile | PngImageFile = PngImageFile(BytesIO(data))
        elif data.count(b"\xff\xda") > _MAX_SCANS or b"\xff\xd9" not in data:
            raise ValueError("too many scans, or no end")
        else:
            picture = _Jpeg(BytesIO(b"\xff\xd8" + data[data.index(b"\xff", 2) :]))
    except Exception:  # Pillow's readers raise many kinds
        raise PictureFault(_damaged_text()) from None
    _check_size(*picture.size, MAX_PIXELS_PNG if kind == "PNG" else MAX_PIXELS)
    return picture


def _check_size(width: int, height: int, most: int) -> None:
    if width * height > most:
        text = _(
            "The picture has %(width)d × %(height)d pixels (%(mega)d megapixels); the limit is "
            "%(most)d megapixels. Save it smaller: 1200 × 1600 is enough."
        )
        mega = round(width * height / 1e6)
        raise PictureFault(text % {"width": width, "height": height, "mega": mega, "most": most // 10**6})


def _damaged_text() -> str:
    return _("The file is damaged or incomplete. Copy it again, or take a new picture.")


def _rewrite(opened: JpegImageFile | PngImageFile, longest: int) -> CheckedPicture:
    """Return a new JPEG of the pixels: upright, no side longer than `longest`, in RGB or grey."""
    try:
        opened.draft(opened.mode, (longest, longest))  # a JPEG is scaled down while it is decoded
        opened.load()
        picture = _flat(opened)
    except Exception:  # Pillow's readers raise many kinds
        raise PictureFault(_damaged_text()) from None
    picture.thumbnail((longest, longest))
    turn = _TURNS.get(_orientation(opened))
    picture = _in_screen_colours(picture.transpose(turn) if turn is not None else picture)
    picture.info.clear()  # a comment would be written again
    for quality in (90, 75):
        made = BytesIO()
        picture.save(made, "JPEG", quality=quality)
        if made.tell() <= limits.FACE_IMAGE_MAX:
            break
    return CheckedPicture(made.getvalue(), *picture.size)


def _flat(picture: Image.Image) -> Image.Image:
    """Return the picture in 8 bits a colour, on white where it is transparent."""
    if picture.mode.startswith("I"):  # 16 bits of grey. Pillow's own conversion clips: nearly all would be white
        return picture.convert("I").point(lambda value: value * (1 / 257) + 0.5).convert("L")
    if picture.has_transparency_data:
        background, image = Image.new("RGB", picture.size, "white"), picture.convert("RGBA")
        background.paste(image, mask=image)
        return background
    return picture if picture.mode in ("RGB", "L", "CMYK") else picture.convert("RGB")


def _orientation(picture: Image.Image) -> object:
    try:
        return picture.getexif().get(Base.Orientation)
    except Exception:  # ignore all errors of broken metadata: the picture is still usable
        return None


def _in_screen_colours(picture: Image.Image) -> Image.Image:
    """Return the picture in RGB or grey. Phones and printers have other colours, and store how to convert them."""
    try:
        profile = ImageCms.ImageCmsProfile(BytesIO(picture.info["icc_profile"]))
        screen = ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(picture, profile, screen, outputMode="RGB") or picture
    except Exception:  # no profile, or one that does not fit the picture
        return picture if picture.mode in ("RGB", "L") else picture.convert("RGB")
