"""The document of all PDFs, in Noto Sans JP. A process reads the font once, and documents use copies.

By default, fpdf2 reads the file for each document, and again to embed the few glyphs that it needs. That took nearly
all the time of drawing a badge.
"""

from collections.abc import Iterable
from copy import copy
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from threading import Lock

from fontTools.cffLib import TopDict
from fontTools.cffLib.transforms import desubroutinizeCharString
from fontTools.misc.psCharStrings import T2CharString
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.fonts import SubsetMap, TTFFont
from pylopdf_fonts_jp import sans_path

FONT_FAMILY = "NotoSansJP"
# fontTools reads glyphs when they are first used, and all threads share one file.
_LOCK = Lock()


class _Font(TTFFont):
    """The font of one document. It embeds its glyphs from a font with few others."""

    @cached_property
    def ttfont(self) -> TTFont:
        """Return the font to embed from. fpdf2 uses it only after the last text was drawn."""
        return _subset_font(self.subset.get_all_glyph_names())


class Document(FPDF):
    """A PDF in millimetres, in this font."""

    #: Shades of grey for text.
    INK, GREY = 20, 95

    def __init__(
        self, paper: str | tuple[float, float], *, orientation: str = "P", margin: float = 0, text_size: float
    ) -> None:
        super().__init__(orientation=orientation, unit="mm", format=paper)
        self.set_margin(margin)
        add_font(self)
        self.set_font(FONT_FAMILY, size=text_size)


def add_font(pdf: FPDF) -> None:
    """Add the font to a document like `pdf.add_font`, but without reading the file again."""
    with _LOCK:
        full_font, _glyphs = _read_font()
    font = copy(full_font)
    del font.ttfont  # each document gets its own when it is written
    # Everything else that fpdf2 changes in a font.
    font.i = len(pdf.fonts) + 1
    font.cw, font.desc = full_font.cw.copy(), copy(full_font.desc)
    font.missing_glyphs, font.subset = [], SubsetMap(font)
    pdf.fonts[font.fontkey] = font
    pdf.pdf_version = max(pdf.pdf_version, "1.6")  # the first version that may embed such glyphs


@cache
def _read_font() -> tuple[_Font, TopDict]:
    """Return the font for documents to copy, and its glyphs."""
    font = _Font(FPDF(), Path(sans_path()), FONT_FAMILY.lower(), "")
    glyphs = font.ttfont["CFF "].cff[0]
    font.close()
    font.ttfont = None  # the tables that documents do not need
    return font, glyphs


@cache
def _base_font() -> bytes:
    """Return the font with a single glyph of each group; glyphs of a group share their hints. Others can be added."""
    with TTFont(sans_path(), lazy=True, recalcBBoxes=False) as font, BytesIO() as file:
        glyphs = font["CFF "].cff[0]
        tables = {*font.keys()} - {"CFF "}
        subsetter = Subsetter(Options(desubroutinize=True, notdef_outline=True, drop_tables=tables))
        subsetter.populate(glyphs=dict(zip(glyphs.FDSelect.gidArray, glyphs.charset, strict=True)).values())
        subsetter.subset(font)
        font.save(file)
        return file.getvalue()


@cache
def _glyph(name: str) -> tuple[int, bytes]:
    """Return a glyph's group, and its outline with its subroutines expanded."""
    _font, glyphs = _read_font()
    glyph, group = glyphs.CharStrings.getItemAndSelector(name)
    desubroutinizeCharString(glyph)
    glyph.compile()
    return group, glyph.bytecode


def _subset_font(names: Iterable[str]) -> TTFont:
    """Return a font with these glyphs. It shares no object with others, because embedding changes it."""
    with _LOCK:
        frame, found = _base_font(), {name: _glyph(name) for name in sorted(names)}
    part = TTFont(BytesIO(frame), recalcBBoxes=False)
    glyphs = part["CFF "].cff[0]
    outlines = glyphs.CharStrings
    for name, (group, outline) in found.items():
        if name not in outlines:
            outlines.charStrings[name] = len(glyphs.charset)
            outlines.charStringsIndex.append(
                T2CharString(outline, private=glyphs.FDArray[group].Private, globalSubrs=glyphs.GlobalSubrs)
            )
            glyphs.charset.append(name)
            glyphs.FDSelect.append(group)
    part.setGlyphOrder(glyphs.charset)
    return part
