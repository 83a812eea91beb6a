"""What columns and cells mean: headings in English and Japanese, guessed and remembered per tenant, and values.

Values pass unchanged; only dates and removals are read for their meaning. A heading is guessed only where a wrong guess
does no harm: a plain "E-mail" is not, because every address in a QR column is sent a live QR code, nor is a plain
"No.", which often just counts lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from portal.core.files.writing import is_reason_heading
from portal.core.files.xlsx_reading import LOST_DIGITS
from portal.core.mirror.fields.field import Field, UnreadableCells, columns_by_heading, heading_key
from portal.core.mirror.fields.members import CODE, GROUP, MEMBER, MEMBER_ID, NAME
from portal.core.mirror.text_folding import fold
from portal.imports.models import ColumnChoice

CELLS_BY_NAME = {cell.name: cell for cell in MEMBER.sheet_columns}
_MEANINGS = columns_by_heading(MEMBER.sheet_columns)


def guess_columns(headings: Sequence[str]) -> dict[str, int]:
    """Field -> column: what the tenant chose before for a heading, else what the heading says. Each field once."""
    keys = [heading_key(heading) for heading in headings]
    chosen = dict(ColumnChoice.objects.filter(heading__in=keys).values_list("heading", "field"))
    columns: dict[str, int] = {}
    for remembered in (True, False):
        for place, name in enumerate(keys):
            if not name or is_reason_heading(headings[place]) or (name in chosen) != remembered:
                continue
            field = chosen[name] if remembered else _MEANINGS.get(name, "")
            if field in CELLS_BY_NAME:
                columns.setdefault(field, place)
    return columns


def save_choices(headings: Sequence[str], columns: Mapping[str, int]) -> None:
    """Keep what was chosen for each heading, also that it was left out."""
    fields = {place: field for field, place in columns.items()}
    choices = {
        heading_key(heading): fields.get(place, "")
        for place, heading in reversed(list(enumerate(headings)))
        if heading_key(heading) and not is_reason_heading(heading)
    }
    ColumnChoice.objects.bulk_create(
        [ColumnChoice(heading=heading, field=field) for heading, field in choices.items()],
        update_conflicts=True,
        unique_fields=["tenant", "heading"],
        update_fields=["field"],
    )


Problem = tuple[str, str, dict[str, Any]]  # field, word, facts

# The word that empties a field of an existing member; a blank cell leaves it as it is.
CLEAR_WORDS: Final = ("#clear", "#消去")
_CLEAR = {fold(word) for word in CLEAR_WORDS}
_FIELD_BY_CELL = {cell.name: each for each in MEMBER for cell in each.sheet_columns}
# What finds the member and the group is read for itself.
_VALUES = [each for each in MEMBER if each.sheet_columns and each not in (MEMBER_ID, GROUP)]


@dataclass
class ImportRow:
    """A row by field, as the file has it. `values` holds what is not blank; `cleared` the fields to be emptied."""

    member_id: str = ""
    group: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.values.get(NAME.name, ""))

    @property
    def code(self) -> str:
        return str(self.values.get(CODE.name, ""))


def read_row(cells: Sequence[str], columns: Mapping[str, int]) -> ImportRow:
    """The cells of one line, by the mapping. `values` has names and values of the specification but for the group."""
    row = ImportRow()
    width = len(cells)
    texts = {name: cells[place] for name, place in columns.items() if place < width and cells[place].strip()}
    for name in [name for name, text in texts.items() if text.startswith("#") and fold(text) in _CLEAR]:
        del texts[name]
        _clear(row, name)
    for name, text in texts.items():
        if LOST_DIGITS in text:
            row.problems.append((name, "digits_lost", {}))
    row.member_id = texts.get(MEMBER_ID.name, "").strip()
    row.group = texts.get(GROUP.error_cell_of(None), "").strip()
    for each in _VALUES:
        if any(cell.name in texts for cell in each.sheet_columns):
            _read(row, each, texts)
    return row


def _clear(row: ImportRow, name: str) -> None:
    field = _FIELD_BY_CELL[name]
    if field.is_clearable:
        row.cleared.add(field.name)
    else:
        row.problems.append((name, "cannot_clear", {}))


def _read(row: ImportRow, field: Field, texts: Mapping[str, str]) -> None:
    try:
        row.values[field.name] = field.parse_cells(texts)
    except UnreadableCells as fault:
        row.problems.append((*fault.args, {}))
