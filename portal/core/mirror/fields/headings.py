"""Columns of spreadsheets by their headings: English and Japanese, whatever case, width and punctuation."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise

from portal.core.mirror.folding import fold

Words = str | Promise


@dataclass(frozen=True)
class Cell:
    """What a column of a spreadsheet may mean; `name` and `label` are its field's where it says none.

    `headings` and `example` stand in the template, English and Japanese. `names`: more headings that mean it, as people
    write them, with commas between them. `help` may tell the limit, `{n}`. `secret`: shown masked.
    """

    headings: tuple[str, str]
    names: str
    example: tuple[str, str] = ("", "")
    name: str = ""
    label: Words = ""
    help: Words = ""
    secret: bool = False


def key(heading: str) -> str:
    """Return the form in which headings are compared, without case, width, spaces and punctuation."""
    return "".join(c for c in fold(heading) if unicodedata.category(c)[0] in "LNM")[:200]


def meanings(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the name of a cell by the key of each heading that means it."""
    return {key(name): cell.name for cell in cells for name in (cell.name, *cell.headings, *cell.names.split(","))}
