"""The faces as fonts of PDFs. A process reads each face once, and documents use copies.

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
from fpdf.fonts import Glyph, SubsetMap, TTFFont

# fontTools reads glyphs when they are first used, and all threads share one file.
_LOCK = Lock()
# Tables for the shaping of text, and for weights other than the default.
_NOT_EMBEDDED = {"GDEF", "GPOS", "GSUB", "fvar", "gvar", "avar", "cvar", "HVAR", "MVAR", "STAT"}


class Font(TTFFont):
    """A face as the font of one document. It embeds its glyphs from a font with few others."""

    #: The names of all glyphs by their numbers, and their widths in thousandths of the size.
    names: list[str]
    widths: list[int]

    @cached_property
    def ttfont(self) -> TTFont:
        """Return the font to embed from. fpdf2 uses it only after the last text was drawn."""
        path = Path(self.ttffile)
        return _subset_font(path, self.subset.get_all_glyph_names()) if self.is_cff else _font_to_embed(path)

    def encode(self, glyph: int, text: str, width: int) -> tuple[str, int]:
        """Return the code in this document of a glyph with this text and, if possible, width. Return its width, too."""
        if self.is_cff:  # has one width for each glyph, not for each code
            width = self.widths[glyph]
        number = Glyph(glyph, tuple(map(ord, text)), self.names[glyph], width)
        return self.escape_text(chr(self.subset.pick_glyph(number) or 0)), width


def add_font(pdf: FPDF, path: Path) -> Font:
    """Add a font file to a document like `pdf.add_font`, but without reading the file again. Return its font."""
    key = path.stem.lower()
    if key in pdf.fonts:
        return pdf.fonts[key]  # type: ignore[return-value]  # this function adds no others
    with _LOCK:
        full_font, _glyphs = _read_font(path)
    font = copy(full_font)
    del font.ttfont  # each document gets its own when it is written
    # Everything else that fpdf2 changes in a font.
    font.i = len(pdf.fonts) + 1
    font.cw, font.desc = full_font.cw.copy(), copy(full_font.desc)
    font.missing_glyphs, font.subset = [], SubsetMap(font)
    pdf.fonts[key] = font
    pdf.pdf_version = max(pdf.pdf_version, "1.6")  # the first version that may embed such glyphs
    return font


@cache
def _read_font(path: Path) -> tuple[Font, TopDict]:
    """Return the font for documents to copy, and its glyphs; None for a file with its glyphs in another format."""
    font = Font(FPDF(), path, path.stem.lower(), "")
    glyphs = font.ttfont["CFF "].cff[0] if font.is_cff else None
    font.names = font.ttfont.getGlyphOrder()
    font.widths = [round(font.scale * font.ttfont["hmtx"].metrics[name][0]) for name in font.names]
    font.close()
    font.ttfont = None  # the tables that documents do not need
    return font, glyphs


def _font_to_embed(path: Path) -> TTFont:
    """Return a font in its default weight."""
    font = TTFont(path, lazy=True, recalcBBoxes=False)
    for table in _NOT_EMBEDDED & {*font.keys()}:
        del font[table]
    return font


@cache
def _base_font(path: Path) -> bytes:
    """Return the font with a single glyph of each group; glyphs of a group share their hints. Others can be added."""
    with TTFont(path, lazy=True, recalcBBoxes=False) as font, BytesIO() as file:
        glyphs = font["CFF "].cff[0]
        tables = {*font.keys()} - {"CFF "}
        subsetter = Subsetter(Options(desubroutinize=True, notdef_outline=True, drop_tables=tables))
        subsetter.populate(glyphs=dict(zip(glyphs.FDSelect.gidArray, glyphs.charset, strict=True)).values())
        subsetter.subset(font)
        font.save(file)
        return file.getvalue()


@cache
def _glyph(path: Path, name: str) -> tuple[int, bytes]:
    """Return a glyph's group, and its outline with its subroutines expanded."""
    _font, glyphs = _read_font(path)
    glyph, group = glyphs.CharStrings.getItemAndSelector(name)
    desubroutinizeCharString(glyph)
    glyph.compile()
    return group, glyph.bytecode


def _subset_font(path: Path, names: Iterable[str]) -> TTFont:
    """Return a font with these glyphs. It shares no object with others, because embedding changes it."""
    with _LOCK:
        frame, found = _base_font(path), {name: _glyph(path, name) for name in sorted(names)}
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
