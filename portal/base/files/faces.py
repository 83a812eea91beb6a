"""The font files of all PDFs, and which of them has a character.

Noto Sans JP comes first. What it lacks is taken from Noto Sans of the character's script, from the symbols and emoji of
Noto, and from Noto Sans SC and KR. All are under the SIL Open Font License and come from packages.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

import manimgx_fonts
import pylopdf_fonts_jp
import pylopdf_fonts_ko
import pylopdf_fonts_zh_cn
import uharfbuzz
from fontTools.unicodedata import script, script_name

_NOTO = Path(manimgx_fonts.__file__).parent
_VARIATION_SELECTORS = re.compile("[\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]")

# Combining accents, which Noto Sans JP has, but does not place above their letters.
_ACCENTS = range(0x0300, 0x0370)


class Face:
    """A font file, with what is needed to choose it and to shape text in it. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shaper = uharfbuzz.Font(uharfbuzz.Face(uharfbuzz.Blob.from_file_path(str(path))))
        self._covered = self.shaper.face.unicodes
        self._outlines: dict[int, str] = {}
        self.scale = 1000 / self.shaper.face.upem

    @cached_property
    def space(self) -> int:
        """Return the number of the glyph of a space."""
        return int(self.shaper.get_nominal_glyph(ord(" ")))

    def outline(self, glyph: int) -> str:
        """Return the outline of a glyph as operators of a PDF, in the units of the font."""
        if glyph not in self._outlines:
            operators: list[str] = []
            self.shaper.draw_glyph(glyph, _outline_writer(), operators)
            self._outlines[glyph] = " ".join(operators)
        return self._outlines[glyph]

    def forget(self, codes: Iterable[int]) -> None:
        """Leave these characters to other faces."""
        self._covered -= uharfbuzz.Set(codes)

    def has(self, text: str) -> bool:
        """Return whether the face has every character of the text that has a shape, as it is or composed."""
        return any(
            all(is_shapeless(character) or ord(character) in self._covered for character in form)
            for form in (text, unicodedata.normalize("NFC", text))
        )


def is_shapeless(character: str) -> bool:
    """Return whether a character only changes or joins others."""
    return unicodedata.category(character) in ("Cf", "Cc") or bool(_VARIATION_SELECTORS.match(character))


@cache
def _outline_writer() -> uharfbuzz.DrawFuncs:
    """Return what adds the operators of an outline to a list."""
    writer = uharfbuzz.DrawFuncs()
    writer.set_move_to_func(lambda x, y, operators: operators.append(f"{x:.0f} {y:.0f} m"))
    writer.set_line_to_func(lambda x, y, operators: operators.append(f"{x:.0f} {y:.0f} l"))
    writer.set_cubic_to_func(
        lambda *points_and_list: points_and_list[-1].append(
            " ".join(f"{each:.0f}" for each in points_and_list[:-1]) + " c"
        )
    )
    writer.set_close_path_func(lambda operators: operators.append("h"))
    return writer


@cache
def main_face() -> Face:
    """Return the face that is used if it has the text."""
    face = Face(Path(pylopdf_fonts_jp.sans_path()))
    face.forget(_ACCENTS)
    return face


@cache
def _face(path: Path) -> Face | None:
    return Face(path) if path.exists() else None


@cache
def faces_of(script_code: str) -> tuple[Face, ...]:
    """Return the faces for a script such as `Thai`, in the order in which they are tried."""
    name = script_name(script_code, "").replace("_", "")
    names = [name, "", "Symbols"] if name else ["", "Symbols"]
    paths = [_NOTO / f"NotoSans{each}[wght].ttf" for each in names]
    paths += [_NOTO / "NotoEmoji[wght].ttf", Path(pylopdf_fonts_zh_cn.sans_path()), Path(pylopdf_fonts_ko.sans_path())]
    return main_face(), *(face for face in map(_face, paths) if face)


def face_with(text: str, script_code: str) -> Face | None:
    """Return the first face that has a text of this script, or None."""
    return next((face for face in faces_of(script_code) if face.has(text)), None)


def unprintable(texts: Iterable[str]) -> list[str]:
    """Return the characters that no face has, in their order. PDFs show a box instead of each."""
    characters = dict.fromkeys(character for text in texts for character in text)
    return list(_without_face(characters))


def _without_face(characters: Iterable[str]) -> Iterator[str]:
    for character in characters:
        if not character.isspace() and face_with(character, script(character)) is None:
            yield character
