"""The kinds of data that files are read into: members, and expected guests. Each area registers its own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext_lazy as _

from portal.base.files import file_limits
from portal.domain.jobs.models import Job, NewRow
from portal.domain.people.fields import SheetColumn, columns_by_heading
from portal.imports.row_reading import Problem, SheetRow

#: The parts of a name, which are joined into the kind's column of the whole name.
NAME_PARTS = (
    SheetColumn(("Family name", "姓"), "last name, surname, 苗字, 名字", name="family_name", label=_("Family name")),
    SheetColumn(("Given name", "名"), "first name, forename, 下の名前", name="given_name", label=_("Given name")),
    SheetColumn(("Middle name", "ミドルネーム"), "", name="middle_name", label=_("Middle name")),
)
PART_NAMES = tuple(each.name for each in NAME_PARTS)
NAME_ORDERS = {
    "family": ("family_name", "given_name", "middle_name"),
    "given": ("given_name", "middle_name", "family_name"),
}


class RowChecker(Protocol):
    """The check of one file's rows. It is called for each batch, then `finish` returns values of the job."""

    def check(self, rows: Sequence[SheetRow]) -> list[NewRow]: ...
    def take_late_problems(self) -> list[tuple[int, Problem]]: ...
    def finish(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class SheetKind:
    """What the rows of a file become.

    - `own_columns`: the columns without the parts of names; `name_column`: the whole name.
    - `checker(job)`: the check of its rows.
    - `missing_text(columns, default_group)`: why these columns cannot be enough for any row; "" if they can.
    - `most_rows`, `most_bytes`: the limits of a file. `purpose`: the purpose of its fingerprint.
    - `has_groups`: whether new rows need a group, and can get rights.
    """

    own_columns: tuple[SheetColumn, ...]
    name_column: str
    checker: Callable[[Job], RowChecker]
    missing_text: Callable[[Collection[str], str], str]
    purpose: str
    most_rows: int = file_limits.MAX_ROWS
    most_bytes: int = file_limits.MAX_FILE_BYTES
    has_groups: bool = False

    @property
    def columns(self) -> tuple[SheetColumn, ...]:
        """Return all columns, with the parts of the name after the whole name."""
        at = next(place for place, each in enumerate(self.own_columns, 1) if each.name == self.name_column)
        return (*self.own_columns[:at], *NAME_PARTS, *self.own_columns[at:])

    @property
    def meanings(self) -> Mapping[str, str]:
        """Return the column that each heading means, by `heading_key`."""
        return columns_by_heading(self.columns)

    def label_of(self, name: str) -> str:
        """Return a column's label; empty if it is none."""
        return next((str(each.label) for each in self.columns if each.name == name), "")


_kinds: dict[str, SheetKind] = {}


def register(job_kind: str, kind: SheetKind) -> None:
    """Register the kind of data of a kind of jobs."""
    _kinds[job_kind] = kind


def labels_of(job_kind: str) -> Callable[[str], str]:
    """Return a function that gives the label of a column of a kind; empty if it is none."""
    return lambda column: kind_named(job_kind).label_of(column)


def kind_of(job: Job) -> SheetKind:
    return _kinds[job.kind]


def kind_named(job_kind: str) -> SheetKind:
    return _kinds[job_kind]
