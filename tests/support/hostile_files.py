"""Pictures, PDFs and spreadsheets made to break programs that read them: the same ones in every run."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator

from fpdf import FPDF
from openpyxl import Workbook
from PIL import Image

from tests.support.effort import SOAK
from tests.support.images import huge_jpeg, huge_png, jpeg, png

_SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><image href="file:///etc/passwd"/></svg>'
_HTML = b"<!doctype html><script>alert(1)</script>"


def damaged(content: bytes, *, cuts: int, flips: int) -> Iterator[tuple[str, bytes]]:
    """Yield the content cut off at several places, and with some bytes changed."""
    chance = random.Random(len(content))
    for number in range(1, cuts + 1):
        yield f"cut {number}", content[: len(content) * number // (cuts + 1)]
    for number in range(flips):
        changed = bytearray(content)
        for _ in range(1 + number * 3):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        yield f"changed {number}", bytes(changed)


def pictures() -> dict[str, bytes]:
    """Return pictures and PDFs by name."""
    small = {"jpeg": jpeg(640, 480), "png": png(640, 480), "pdf": _paper()}
    found = {
        f"{kind} {name}": content for kind, base in small.items() for name, content in damaged(base, cuts=6, flips=6)
    }
    for kind in ("GIF", "BMP", "WEBP", "TIFF", "ICO", "PPM"):
        made = io.BytesIO()
        Image.new("RGB", (64, 64), "red").save(made, kind)
        found[kind] = made.getvalue()
    sides = jpeg(640, 480).find(b"\xff\xc0")
    claims = {(0, 0), (1, 65_535), (65_535, 65_535)}
    found |= {f"jpeg of {h} x {w}": _patched(small["jpeg"], sides + 5, struct.pack(">HH", h, w)) for h, w in claims}
    found |= {
        f"png of {w} x {h}": _patched_png(small["png"], w, h) for w, h in {(0, 1), (2**31, 1), (2**31 - 1, 2**31 - 1)}
    }
    boxes = ("0 0 1e9 1e9", "0 0 -5 -5", "0 0 0 0", "a b c d")
    found |= {f"pdf of {box}": _patched_box(small["pdf"], box.encode()) for box in boxes}
    script = b"<</S/JavaScript/JS(app.alert(1))>>"
    if SOAK:  # these take seconds to create
        found |= {"144 megapixels": huge_jpeg(), "a stream of 256 MB in a pdf": _bursting()}
        found["8 MB and a byte"] = small["png"] + bytes(8 * 1024 * 1024)
    return found | {
        "400 megapixels": huge_png(),
        "svg": _SVG,
        "html named png": _HTML,
        "html behind a jpeg": small["jpeg"] + _HTML,
        "a jpeg behind html": _HTML + small["jpeg"],
        "nothing": b"",
        "zeros": bytes(10_000),
        "a script in a pdf": small["pdf"].replace(b"/Type /Catalog", b"/Type /Catalog /OpenAction " + script),
        "a pdf whose pages are their own parent": small["pdf"].replace(b"/Kids [", b"/Kids [1 0 R "),
        "a pdf without end": b"%PDF-1.7\n" + b"1 0 obj<</A " * 20_000,
    }


def sheets() -> dict[str, tuple[str, bytes]]:
    """Return spreadsheets: name -> the file's name and content."""
    book = workbook(["氏名", "部署"], ["田中", "営業"], ["佐藤", "総務"])
    found = {f"xlsx {name}": ("a.xlsx", content) for name, content in damaged(book, cuts=8, flips=8)}
    text = "氏名,部署\n田中,営業\n".encode()
    found |= {
        f"archive with {name}": ("a.xlsx", _repacked(book, change))
        for name, change in {
            "a way up": lambda made: made.writestr("../../etc/passwd", "x"),
            "an absolute name": lambda made: made.writestr("/etc/passwd", "x"),
            "20,000 parts": lambda made: [made.writestr(f"xl/{number}.xml", "") for number in range(20_000)],
            "an archive inside": lambda made: made.writestr("xl/inner.zip", book),
            "macros": lambda made: made.writestr("xl/vbaProject.bin", bytes(1000)),
            "a link elsewhere": lambda made: made.writestr(
                "xl/externalLinks/externalLink1.xml",
                '<externalLink><ddeLink ddeService="cmd" ddeTopic="calc"/></externalLink>',
            ),
            "a NUL in a name": lambda made: made.writestr("xl/\0.xml", "x"),
        }.items()
    }
    return found | {
        "an archive that says it is locked": (
            "a.xlsx",
            book.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01"),
        ),
        "UTF-16": ("a.csv", text.decode().encode("utf-16")),
        "UTF-32": ("a.csv", text.decode().encode("utf-32")),
        "half of a Japanese character": ("a.csv", text[:-4]),
        "a line of 1 MB": ("a.csv", "氏名\n".encode() + b"x" * 1_000_000),
        "300,000 empty lines": ("a.csv", "氏名\n".encode() + b"\n" * 300_000),
        "commas alone": ("a.csv", b"," * 50_000),
        "a heading 500 times": ("a.csv", ",".join(["氏名"] * 500).encode() + b"\nx\n"),
        "unpaired marks": ("a.csv", '"氏名","部署\n"田"中","'.encode()),
        "a picture": ("a.csv", png(64, 64)),
        "a PDF": ("a.xlsx", _paper()),
        "HTML": ("a.xls", _HTML),
        "an old workbook": ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000)),
    }


def _paper() -> bytes:
    document = FPDF(unit="pt", format=(600, 300))
    document.add_page()
    document.rect(20, 20, 500, 200)
    return bytes(document.output())


def workbook(*rows: list[str]) -> bytes:
    book, made = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(made)
    return made.getvalue()


def _patched(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def _patched_png(content: bytes, width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">II", width, height) + content[24:29]
    return _patched(content, 12, head + struct.pack(">I", zlib.crc32(head)))


def _patched_box(content: bytes, box: bytes) -> bytes:
    start = content.index(b"/MediaBox [") + len(b"/MediaBox [")
    return content[:start] + box + content[content.index(b"]", start) :]


def _bursting() -> bytes:
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 300]/Contents 4 0 R>>"
    stream = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
    objects = (b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream)
    body = b"".join(b"%d 0 obj%s\nendobj\n" % each for each in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer<</Root 1 0 R/Size 5>>\n%%EOF"


def _repacked(book: bytes, change: Callable[[zipfile.ZipFile], object]) -> bytes:
    made = io.BytesIO(book)
    with zipfile.ZipFile(made, "a") as archive:
        change(archive)
    return made.getvalue()
