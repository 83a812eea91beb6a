"""Draw QR codes of up to 557 characters: as SVG for pages, as PNG files, and as rectangles for paper.

Cameras fail on small modules long before they fail on dirt, so a code has as few modules as possible. Short data has
medium error correction, long data low; more is used if the same size has room for it. Japanese text is encoded as kanji
(13 bits each) if all readers decode its bytes alike, otherwise as UTF-8.
"""

import io
from collections.abc import Iterator

import segno
from django.utils.html import format_html
from django.utils.safestring import SafeString

# The white border in modules (ISO/IEC 18004): without it, readers do not find the edges.
QUIET_ZONE = 4
# The largest width in modules that still gets medium error correction.
_MAX_MEDIUM_WIDTH = 65
# The smallest width of a PNG, in pixels.
_PIXELS = 1024


class NotDrawable(ValueError):
    """No QR code of this data is possible: it is empty, too long, or no text. The message never has the data."""


def build_code(data: str) -> segno.QRCode:
    """Return the code of `data`. Raises NotDrawable."""
    if not data:
        raise NotDrawable("nothing to draw")
    try:
        medium = _encode(data, "m")
        return medium if code_width(medium) <= _MAX_MEDIUM_WIDTH else _encode(data, "l")
    except segno.DataOverflowError:
        pass
    except (ValueError, UnicodeError):
        raise NotDrawable("no text that a code can hold") from None
    try:
        return _encode(data, "l")
    except (ValueError, UnicodeError):
        raise NotDrawable("too long for a code") from None


def _encode(data: str, error: str) -> segno.QRCode:
    if data.isascii():
        return segno.make_qr(data, error=error, boost_error=True)
    if _is_kanji(data):
        # Pass bytes: for text, segno tries Latin-1 first, which also has × and ÷ and other characters of the kanji
        # mode.
        return segno.make_qr(data.encode("shift_jis"), error=error, mode="kanji", boost_error=True)
    return segno.make_qr(data, error=error, mode="byte", encoding="utf-8", boost_error=True)


def _is_kanji(data: str) -> bool:
    """Return whether all characters are in the kanji mode and are the same in all Shift-JIS tables."""
    try:
        raw = data.encode("shift_jis")
        same = raw == data.encode("cp932") and raw.decode("cp932") == raw.decode("shift_jis") == data
    except UnicodeError:
        return False
    pairs = [raw[place] << 8 | raw[place + 1] for place in range(0, len(raw) - 1, 2)]
    return same and len(raw) == 2 * len(data) and all(0x8140 <= p <= 0x9FFC or 0xE040 <= p <= 0xEBBF for p in pairs)


def dark_runs(code: segno.QRCode) -> Iterator[tuple[int, int, int]]:
    """Yield the dark modules as (row, column, length), without the quiet zone."""
    for row, modules in enumerate(code.matrix):
        column, width = 0, len(modules)
        while column < width:
            start = column
            while column < width and modules[column]:
                column += 1
            if column > start:
                yield row, start, column - start
            column += 1


def code_width(code: segno.QRCode) -> int:
    """Return the modules from edge to edge, with the quiet zone."""
    return len(code.matrix) + 2 * QUIET_ZONE


def _strokes(code: segno.QRCode) -> str:
    return "".join(f"M{column + QUIET_ZONE} {row + QUIET_ZONE}h{n}v1h-{n}z" for row, column, n in dark_runs(code))


def draw_svg(code: segno.QRCode, label: str) -> SafeString:
    """Return the code for a page: black on white in any theme, scaled by the style sheet, with a label."""
    return format_html(
        '<svg class="qr" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {0}" role="img" aria-label="{1}"'
        ' shape-rendering="crispEdges"><rect width="{0}" height="{0}" fill="#fff"/><path fill="#000" d="{2}"/></svg>',
        code_width(code), label, _strokes(code),
    )  # fmt: skip


def draw_svg_file(code: segno.QRCode) -> bytes:
    """Return the code as an SVG file, ten pixels a module."""
    width = code_width(code)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * 10}" height="{width * 10}"'
        f' viewBox="0 0 {width} {width}" shape-rendering="crispEdges">'
        f'<rect width="{width}" height="{width}" fill="#fff"/><path fill="#000" d="{_strokes(code)}"/></svg>\n'
    )
    return text.encode()


def draw_png_file(code: segno.QRCode) -> bytes:
    """Return a PNG about 1,000 pixels wide, with whole pixels per module."""
    target = io.BytesIO()
    code.save(target, kind="png", border=QUIET_ZONE, scale=-(-_PIXELS // code_width(code)))
    return target.getvalue()


FILE_FORMATS = {"svg": ("image/svg+xml", draw_svg_file), "png": ("image/png", draw_png_file)}
