"""One field of the service, and all of a kind of thing: what each is called, and where its value goes.

A value has two forms: as the interface writes it, which bodies hold and forms, imports and previews compare, and as the
columns of the mirror keep it.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from django import forms
from django.db import models
from django.utils.text import format_lazy
from pydantic import ValidationError

from accessapi.resources.sent import SentModel
from portal.core.mirror.fields.values import NEW_MASK, Item, TenantKeys, Unexpected
from portal.core.mirror.text_folding import fold
from portal.core.ui.tables.columns import Column

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

LabelText: TypeAlias = "str | _StrPromise"


@dataclass(frozen=True)
class SheetColumn:
    """What a column of a spreadsheet may mean; `name` and `label_of` are its field's where it says none.

    `headings` and `example` stand in the template,
    English and Japanese. `other_headings`: more headings that mean it, as people
    write them, with commas between them. `help` may tell the limit, `{n}`. `is_secret`: shown masked.
    """

    headings: tuple[str, str]
    other_headings: str
    example: tuple[str, str] = ("", "")
    name: str = ""
    label: LabelText = ""
    help: LabelText = ""
    is_secret: bool = False


class UnreadableCells(Exception):
    """The cells of a row hold no value of a field: its arguments are which of them, and the word for why."""


@cache
def limits_of(sent: type[SentModel]) -> dict[str, dict[str, Any]]:
    """Return what the model of a request says of each of its fields, in the words of JSON Schema."""
    properties: dict[str, dict[str, Any]] = sent.model_json_schema()["properties"]
    return properties


@dataclass(frozen=True, eq=False)
class Field:
    """One field: its name at the service and its label. By itself it is told and sent, and kept nowhere.

    - `request_model`: the model of the request that changes it; it states the limits. Without one it is only received.
    - `listed`: lists tell it, not single reads alone. `inside`: the mirror's JSON column that keeps it with others.
    - `default`: what a creation that leaves it out comes to.
    - `input_names`: what forms call it,
    the likeliest first; `part_inputs`: the same for the names of its parts. `help`, and
      `required_message` for what must be given, are said there.
    - `section`: where on the page and in the form it is drawn with others; fields of none are drawn by hand.
    - `column_name`: what lists call its column. A `is_hidden` column waits until somebody chooses it. `is_code`:
    drawn as a code.
    - `audit_name`: what the audit trail calls what it names and does not tell.
    - `sheet_columns`: the columns of spreadsheets that hold it.
    """

    # The type of values that a column of their own keeps.
    column_type: ClassVar[type | None] = None

    name: str
    label: LabelText
    _: KW_ONLY
    request_model: type[SentModel] | None = None
    is_listed: bool = True
    json_column: str = ""
    default: Any = None
    input_names: tuple[str, ...] = ()
    part_inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: LabelText = ""
    required_message: LabelText = ""
    section: str = ""
    column_name: str = ""
    is_hidden: bool = False
    is_code: bool = False
    audit_name: str = ""
    sheet_columns: tuple[SheetColumn, ...] = ()

    def __post_init__(self) -> None:
        """Let its cells say what it says, where they say nothing else."""
        cells = tuple(
            replace(
                cell,
                name=cell.name or self.name,
                label=cell.label or self.label,
                help=format_lazy(cell.help, n=self.limits.get("maxLength", "")),
            )
            for cell in self.sheet_columns
        )
        object.__setattr__(self, "sheet_columns", cells)

    @property
    def input_name(self) -> str:
        """Its likeliest name in a form."""
        return self.input_names[0] if self.input_names else self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the mirror that follow from it."""
        more = [getattr(self, each, "") for each in ("key", "fingerprint", "flag")]
        return tuple(filter(None, (self.name, *more))) if self.column_type and not self.json_column else ()

    def column_values(self, item: Item, keys: TenantKeys, odd: Unexpected) -> tuple[Any, ...]:
        """Return the values of these columns, secrets in clear; what is not of its type goes to `odd`."""
        value = item.get(self.name)
        if value is not None and type(value) is not self.column_type:
            odd[self.name], value = value, None
        return (value,)

    def written_value(self, row: Any) -> Any:
        """Return what the mirror's row keeps of it, as the interface writes it."""
        return (getattr(row, self.json_column) or {}).get(self.name) if self.json_column else getattr(row, self.name)

    def is_same(self, wanted: Any, told: Any) -> bool:
        """Whether two written values mean the same; empty and absent are one."""
        return bool((wanted or "") == (told or ""))

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it: secrets masked. `named`: names by identifier."""
        return "" if value in (None, "", {}) else str(value)

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        """Return a written value as the audit trail may hold it: what opens doors, or names people, is not told."""
        return {self.audit_name: mask if value else ""} if self.audit_name else {self.name: value}

    def form_field(self, **more: Any) -> forms.Field:
        """Return the input of a form for it."""
        raise NotImplementedError(self.name)

    def value_of_input(self, typed: Any) -> Any:
        """Return the written value of what a form's input was cleaned to."""
        return typed

    def parse_cells(self, texts: Mapping[str, str]) -> Any:
        """Return the written value that the cells of a row mean. Raises Unreadable."""
        return texts[self.name]

    def error_cell_of(self, value: Any) -> str:
        """Return the cell beside which a fault of this value is shown."""
        return self.sheet_columns[0].name if self.sheet_columns else self.name

    @property
    def is_clearable(self) -> bool:
        """Whether an update can leave it empty: `empty_value` is then what to send."""
        return self.request_model is not None and (self.empty_value is None or "minLength" not in self.limits)

    @property
    def empty_value(self) -> Any:
        return None if self.request_model is not None and self.name in self.request_model.nullable else ""

    def list_column(self, **more: Any) -> Column:
        """Return the column of a list that shows it."""
        quiet = {"shown": False, "phone": "hide"} if self.is_hidden else {}
        return Column(self.column_name or self.name, self.label, **{**self._column_options, **quiet, **more})

    @property
    def _column_options(self) -> dict[str, Any]:
        return {"value": self.name, "kind": "mono" if self.is_code else "text"}

    def _input_options(self, **more: Any) -> dict[str, Any]:
        return {"label": self.label, "help_text": self.help, **more}

    @property
    def limits(self) -> dict[str, Any]:
        """What the service takes, in the words of JSON Schema."""
        return limits_of(self.request_model)[self.name] if self.request_model is not None else {}


class FieldSet:
    """The fields of one kind of thing, in order, and the mirror's model of it."""

    def __init__(self, model: type[models.Model], *fields: Field) -> None:
        self.model = model
        self._by_name = {each.name: each for each in fields}
        self._by_trail = {each.audit_name: each for each in fields if each.audit_name}
        self._by_trail |= {flag.name: flag for each in fields for flag in getattr(each, "flags", ())}
        self.names = frozenset(self._by_name)
        self.columns_of = {each.name: each.columns for each in fields if each.columns}
        self.column_readers = [each.column_values for each in fields if each.columns]
        self.columns = (*(column for each in fields for column in each.columns), "extra")
        self.listed_columns = tuple(column for each in fields if each.is_listed for column in each.columns)

    def __iter__(self) -> Iterator[Field]:
        return iter(self._by_name.values())

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]

    def get(self, name: str) -> Field | None:
        """Return the field of this name, at the service or in the audit trail; None for none."""
        return self._by_name.get(name) or self._by_trail.get(name)

    def names_in_column(self, column: str) -> tuple[str, ...]:
        """Return the names of those that a JSON column keeps together."""
        return tuple(each.name for each in self if each.json_column == column)

    def written_values(self, row: Any) -> dict[str, Any]:
        """Return what the mirror's row keeps of the fields that lists tell and requests change, as they are written."""
        return {each.name: each.written_value(row) for each in self if each.request_model and not each.json_column}

    def is_same(self, name: str, wanted: Any, told: Any) -> bool:
        """Whether two written values of a field mean the same."""
        return self[name].is_same(wanted, told)

    def audit_values(self, body: Mapping[str, Any], mask: str = NEW_MASK) -> dict[str, Any]:
        """Return a body as the audit trail may hold it."""
        return {key: told for name, value in body.items() for key, told in self[name].audit_values(value, mask).items()}

    def in_section(self, part: str) -> tuple[Field, ...]:
        return tuple(each for each in self if each.section == part)

    @cached_property
    def input_names(self) -> dict[str, tuple[str, ...]]:
        """What forms call each name that a refusal can blame, the likeliest first."""
        own = {each.name: each.input_names or (each.name,) for each in self}
        return own | {name: inputs for each in self for name, inputs in each.part_inputs.items()}

    @cached_property
    def sheet_columns(self) -> tuple[SheetColumn, ...]:
        """What the columns of a spreadsheet may mean, in the order of the template."""
        return tuple(cell for each in self for cell in each.sheet_columns)

    def label_of(self, name: str) -> str:
        """Return what people call a field, or a column of a spreadsheet; the name itself when it is not described."""
        known = self.get(name) or next((cell for cell in self.sheet_columns if cell.name == name), None)
        return str(known.label) if known else name

    def format_value(self, name: str, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it."""
        known = self.get(name)
        return known.format_value(value, named) if known else str(value)


def form_of(fields: Iterable[Field]) -> type[forms.Form]:
    """Return a form with an input for each of these fields, under its own name."""
    return type("Described", (forms.Form,), {each.name: each.form_field() for each in fields})


def find_faults(sent: type[SentModel], body: Mapping[str, Any]) -> Iterator[tuple[list[str], str, dict[str, int]]]:
    """Yield what the model of a request refuses: the path of names, the word for it, and its numbers."""
    try:
        sent.model_validate(body)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            facts = {name: value for name, value in fault.get("ctx", {}).items() if isinstance(value, int)}
            yield [str(part) for part in fault["loc"]], fault["type"], facts


def heading_key(heading: str) -> str:
    """Return the form in which headings are compared, without case, width, spaces and punctuation."""
    return "".join(c for c in fold(heading) if unicodedata.category(c)[0] in "LNM")[:200]


def columns_by_heading(cells: Iterable[SheetColumn]) -> dict[str, str]:
    """Return the name of a cell by the key of each heading that means it."""
    return {
        heading_key(name): cell.name
        for cell in cells
        for name in (cell.name, *cell.headings, *cell.other_headings.split(","))
    }
