"""Turn a line of text into glyphs: in the right faces, shaped by their rules, and in the order of reading."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import uharfbuzz
from fontTools.unicodedata import script
from fpdf.bidi import BidiParagraph
from fpdf.enums import TextDirection

from portal.base.files.faces import Face, face_with, faces_of, main_face
from portal.base.files.wrapping import clusters

# Scripts that are written together and share a face.
_JAPANESE = {"Hira": "Hani", "Kana": "Hani", "Hrkt": "Hani"}
_NO_SCRIPT = ("Zyyy", "Zinh", "Zzzz")
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI"}


@dataclass(frozen=True)
class PlacedGlyph:
    """A glyph, and its place from the begin of its run. Lengths are in thousandths of the size."""

    number: int
    x: float
    y: float


@dataclass(frozen=True)
class GlyphCluster:
    """The glyphs of a text that cannot be divided among them. `x` and `width` are those of all glyphs together."""

    text: str
    glyphs: Sequence[PlacedGlyph]
    x: float
    width: float


@dataclass(frozen=True)
class Run:
    """Clusters in one face, from left to right. `is_reversed`: the text runs from right to left."""

    face: Face
    clusters: Sequence[GlyphCluster]
    width: float
    is_reversed: bool = False


@dataclass(frozen=True)
class _Cluster:
    """A character as a reader sees it, with its script, its level of direction (odd: to the left) and its face."""

    text: str
    script: str
    level: int
    face: Face | None = None


def direction_of(text: str) -> TextDirection:
    """Return the direction of the first letter that has one."""
    first = next((kind for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL")), "L")
    return TextDirection.LTR if first == "L" else TextDirection.RTL


def shape_line(line: str, direction: TextDirection) -> list[Run]:
    """Return the runs of a line from left to right. `direction` is that of the whole text."""
    found = list(_with_faces(list(_split(line, direction))))
    grouped = groupby(found, key=lambda each: (each.face, each.script, each.level))
    runs = [
        (level, _shape("".join(each.text for each in group), face, script_code, level))
        for (face, script_code, level), group in grouped
    ]
    return _in_reading_order(runs)


def _split(line: str, direction: TextDirection) -> Iterator[_Cluster]:
    """Yield the clusters with their scripts. What belongs to no script goes with the script before it."""
    levels = _levels(line, direction)
    texts = list(clusters(line))
    scripts = [_JAPANESE.get(code, code) for code in (script(text[0]) for text in texts)]
    last = next((code for code in scripts if code not in _NO_SCRIPT), "Zyyy")
    place = 0
    for text, code in zip(texts, scripts, strict=True):
        last = last if code in _NO_SCRIPT else code
        yield _Cluster(text, last, levels[place])
        place += len(text)


def _levels(line: str, direction: TextDirection) -> Sequence[int]:
    if direction == TextDirection.LTR and _RIGHT_TO_LEFT.isdisjoint(map(unicodedata.bidirectional, line)):
        return [0] * len(line)
    characters = BidiParagraph(line, direction, preserve_bn_chars=True).get_characters_with_embedding_level()
    return [each.embedding_level for each in characters]


def _with_faces(found: Sequence[_Cluster]) -> Iterator[_Cluster]:
    """Yield the clusters with their faces: the same for all neighbours of a script, if one face has all of them."""
    for script_code, group in groupby(found, key=lambda each: each.script):
        neighbours = list(group)
        letters = {each.text for each in neighbours if script(each.text[0]) not in _NO_SCRIPT}
        shared = next((face for face in faces_of(script_code) if all(map(face.has, letters))), main_face())
        for each in neighbours:
            face = shared if shared.has(each.text) else face_with(each.text, script_code)
            parts = [(each.text, face)] if face else [(part, face_with(part, script(part))) for part in each.text]
            for text, part_face in parts:
                yield _Cluster(text, script_code, each.level, part_face)


def _shape(text: str, face: Face | None, script_code: str, level: int) -> Run:
    """Return the run of a text. Without a face, each character is the box that fonts have for missing ones."""
    if face is None:
        return _boxes(text)
    buffer = uharfbuzz.Buffer()
    is_reversed = bool(level % 2)
    buffer.cluster_level = uharfbuzz.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.add_str(text)
    buffer.direction = "rtl" if is_reversed else "ltr"
    buffer.script = script_code
    uharfbuzz.shape(face.shaper, buffer, {})
    starts = sorted({info.cluster for info in buffer.glyph_infos})
    ends = dict(zip(starts, [*starts[1:], len(text)], strict=True))
    pen, found = 0.0, []
    shaped = zip(buffer.glyph_infos, buffer.glyph_positions, strict=True)
    for start, group in groupby(shaped, key=lambda each: each[0].cluster):
        begin, glyphs = pen, []
        for info, position in group:
            x, y = pen + position.x_offset * face.scale, position.y_offset * face.scale
            glyphs.append(PlacedGlyph(info.codepoint, x, y))
            pen += position.x_advance * face.scale
        found.append(GlyphCluster(text[start : ends[start]], glyphs, begin, pen - begin))
    return Run(face, found, pen, is_reversed=is_reversed)


def _boxes(text: str) -> Run:
    face = main_face()
    width = face.shaper.get_glyph_h_advance(0) * face.scale
    places = [(each, place * width) for place, each in enumerate(text)]
    boxes = [GlyphCluster(each, [PlacedGlyph(0, x, 0)], x, width) for each, x in places]
    return Run(face, boxes, width * len(text))


def _in_reading_order(runs: Sequence[tuple[int, Run]]) -> list[Run]:
    """Return the runs from left to right: from the highest level down, neighbours of that level turn around."""
    ordered = list(runs)
    for least in range(max((level for level, _run in runs), default=0), 0, -1):
        turned: list[tuple[int, Run]] = []
        for is_turned, group in groupby(ordered, key=partial(_has_level, least)):
            part = list(group)
            turned += part[::-1] if is_turned else part
        ordered = turned
    return [run for _level, run in ordered]


def _has_level(least: int, run: tuple[int, Run]) -> bool:
    return run[0] >= least
