"""Pictures as cameras, phones and attackers make them."""

import re
import struct
import zlib
from io import BytesIO

import zxingcpp
from PIL import Image


def jpeg(width: int = 900, height: int = 1200, *, orientation: int = 0, colour: int = 128, **saved: object) -> bytes:
    """A JPEG; its left upper corner is white. `orientation` as EXIF says it, with words that tell too much."""
    picture = Image.new("RGB", (width, height), (colour, 120, 90))
    picture.paste((255, 255, 255), (0, 0, width // 3, height // 3))
    if orientation:
        exif = Image.Exif()
        exif[0x0112], exif[0x010E] = orientation, "taken in a secret place"
        saved["exif"] = exif
    made = BytesIO()
    picture.save(made, "JPEG", **saved)
    return made.getvalue()


def png(width: int = 900, height: int = 1200) -> bytes:
    made = BytesIO()
    Image.new("RGB", (width, height), (40, 120, 90)).save(made, "PNG")
    return made.getvalue()


def huge_jpeg() -> bytes:
    """A real JPEG of 144 megapixels in under 2 MB."""
    made = BytesIO()
    Image.new("L", (12_000, 12_000), 200).save(made, "JPEG", quality=10, optimize=True)
    return made.getvalue()


def huge_png() -> bytes:
    """A PNG that says it has 400 megapixels, in some hundred bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(bytes(60_001))), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def read_qr(page: str) -> str:
    """What a reader finds in the QR code that a page draws; empty when it draws none."""
    found = re.search(
        r'viewBox="0 0 (\d+) \1" class="qr-drawn".*?scale\((\d+)\).*?class="qrline"[^>]* d="([^"]+)"', page
    )
    if not found:
        return ""
    side, x, y = int(found[1]) // int(found[2]), 0.0, 0.0
    picture = Image.new("L", (side, side), 255)
    for letter, numbers in re.findall(r"([Mmh])([^Mmh]*)", found[3]):
        given = [float(number) for number in numbers.split()]
        if letter == "h":
            for column in range(int(given[0])):
                picture.putpixel((int(x) + column, int(y)), 0)
            x += given[0]
        else:
            x, y = (given[0], given[1]) if letter == "M" else (x + given[0], y + given[1])
    big = picture.resize((side * 6, side * 6), Image.Resampling.NEAREST)
    return "".join(each.text for each in zxingcpp.read_barcodes(big))
