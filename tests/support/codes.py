"""Visits with codes, stored as issuing would store them, and reading of drawn codes."""

import io
import re
from datetime import datetime, timedelta
from typing import Any

import zxingcpp
from django.test import Client
from django.utils import timezone
from PIL import Image
from pypdfium2 import PdfDocument

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
    """Return a PDF's text, the sizes of its pages in millimetres, and the QR codes that can be read from them."""
    words, sizes, codes = [], [], []
    with PdfDocument(content) as document:
        for page in document:
            words += page.get_textpage().get_text_range().splitlines()
            sizes.append(tuple(round(points / 72 * 25.4, 1) for points in page.get_size()))
            picture = page.render(scale=4).to_pil().convert("L")
            codes += [found.text for found in zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormat.QRCode)]
    return " ".join(words), sizes, codes


def stranger(language: str = "en") -> Client:
    """Return the browser of a phone on which no one has signed in."""
    return Client(headers={"Accept-Language": language})


def hours_from_now(**by: float) -> datetime:
    return timezone.now().replace(microsecond=0) + timedelta(**by)
