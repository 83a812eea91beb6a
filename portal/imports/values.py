"""From cells to what the service takes. Values pass unchanged; only dates and removals are read for their meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from portal.core.files.sheets import LOST
from portal.core.mirror.fields.field import Field, Unreadable
from portal.core.mirror.fields.members import CODE, GROUP, MEMBER, MEMBER_ID, NAME
from portal.core.mirror.folding import fold

Problem = tuple[str, str, dict[str, Any]]  # field, word, facts

# The word that empties a field of an existing member; a blank cell leaves it as it is.
CLEAR_WORDS: Final = ("#clear", "#消去")
_CLEAR = {fold(word) for word in CLEAR_WORDS}
_OF_CELL = {cell.name: each for each in MEMBER for cell in each.cells}
# What finds the member and the group is read for itself.
_VALUES = [each for each in MEMBER if each.cells and each not in (MEMBER_ID, GROUP)]


@dataclass
class Cells:
    """A row by field, as the file has it. `given` holds what is not blank; `cleared` the fields to be emptied."""

    member_id: str = ""
    group: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.given.get(NAME.name, ""))

    @property
    def code(self) -> str:
        return str(self.given.get(CODE.name, ""))


def read(cells: Sequence[str], columns: Mapping[str, int]) -> Cells:
    """The cells of one line, by the mapping. `given` has names and values of the specification but for the group."""
    row = Cells()
    width = len(cells)
    texts = {name: cells[place] for name, place in columns.items() if place < width and cells[place].strip()}
    for name in [name for name, text in texts.items() if text.startswith("#") and fold(text) in _CLEAR]:
        del texts[name]
        _clear(row, name)
    for name, text in texts.items():
        if LOST in text:
            row.problems.append((name, "digits_lost", {}))
    row.member_id = texts.get(MEMBER_ID.name, "").strip()
    row.group = texts.get(GROUP.cell_of(None), "").strip()
    for each in _VALUES:
        if any(cell.name in texts for cell in each.cells):
            _read(row, each, texts)
    return row


def _clear(row: Cells, name: str) -> None:
    field = _OF_CELL[name]
    if field.is_clearable:
        row.cleared.add(field.name)
    else:
        row.problems.append((name, "cannot_clear", {}))


def _read(row: Cells, field: Field, texts: Mapping[str, str]) -> None:
    try:
        row.given[field.name] = field.parsed(texts)
    except Unreadable as fault:
        row.problems.append((*fault.args, {}))
