"""Pictures that browsers show but other readers may not: accepted as they are seen, or refused; never blank."""

import io
import struct

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image, ImageChops

from portal.base.files import pictures
from portal.plans import forms
from tests.support.images import jpeg


def grey_of_16_bits(width=600, height=800):
    """Return a PNG that goes from black on the left to white on the right."""
    line = b"".join(struct.pack("<H", 65535 * x // (width - 1)) for x in range(width))
    made = io.BytesIO()
    Image.frombytes("I;16", (width, height), line * height).save(made, "PNG")
    return made.getvalue()


def upload(content):
    return SimpleUploadedFile("a", content)


@pytest.mark.parametrize(
    "read",
    [pictures.prepare_profile_picture, lambda file: pictures.prepare_drawing(file, forms.render_first_page)],
)
def test_a_grey_picture_of_16_bits_is_seen_in_all_its_tones(read):
    seen = Image.open(io.BytesIO(read(upload(grey_of_16_bits())).content)).convert("L")
    width = seen.width
    tones = [seen.getpixel((place, 10)) for place in (2, width // 4, width // 2, 3 * width // 4, width - 3)]
    assert all(abs(tone - wanted) < 6 for tone, wanted in zip(tones, (0, 64, 128, 191, 255), strict=True)), tones


PLAIN = jpeg()
AFTER_FIRST = 4 + struct.unpack(">H", PLAIN[4:6])[0]
ODD = {
    "bytes between its parts": PLAIN[:AFTER_FIRST] + b"\x00\x12\x34" * 6 + PLAIN[AFTER_FIRST:],
    "zeros that look escaped": PLAIN[:AFTER_FIRST] + b"\xff\x00\x12" + PLAIN[AFTER_FIRST:],
    "fill bytes before a marker": PLAIN[:AFTER_FIRST] + b"\xff" * 40 + PLAIN[AFTER_FIRST:],
    "fill bytes before its end": PLAIN[:-2] + b"\xff" * 9 + PLAIN[-2:],
    "bytes after its end": PLAIN + b"<script>secret place</script>" * 9,
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
@pytest.mark.parametrize("read", [pictures.prepare_face, pictures.prepare_profile_picture])
def test_a_jpeg_with_bytes_that_belong_to_nothing_is_read_and_leaves_clean(read, content):
    made, plain = read(upload(content)).content, read(upload(PLAIN)).content
    assert made == plain
    opened = [Image.open(io.BytesIO(each)).convert("RGB") for each in (made, content)]
    opened[1].thumbnail(opened[0].size)
    assert max(high for _low, high in ImageChops.difference(*opened).getextrema()) < 16


@pytest.mark.parametrize("end", [AFTER_FIRST, len(PLAIN) // 2, len(PLAIN) - 2])
def test_one_that_is_cut_off_is_refused_all_the_same(end):
    with pytest.raises(pictures.PictureFault, match="damaged or incomplete"):
        pictures.prepare_face(upload(PLAIN[:end]))
    with pytest.raises(pictures.PictureFault, match="damaged or incomplete"):
        pictures.prepare_face(upload(PLAIN[: end - 2] + b"\x00\x12" * 500))
