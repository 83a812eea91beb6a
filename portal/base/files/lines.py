"""The rows of a file of people, and the marks of cells without a usable value."""

import re
from typing import NamedTuple

# Begins a cell without a usable value: this mark, a code, and what the sheet shows. No text may contain the character.
LOST_DIGITS = "\ufffe"
# The cell shows more than its number, such as a unit. Or: the value is that of a merged cell that begins above.
FORMAT_DIFFERS, MERGED = "format_differs", "merged"
_FAULT = re.compile(f"{LOST_DIGITS}(digits_lost|no_result|error_value)(.*)", re.DOTALL)
# What spreadsheets show for an error, in several languages, and for a column that is too narrow.
_ERROR_VALUE = re.compile(r"#(?:N/A|N/D|NV|DIV/0!|[¡¿]?[^\W\d_]{2,14}[!?]|#{2,})|Err:\d{3}")


class Line(NamedTuple):
    """A row that is not blank. `number` is its row in the sheet, or its line in the file, from 1.

    `notes` are (position of the cell, code), with the codes FORMAT_DIFFERS and MERGED.
    """

    number: int
    cells: list[str]
    notes: tuple[tuple[int, str], ...] = ()
    is_hidden: bool = False


def mark_fault(code: str, shown: str = "") -> str:
    """Return the text of a cell without a usable value."""
    return f"{LOST_DIGITS}{code}{shown}"


def cell_fault(text: str) -> str:
    """Return why a cell has no usable value: digits_lost, no_result or error_value; empty if it has one."""
    if found := _FAULT.fullmatch(text):
        return found[1]
    return "error_value" if text[:1] in ("#", "E") and _ERROR_VALUE.fullmatch(text.strip()) else ""


def shown_text(text: str) -> str:
    """Return a cell as its sheet shows it, to quote it or to write it to a file."""
    found = _FAULT.fullmatch(text)
    return found[2] if found else text
