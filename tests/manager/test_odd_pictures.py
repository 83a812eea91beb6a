"""Pictures that browsers and phones show but other readers may not: shown as they are meant, or refused."""

import io
import itertools
import struct
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from fpdf import FPDF
from PIL import Image, ImageCms

from portal.plans.models import FloorPlan
from tests.support.images import jpeg
from tests.support.members import MembersDesk, later, said


class Pages(MembersDesk):
    """The pages that take a picture, and the pages that show what became of it."""

    def send_profile_picture(self, content):
        return self._upload("picture/edit/", content)

    def send_face(self, content, number=0):
        return self._upload("face/", content, number)

    def send_drawing(self, content):
        given = {"name": "1 階", "image": SimpleUploadedFile("a", content)}
        return self.client.post(f"/t/{self.place.tenant.slug}/plans/new/", given, follow=True)

    def _upload(self, page, content, number=0):
        rest = f"{self.members()[number].member_id}/{page}"
        given = {key: value for key, value in self.fields(rest).items() if key in ("nonce", "elapsed")}
        return self.client.post(self.url + rest, given | {"image": SimpleUploadedFile("a", content)}, follow=True)

    def shown_profile_picture(self, content):
        answer = self.send_profile_picture(content)
        assert 'data-state="done"' in answer.content.decode(), said(answer)
        member_id = self.members()[0].member_id
        self.client.get(f"{self.url}{member_id}/reading/", headers={"HX-Request": "true"})
        return self._picture(f"{self.url}{member_id}/picture/")

    def shown_drawing(self, content):
        answer = self.send_drawing(content)
        assert "Floor plan added." in said(answer), said(answer)
        with self.scope():
            plan = FloorPlan.objects.get()
        return self._picture(f"/t/{self.place.tenant.slug}/plans/{plan.pk}/picture/{plan.mark}/")

    def _picture(self, address):
        answer = self.client.get(address)
        assert answer["Content-Type"] == "image/jpeg"
        return Image.open(io.BytesIO(answer.content)).convert("RGB")

    def face_outcome(self, number):
        later(self)
        return self.get(f"{self.members()[number].member_id}/face/")


@pytest.fixture
def desk(make):
    return Pages(make(members=2))


PLACES = [Pages.shown_profile_picture, Pages.shown_drawing]


def a_png(depth, colours, lines, size):
    """Return a PNG by its specification. `colours`: 0 grey, 2 RGB, 4 and 6 the same with transparency."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", *size, depth, colours, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + line for line in lines))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def fading(colours, width=600, height=400):
    """Return a PNG of 16 bits that goes from black on the left to white on the right."""
    channels = {0: "v", 2: "vvv", 4: "va", 6: "vvva"}[colours]
    tones = [65535 * place // (width - 1) for place in range(width)]
    line = b"".join(struct.pack(">H", tone if each == "v" else 65535) for tone in tones for each in channels)
    return a_png(16, colours, [line] * height, (width, height))


def fading_in_four_tones(width=600, height=400):
    line = bytes(0b01010101 * (4 * place // (width // 4)) for place in range(width // 4))
    return a_png(2, 0, [line] * height, (width, height))


class TestManyTones:
    @pytest.mark.parametrize("shown", PLACES)
    @pytest.mark.parametrize("colours", [0, 2, 4, 6])
    def test_a_picture_of_16_bits_is_seen_in_all_its_tones(self, desk, colours, shown):
        seen = shown(desk, fading(colours)).convert("L")
        width = seen.width
        tones = [seen.getpixel((place, 10)) for place in (2, width // 4, width // 2, 3 * width // 4, width - 3)]
        assert all(abs(tone - wanted) < 6 for tone, wanted in zip(tones, (0, 64, 128, 191, 255), strict=True)), tones

    def test_one_of_four_tones_as_well(self, desk):
        seen = desk.shown_profile_picture(fading_in_four_tones()).convert("L")
        tones = [seen.getpixel((seen.width * place // 8, 10)) for place in (1, 3, 5, 7)]
        assert all(abs(tone - wanted) < 6 for tone, wanted in zip(tones, (0, 85, 170, 255), strict=True)), tones

    def test_colours_are_seen_as_the_picture_defines_them(self, desk):
        """Use a definition in which red and green have changed places."""
        plain = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        changed = plain.replace(b"rXYZ", b"?XYZ").replace(b"gXYZ", b"rXYZ").replace(b"?XYZ", b"gXYZ")
        red = Image.new("RGB", (600, 400), (255, 0, 0))
        meant = {plain: (255, 0, 0), changed: (0, 255, 0)}
        for kind, (profile, wanted) in itertools.product(["JPEG", "PNG"], meant.items()):
            made = io.BytesIO()
            red.save(made, kind, icc_profile=profile)
            seen = desk.shown_profile_picture(made.getvalue()).getpixel((9, 9))
            assert max(abs(one - other) for one, other in zip(seen, wanted, strict=True)) < 9, (kind, seen)


def with_white_corner(kind, orientation):
    picture, made, exif = Image.new("RGB", (600, 400), (40, 120, 90)), io.BytesIO(), Image.Exif()
    picture.paste((255, 255, 255), (0, 0, 200, 130))
    exif[0x0112] = orientation
    picture.save(made, kind, exif=exif)
    return made.getvalue()


def white_corners(picture):
    right, bottom = picture.width - 6, picture.height - 6
    corners = {
        "upper left": (5, 5),
        "upper right": (right, 5),
        "lower left": (5, bottom),
        "lower right": (right, bottom),
    }
    return [name for name, place in corners.items() if min(picture.getpixel(place)) > 230]


def orientation_at_the_end(content):
    """Return the PNG with its orientation behind the pixels, where some programs write it."""
    start = content.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(content[start : start + 4], "big")
    return content[:start] + content[end:-12] + content[start:end] + content[-12:]


UPRIGHT = {1: "upper left", 2: "upper right", 3: "lower right", 4: "lower left", 5: "upper left", 6: "upper right",
           7: "lower right", 8: "lower left"}  # fmt: skip


class TestOrientation:
    @pytest.mark.parametrize("kind", ["PNG", "JPEG"])
    def test_a_picture_is_turned_as_its_camera_was_held(self, desk, kind):
        for orientation, corner in UPRIGHT.items():
            seen = desk.shown_profile_picture(with_white_corner(kind, orientation))
            assert white_corners(seen) == [corner], orientation
            assert (seen.width < seen.height) == (orientation >= 5)

    def test_also_when_it_says_so_at_its_end(self, desk):
        seen = desk.shown_profile_picture(orientation_at_the_end(with_white_corner("PNG", 6)))
        assert white_corners(seen) == ["upper right"]

    def test_a_floor_plan_too(self, desk):
        seen = desk.shown_drawing(with_white_corner("PNG", 8))
        assert (white_corners(seen), seen.width < seen.height) == (["lower left"], True)

    @pytest.mark.parametrize("value", [0, 9, 65535])
    def test_an_orientation_that_does_not_exist_changes_nothing(self, desk, value):
        assert white_corners(desk.shown_profile_picture(with_white_corner("PNG", value))) == ["upper left"]

    def test_what_a_camera_wrote_broken_does_not_matter(self, desk):
        content = with_white_corner("JPEG", 6)
        start = content.index(b"Exif\0\0") + 6
        for length in (2, 9, 12):
            broken = content[: start + length] + b"\xee" * 9 + content[start + length + 9 :]
            assert desk.shown_profile_picture(broken).size == (320, 213)


PLAIN = jpeg()
AFTER_FIRST = 4 + struct.unpack(">H", PLAIN[4:6])[0]
ODD = {
    "bytes before its beginning": b"\r\n\r\n" + PLAIN,
    "bytes behind its beginning": PLAIN[:2] + b"\x00\x12\x34" + PLAIN[2:],
    "bytes between its parts": PLAIN[:AFTER_FIRST] + b"\x00\x12\x34" * 6 + PLAIN[AFTER_FIRST:],
    "zeros that look escaped": PLAIN[:AFTER_FIRST] + b"\xff\x00\x12" + PLAIN[AFTER_FIRST:],
    "fill bytes before a marker": PLAIN[:AFTER_FIRST] + b"\xff" * 40 + PLAIN[AFTER_FIRST:],
    "fill bytes before its end": PLAIN[:-2] + b"\xff" * 9 + PLAIN[-2:],
    "bytes after its end": PLAIN + b"<script>secret place</script>" * 9,
    "a second picture after its end": PLAIN + jpeg(colour=10),
    "private data": jpeg(orientation=1),
}


class TestJpegs:
    @pytest.mark.parametrize("content", ODD.values(), ids=ODD)
    def test_bytes_that_belong_to_nothing_are_left_out_of_a_face(self, desk, content):
        assert "The service is checking the picture." in said(desk.send_face(content))
        assert "The face opens doors from" in desk.face_outcome(0)
        desk.send_face(PLAIN, 1)
        assert "This picture is already used by another registration." in desk.face_outcome(1)

    @pytest.mark.parametrize("content", ODD.values(), ids=ODD)
    def test_and_out_of_a_profile_picture(self, desk, content):
        seen = desk.shown_profile_picture(content)
        assert (white_corners(seen), seen.getpixel((200, 200))) == (
            ["upper left"],
            pytest.approx((128, 120, 90), abs=9),
        )

    @pytest.mark.parametrize("end", [AFTER_FIRST, len(PLAIN) // 2, len(PLAIN) - 2])
    def test_one_that_is_cut_off_is_refused_all_the_same(self, desk, end):
        for content in (PLAIN[:end], PLAIN[: end - 2] + b"\x00\x12" * 500):
            assert "damaged or incomplete" in said(desk.send_face(content))
            assert "damaged or incomplete" in said(desk.send_profile_picture(content))

    def test_one_that_would_take_minutes_to_decode_is_refused(self, desk):
        slow = jpeg(progressive=True)
        last = slow[slow.rindex(b"\xff\xda") : -2]
        assert "damaged or incomplete" in said(desk.send_profile_picture(slow[:-2] + last * 500 + slow[-2:]))
        assert white_corners(desk.shown_profile_picture(slow)) == ["upper left"]


def a_page():
    document = FPDF(unit="pt", format=(600, 300))
    document.add_page()
    document.set_fill_color(0)
    document.rect(0, 0, 200, 100, style="F")
    return bytes(document.output())


class TestPdfs:
    @pytest.mark.parametrize(
        "before",
        [
            b"\r\n",
            b"\xef\xbb\xbf",
            b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n",
            b"--boundary\r\nContent-Transfer-Encoding: binary\r\n\r\n",
            bytes(1000),
        ],
        ids=["line break", "byte order mark", "answer of a web server", "part of a mail", "zeros"],
    )
    def test_a_floor_plan_with_bytes_before_its_beginning_is_drawn(self, desk, before):
        seen = desk.shown_drawing(before + a_page())
        assert seen.size == (2400, 1200)
        assert max(seen.getpixel((100, 100))) < 30 < 230 < min(seen.getpixel((1200, 800)))

    def test_also_with_bytes_behind_its_end(self, desk):
        assert desk.shown_drawing(a_page() + b"\r\n--boundary--\r\n" * 40).size == (2400, 1200)

    def test_where_no_reader_finds_a_beginning_there_is_none(self, desk):
        assert "This picture cannot be read. Use JPEG or PNG." in said(desk.send_drawing(bytes(2000) + a_page()))

    def test_a_profile_picture_is_no_pdf(self, desk):
        assert "This is a PDF file. Use JPEG or PNG" in said(desk.send_profile_picture(b"\r\n" + a_page()))
