"""Pictures as cameras, phones and attackers create them."""

import struct
import zlib
from io import BytesIO

from PIL import Image

from tests.support.codes import read_svg


def jpeg(width: int = 900, height: int = 1200, *, orientation: int = 0, colour: int = 128, **saved: object) -> bytes:
    """Return a JPEG with a white upper left corner. `orientation` adds an EXIF entry, with private data."""
    picture = Image.new("RGB", (width, height), (colour, 120, 90))
    picture.paste((255, 255, 255), (0, 0, width // 3, height // 3))
    if orientation:
        exif = Image.Exif()
        exif[0x0112], exif[0x010E] = orientation, "taken in a secret place"
        saved["exif"] = exif
    made = BytesIO()
    picture.save(made, "JPEG", **saved)
    return made.getvalue()


def png(width: int = 900, height: int = 1200, **saved: object) -> bytes:
    made = BytesIO()
    Image.new("RGB", (width, height), (40, 120, 90)).save(made, "PNG", **saved)
    return made.getvalue()


def huge_jpeg() -> bytes:
    """Return a real JPEG of 144 megapixels in under 2 MB."""
    made = BytesIO()
    Image.new("L", (12_000, 12_000), 200).save(made, "JPEG", quality=10, optimize=True)
    return made.getvalue()


def huge_png() -> bytes:
    """Return a PNG of a few hundred bytes that claims to have 400 megapixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(bytes(60_001))), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def read_qr(page: str) -> str:
    """Return the text of the QR code that a page draws; empty when there is none."""
    return "".join(read_svg(page)) if 'class="qr"' in page else ""
