"""Find out what columns and cells mean: headings in English and Japanese, choices saved per tenant, and values.

Values are not changed; only dates and the words for "clear" are parsed. Headings are guessed only if a wrong guess is
harmless. "E-mail" is not guessed, because every address in a QR column is sent a valid QR code. "No." is not guessed,
because it often only counts lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from portal.base.files.writing import is_reason_heading
from portal.base.files.xlsx_reading import LOST_DIGITS
from portal.domain.people.fields import Field, UnreadableCells, columns_by_heading, heading_key
from portal.domain.people.member_fields import CODE, GROUP, MEMBER, MEMBER_ID, NAME
from portal.domain.people.text_folding import fold
from portal.imports.models import ColumnChoice

CELLS_BY_NAME = {cell.name: cell for cell in MEMBER.sheet_columns}
_MEANINGS = columns_by_heading(MEMBER.sheet_columns)


def guess_columns(headings: Sequence[str]) -> dict[str, int]:
    """Return the column index for each field: by the tenant's earlier choice, else by the heading. Each field once."""
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
    """Save the chosen field for each heading. An empty field means that the column is left out."""
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


Problem = tuple[str, str, dict[str, Any]]  # field, problem code, values

# A cell with one of these words clears a field of an existing member. An empty cell changes nothing.
CLEAR_WORDS: Final = ("#clear", "#消去")
_CLEAR = {fold(word) for word in CLEAR_WORDS}
_FIELD_BY_CELL = {cell.name: each for each in MEMBER for cell in each.sheet_columns}
# The member ID and the group are read separately.
_VALUES = [each for each in MEMBER if each.sheet_columns and each not in (MEMBER_ID, GROUP)]


@dataclass
class ImportRow:
    """A row of the file by field. `values` has the non-empty values; `cleared` the fields to be cleared."""

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
    """Return the cells of one line by the column mapping. `values` uses the field names and values of MEMBER."""
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
