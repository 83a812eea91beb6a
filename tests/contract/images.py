"""Picture files, made here: a flat grey JPEG of any size that no two calls repeat, and a PNG."""

import secrets
import struct
import zlib

from accessapi.client import Image

_ZEROES = bytes(16)


def jpeg(width: int = 480, height: int = 640, *, size: int = 0) -> Image:
    """Return a grey baseline JPEG, padded with a comment to at least `size` bytes; its bytes are new each time."""
    comments = _segment(0xFE, b"contract suite " + secrets.token_hex(16).encode())
    while len(comments) < size:
        comments += _segment(0xFE, b"\x20" * 65000)
    table = _segment(0xDB, b"\x00" + b"\x01" * 64)
    frame = _segment(0xC0, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00")
    # One code of one bit each: "same average" and "no details". A block is two zero bits.
    codes = _segment(0xC4, b"\x00\x01" + _ZEROES[1:] + b"\x00") + _segment(0xC4, b"\x10\x01" + _ZEROES[1:] + b"\x00")
    scan = _segment(0xDA, b"\x01\x01\x00\x00\x3f\x00")
    bits = 2 * -(-width // 8) * -(-height // 8)
    data = bytes(bits // 8) + (bytes([0xFF >> bits % 8]) if bits % 8 else b"")
    content = b"\xff\xd8" + _jfif() + comments + table + frame + codes + scan + data + b"\xff\xd9"
    return Image(content, "image/jpeg")


def png() -> Image:
    """Return one grey pixel as PNG."""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return Image(
        b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(b"\x00\x80")) + _chunk(b"IEND", b""), "image/png"
    )


def _jfif() -> bytes:
    return _segment(0xE0, b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
