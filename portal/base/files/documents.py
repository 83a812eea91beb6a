"""The document of all PDFs: it draws text of any script, and the text can be searched and copied as it was entered."""

from fpdf import FPDF
from fpdf.enums import PDFResourceType, TextDirection

from portal.base.files.faces import Face, main_face
from portal.base.files.fonts import Font, add_font
from portal.base.files.shaping import PlacedGlyph, Run, direction_of, shape_line

# In text from right to left, brackets look like their counterparts, and readers of PDFs turn them around again.
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


class Document(FPDF):
    """A PDF in millimetres."""

    #: Shades of grey for text.
    INK, GREY = 20, 95

    def __init__(
        self, paper: str | tuple[float, float], *, orientation: str = "P", margin: float = 0, text_size: float
    ) -> None:
        super().__init__(orientation=orientation, unit="mm", format=paper)
        self.set_margin(margin)
        # What fpdf2 itself draws: numbers of pages.
        self.set_font(add_font(self, main_face().path).fontkey, size=text_size)
        self._shaped: dict[tuple[str, TextDirection], list[Run]] = {}

    def width_of(self, text: str, size: float) -> float:
        """Return the width in millimetres for a size in points."""
        return sum(run.width for run in self._runs(text, direction_of(text))) * size / 1000 / self.k

    def draw_line(self, line: str, x: float, y: float, size: float, *, whole: str = "") -> None:
        """Draw a line of text from the left end of its base line. `whole` is the text that it is a line of."""
        left, base = x * self.k, (self.h - y) * self.k
        texts, paths = [], []
        for run in self._runs(line, direction_of(whole or line)):
            font = add_font(self, run.face.path)
            self._resource_catalog.add(PDFResourceType.FONT, font.i, self.page)
            writer = _RunWriter(font, run.face)
            texts.append(f"/F{font.i} {size:.2f} Tf {writer.write(run)}")
            paths += [_path(*each, left, base, size) for each in writer.outlined]
            left += run.width * size / 1000
        colour = self.text_color.serialize().lower()  # type: ignore[union-attr]  # it is black at first
        text = f"BT {x * self.k:.2f} {base:.2f} Td {' '.join(texts)} ET"
        self._out(" ".join(["q", colour, text, *paths, "Q"]))

    def _runs(self, line: str, direction: TextDirection) -> list[Run]:
        if (line, direction) not in self._shaped:
            self._shaped[line, direction] = shape_line(line, direction)
        return self._shaped[line, direction]


class _RunWriter:
    """Writes the text of a run. A glyph that is the only one of its text, and not moved, is shown as text.

    All others are outlined, and spaces of their width have the characters of their text: readers of PDFs do not agree
    on the text of several glyphs, nor on the lines of glyphs above and below others.
    """

    def __init__(self, font: Font, face: Face) -> None:
        self._font, self._face = font, face
        self._row: list[str] = []
        self._pen = 0.0
        self.outlined: list[tuple[Face, PlacedGlyph]] = []

    def write(self, run: Run) -> str:
        for cluster in run.clusters:
            text = cluster.text.translate(_MIRRORED)[::-1] if run.is_reversed else cluster.text
            first, *others = cluster.glyphs
            is_in_place = (first.x, first.y) == (cluster.x, 0) and cluster.width > 0
            if not others and is_in_place and (len(text) == 1 or not run.is_reversed):
                self._add(first.x, first.number, text, self._font.widths[first.number])
            else:
                self.outlined += [(run.face, glyph) for glyph in cluster.glyphs]
                for place, character in enumerate(text):
                    width = cluster.width / len(text)
                    self._add(cluster.x + place * width, self._face.space, character, max(round(width), 1))
        self._move(run.width)
        return f"[{' '.join(self._row)}] TJ".replace(") (", "")

    def _add(self, x: float, glyph: int, text: str, width: int) -> None:
        self._move(x)
        code, width = self._font.encode(glyph, text, width)
        self._row.append(f"({code})")
        self._pen += width

    def _move(self, x: float) -> None:
        if abs(x - self._pen) >= 0.5:
            self._row.append(f"{self._pen - x:.0f}")
            self._pen += round(x - self._pen)


def _path(face: Face, glyph: PlacedGlyph, left: float, base: float, size: float) -> str:
    """Return the operators that fill the outline of a glyph. Lengths are in points."""
    scale = size / 1000 * face.scale
    place = f"{left + glyph.x * size / 1000:.2f} {base + glyph.y * size / 1000:.2f}"
    return f"q {scale:.5f} 0 0 {scale:.5f} {place} cm {face.outline(glyph.number)} f Q"
