"""Visits with codes, stored as issuing would store them, and reading of drawn codes."""

import io
import re
import zlib
from datetime import datetime, timedelta
from typing import Any

import zxingcpp
from django.test import Client
from django.utils import timezone
from PIL import Image

from portal.domain.people.models import Guest
from portal.domain.people.text_folding import fold
from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.support.places import Place

_DRAWN = re.compile(r'viewBox="0 0 (\d+) \1"[^>]*><rect[^>]*>(?:</rect>)?<path fill="#000" d="([^"]+)"')
CODE = "3f1c2a7be0954d8c9a6b1e7f20d4c8aa"


def visit(place: Place, name: str = "田中 愛子", *, code: str | None = CODE, guest_id: str = "", **facts: Any) -> Visit:
    """Create an issued visit that began an hour ago and ends in eight. `code` None: the portal does not know it."""
    now = timezone.now().replace(microsecond=0)
    start = facts.pop("start", now - timedelta(hours=1))
    end = facts.pop("end", now + timedelta(hours=8))
    with tenant_scope(place.tenant):
        guest_id = guest_id or f"g-{Visit.objects.count() + 1}-{place.tenant.pk}"
        shared = {"guest_id": guest_id, "guest_name": name, "name_key": fold(name)}
        shared |= {"use_date_start": start, "use_date_end": end}
        Guest.objects.create(**shared, qrcode_data=code, first_hand_at=now)
        return Visit.objects.create(**shared, stage="issued", **facts)


def url(place: Place, rest: str = "") -> str:
    return f"/t/{place.tenant.slug}/guests/{rest}"


def read_png(content: bytes) -> list[str]:
    """Return what a code reader finds in a picture."""
    picture = Image.open(io.BytesIO(content)).convert("L")
    return [found.text for found in zxingcpp.read_barcodes(picture)]


def read_svg(text: str, module: int = 4) -> list[str]:
    """Return what a code reader finds in the first code of a page or file, drawn from its paths alone."""
    found = _DRAWN.search(text)
    assert found, "No link was created because there is no code to show."
    side = int(found[1])
    picture = Image.new("L", (side, side), 255)
    for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", found[2]):
        for column in range(int(x), int(x) + int(length)):
            picture.putpixel((column, int(y)), 0)
    big = picture.resize((side * module, side * module), Image.Resampling.NEAREST)
    # In the dots of a large QR code, a reader that looks for all kinds of codes sometimes finds a barcode.
    return [each.text for each in zxingcpp.read_barcodes(big, formats=zxingcpp.BarcodeFormat.QRCode)]


def read_pdf(content: bytes) -> tuple[str, list[tuple[float, float]], list[str]]:
    """Return a PDF's text, the sizes of its pages in millimetres, and the codes on each page."""
    streams = [zlib.decompress(raw) for raw in re.findall(rb"/FlateDecode.*?stream\n(.*?)\nendstream", content, re.S)]
    letters: dict[str, str] = {}
    plain = [raw for raw in re.findall(rb"stream\n(.*?)\nendstream", content, re.S) if b"beginbfchar" in raw]
    for table in [each for each in [*streams, *plain] if b"beginbfchar" in each]:
        for glyph, codes in re.findall(rb"<([0-9A-F]{4})> <([0-9A-F]+)>", table):
            letters[glyph.decode()] = bytes.fromhex(codes.decode()).decode("utf-16-be")
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    sizes = [(round(float(w) / 72 * 25.4, 1), round(float(h) / 72 * 25.4, 1)) for w, h in boxes]
    pages = [each for each in streams if b" re f" in each or b" Td" in each]
    words = " ".join(_words(each, letters) for each in pages)
    return words, sizes, [text for page in pages for text in _codes(page)]


def _words(page: bytes, letters: dict[str, str]) -> str:
    lines = []
    for raw in re.findall(rb"\((.*?)(?<!\\)\) Tj", page, re.S):
        data = re.sub(rb"\\(.)", lambda found: {b"r": b"\r", b"n": b"\n"}.get(found[1], found[1]), raw, flags=re.S)
        lines.append("".join(letters.get(data[at : at + 2].hex().upper(), "?") for at in range(0, len(data), 2)))
    return " ".join(lines)


def _codes(page: bytes) -> list[str]:
    """Draw the filled rectangles of a page as a picture, and return the codes in it."""
    scale = 4
    boxes = [tuple(map(float, box)) for box in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) (-?[\d.]+) re f", page)]
    if not boxes:
        return []
    picture = Image.new("L", (int(900 * scale), int(1300 * scale)), 255)
    for x, y, width, height in boxes:
        top, bottom = sorted((y, y + height))
        area = (
            round(x * scale),
            round((1300 - bottom) * scale),
            round((x + width) * scale),
            round((1300 - top) * scale),
        )
        picture.paste(0, area)
    return [found.text for found in zxingcpp.read_barcodes(picture)]


def stranger(language: str = "en") -> Client:
    """Return the browser of a phone on which no one has signed in."""
    return Client(headers={"Accept-Language": language})


def hours_from_now(**by: float) -> datetime:
    return timezone.now().replace(microsecond=0) + timedelta(**by)
