"""The base classes for descriptions of the service's fields, and functions that read, mask and hash single values.

A value has two forms. The written value is the one in the API's request bodies; forms, imports and previews compare it.
The other form is the values of the table's columns.
"""

import hashlib
import json
import marshal
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, datetime
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from django import forms
from django.db import models
from django.utils.text import format_lazy
from pydantic import ValidationError

from accessapi.moments import read_moment, to_service_time
from accessapi.resources import write_moment
from accessapi.resources.sent import SentModel
from portal.base.files import date_parsing
from portal.base.ui.tables.columns import Column
from portal.domain.people.text_folding import fold
from tenants import vault

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


# Shown instead of a secret, before and after a change. They differ, so that a change is visible.
OLD_MASK, NEW_MASK = "•••", "••••"
Item = Mapping[str, Any]
Unexpected = dict[str, Any]  # unchanged values that do not have their field's type, by name


def item_text(item: Item, name: str, unexpected: Unexpected) -> str:
    """Return a text, or a number as text; "" for no value. A value of another type is put into `unexpected`."""
    value = item.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    unexpected[name] = value
    return ""


def item_moment(item: Item, name: str, unexpected: Unexpected) -> datetime | None:
    """Return a datetime of the service, or None. A value that is no datetime is put into `unexpected` unchanged."""
    value = item.get(name)
    if value is None or value == "":
        return None
    read = to_service_time(value) if isinstance(value, datetime) else read_moment(value)
    if read is None:
        unexpected[name] = value
    return read


@lru_cache(maxsize=10_000)
def moment_of_cell(cell: str, ends: bool, order: date_parsing.Order | None, today: date) -> str | None:
    """Return the written moment for a cell, or None. A date alone means its start or, with `ends`, its last second."""
    found = date_parsing.parse_typed_moment(cell, end=ends, order=order, today=today)
    try:
        return write_moment(found) if found is not None else None
    except (ValueError, OverflowError):
        return None


def without_seed(code: Any) -> Any:
    """Return a QR code without the seed of a one-time code, with which anyone could create its codes."""
    if isinstance(code, dict):
        return {key: without_seed(value) for key, value in code.items() if key != "totp_seed"}
    return code


def mask_secret(secret: str) -> str:
    """Return a mask and the last 4 characters of a secret; only the mask if the secret is shorter than 8 characters."""
    return NEW_MASK + secret[-4:] if len(secret) >= 8 else NEW_MASK


def mask_email(email: str, mask: str = NEW_MASK) -> str:
    """Return the first letter of an e-mail address and a mask; "" for no address."""
    return f"{email[:1]}{mask}" if email else ""


def is_contained(new: Any, current: Any) -> bool:
    """Return whether the second value contains everything in `new`; it may contain more."""
    if isinstance(new, dict):
        return isinstance(current, dict) and all(is_contained(value, current.get(name)) for name, value in new.items())
    return bool(new == current)


class TenantKeys:
    """A tenant's derived keys, one for each purpose. They do not change when the vault's sealing keys rotate."""

    def __init__(self, tenant_id: int) -> None:
        self._tenant_id = tenant_id
        self._known: dict[str, bytes] = {}

    def of(self, purpose: str) -> bytes:
        if purpose not in self._known:
            self._known[purpose] = vault.fingerprint(self._tenant_id, "mirror", purpose)
        return self._known[purpose]

    def fingerprint(self, purpose: str, text: str) -> bytes:
        """Return the hash of a text for searching and comparing."""
        return keyed_hash(self.of(purpose), text, 32)


def keyed_hash(key: bytes, text: str, size: int) -> bytes:
    """Return the keyed hash of a text, `size` bytes long."""
    return hashlib.blake2b(text.encode(), digest_size=size, key=key).digest()


def keyed_digest(key: bytes, item: Mapping[str, Any]) -> bytes:
    """Return the keyed hash of an item, 16 bytes long, to detect changes between readings."""
    # Version 2 of marshal, because its bytes depend on the values alone.
    return hashlib.blake2b(marshal.dumps(dict(item), 2), digest_size=16, key=key).digest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


LabelText: TypeAlias = "str | _StrPromise"
CellKind = Literal["text", "lines", "code", "card", "email", "moment", "day", "clock", "status"]


@dataclass(frozen=True)
class SheetColumn:
    """A possible meaning of a column in a spreadsheet; an empty `name` or `label` is taken from the field.

    `headings` and `example` are shown in the file template, in English and Japanese. `other_headings`: more headings
    with this meaning, separated by commas. `help` may contain `{n}`, the maximum length. `is_secret`: shown masked.
    `kind`: how its cells are cleaned and read (`portal.imports.row_reading`).
    """

    headings: tuple[str, str]
    other_headings: str
    example: tuple[str, str] = ("", "")
    name: str = ""
    label: LabelText = ""
    help: LabelText = ""
    is_secret: bool = False
    kind: CellKind = "text"


class UnreadableCells(Exception):
    """The cells of a row hold no valid value of a field. Arguments: the name of the cell, and a word for the reason."""


class Unrestorable(Exception):
    """The service does not accept a former value of a field. Argument: the field's name."""


@cache
def limits_of(sent: type[SentModel]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each field of a request's model, by name."""
    properties: dict[str, dict[str, Any]] = sent.model_json_schema()["properties"]
    return properties


@dataclass(frozen=True, eq=False)
class Field:
    """One field: its name at the service and its label. Subclasses store it in the mirror; this class does not.

    - `request_model`: the model of the request that changes it, with the limits. None: it is only received.
    - `is_listed`: lists contain it, not only single reads. `json_column`: the mirror's JSON column that holds it.
    - `default`: the value after a creation that leaves it out.
    - `input_names`: its names in forms, the likeliest first; `part_inputs`: the same for the names of its parts.
      `help` and `required_message` are the input's texts.
    - `section`: the section of the page and the form that shows it; "" for fields that templates place one by one.
    - `column_name`: the name of its column in lists. `is_hidden`: hidden until chosen. `is_code`: shown as code.
    - `audit_name`: its name in the audit log if the value is masked there.
    - `sheet_columns`: the columns of spreadsheets that hold it.
    """

    # The type of the values if the field has its own column in the mirror.
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
        """Fill in the field's name, label and limit where its spreadsheet columns have none."""
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
        """Return the likeliest name in a form."""
        return self.input_names[0] if self.input_names else self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the mirror's columns that hold the field."""
        more = [getattr(self, each, "") for each in ("key", "fingerprint", "flag")]
        return tuple(filter(None, (self.name, *more))) if self.column_type and not self.json_column else ()

    def column_values(self, item: Item, keys: TenantKeys, unexpected: Unexpected) -> tuple[Any, ...]:
        """Return the values of `columns`, with secrets in clear text. A value of a wrong type goes to `unexpected`."""
        value = item.get(self.name)
        if value is not None and type(value) is not self.column_type:
            unexpected[self.name], value = value, None
        return (value,)

    def written_value(self, row: Any) -> Any:
        """Return the field's written value from a row of the mirror."""
        return (getattr(row, self.json_column) or {}).get(self.name) if self.json_column else getattr(row, self.name)

    def is_same(self, new: Any, current: Any) -> bool:
        """Return whether two written values mean the same; empty equals absent."""
        return bool((new or "") == (current or ""))

    def format_value(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it, with secrets masked. `named`: names by identifier."""
        return "" if value in (None, "", {}) else str(value)

    def audit_values(self, value: Any, mask: str = NEW_MASK) -> dict[str, Any]:
        """Return a written value as the audit log may store it: without credentials and addresses."""
        return {self.audit_name: mask if value else ""} if self.audit_name else {self.name: value}

    def form_field(self, **more: Any) -> forms.Field:
        """Return the form input for the field."""
        raise NotImplementedError(self.name)

    def value_of_input(self, typed: Any) -> Any:
        """Return the written value for a cleaned form value."""
        return typed

    def parse_cells(self, texts: Mapping[str, str], date_order: date_parsing.Order | None = None) -> Any:
        """Return the written value that the cells of a row mean. Raises UnreadableCells."""
        return texts[self.name]

    def error_cell_of(self, value: Any) -> str:
        """Return the name of the cell beside which an error in this value is shown."""
        return self.sheet_columns[0].name if self.sheet_columns else self.name

    @property
    def is_clearable(self) -> bool:
        """Return whether an update can clear the field by sending `empty_value`."""
        return self.request_model is not None and (self.empty_value is None or "minLength" not in self.limits)

    @property
    def empty_value(self) -> Any:
        return None if self.request_model is not None and self.name in self.request_model.nullable else ""

    def value_to_restore(self, former: Any) -> Any:
        """Return what an update sends to set a former value again. Raises Unrestorable."""
        if not former and not self.is_clearable:
            raise Unrestorable(self.name)
        return former or self.empty_value

    def list_column(self, **more: Any) -> Column:
        """Return the column that shows the field in a list."""
        quiet = {"shown": False, "phone": "hide"} if self.is_hidden else {}
        return Column(self.column_name or self.name, self.label, **{**self._column_options, **quiet, **more})

    @property
    def _column_options(self) -> dict[str, Any]:
        return {"value": self.name, "kind": "mono" if self.is_code else "text"}

    def _input_options(self, **more: Any) -> dict[str, Any]:
        return {"label": self.label, "help_text": self.help, **more}

    @property
    def limits(self) -> dict[str, Any]:
        """Return the service's limits, as JSON Schema."""
        return limits_of(self.request_model)[self.name] if self.request_model is not None else {}


class FieldSet:
    """The fields of one kind, in order, and the mirror's model for them."""

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
        """Return the field with this name at the service or in the audit log, or None."""
        return self._by_name.get(name) or self._by_trail.get(name)

    def names_in_column(self, column: str) -> tuple[str, ...]:
        """Return the names of the fields that are stored in a JSON column."""
        return tuple(each.name for each in self if each.json_column == column)

    def written_values(self, row: Any) -> dict[str, Any]:
        """Return the written values of the fields that requests change and that have their own columns, by name."""
        return {each.name: each.written_value(row) for each in self if each.request_model and not each.json_column}

    def is_same(self, name: str, new: Any, current: Any) -> bool:
        """Return whether two written values of a field mean the same."""
        return self[name].is_same(new, current)

    def audit_values(self, body: Mapping[str, Any], mask: str = NEW_MASK) -> dict[str, Any]:
        """Return a request's body as the audit log may store it."""
        return {
            key: stored for name, value in body.items() for key, stored in self[name].audit_values(value, mask).items()
        }

    def in_section(self, part: str) -> tuple[Field, ...]:
        return tuple(each for each in self if each.section == part)

    @cached_property
    def input_names(self) -> dict[str, tuple[str, ...]]:
        """Return the form inputs for each field name that the service's errors can contain, the likeliest first."""
        own = {each.name: each.input_names or (each.name,) for each in self}
        return own | {name: inputs for each in self for name, inputs in each.part_inputs.items()}

    @cached_property
    def sheet_columns(self) -> tuple[SheetColumn, ...]:
        """Return the possible columns of a spreadsheet, in the order of the file template."""
        return tuple(cell for each in self for cell in each.sheet_columns)

    def label_of(self, name: str) -> str:
        """Return the label of a field or of a spreadsheet's column; the name itself if it is unknown."""
        known = self.get(name) or next((cell for cell in self.sheet_columns if cell.name == name), None)
        return str(known.label) if known else name

    def format_value(self, name: str, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it."""
        known = self.get(name)
        return known.format_value(value, named) if known else str(value)


def form_of(fields: Iterable[Field]) -> type[forms.Form]:
    """Return a form class with an input for each of these fields, under its own name."""
    return type("Described", (forms.Form,), {each.name: each.form_field() for each in fields})


def find_faults(sent: type[SentModel], body: Mapping[str, Any]) -> Iterator[tuple[list[str], str, dict[str, int]]]:
    """Yield the errors that a request's model finds in a body: the path of names, pydantic's type, and its numbers."""
    try:
        sent.model_validate(body)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            facts = {name: value for name, value in fault.get("ctx", {}).items() if isinstance(value, int)}
            yield [str(part) for part in fault["loc"]], fault["type"], facts


def heading_key(heading: str) -> str:
    """Return a heading without case, width, spaces and punctuation, for comparison."""
    return "".join(c for c in fold(heading) if unicodedata.category(c)[0] in "LNM")[:200]


def columns_by_heading(cells: Iterable[SheetColumn]) -> dict[str, str]:
    """Return the names of cells by the `heading_key` of each heading that means them.

    Raises ValueError for a heading that means two of them.
    """
    meanings: dict[str, str] = {}
    for cell in cells:
        for heading in filter(None, (cell.name, *cell.headings, *cell.other_headings.split(","))):
            other = meanings.setdefault(heading_key(heading), cell.name)
            if other != cell.name:
                raise ValueError(f'The heading "{heading}" means {other} and {cell.name}.')
    return meanings
