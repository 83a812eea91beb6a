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

from accessapi.resources.sent import Sent
from portal.core.mirror.fields.values import NEW, Item, Keys, Odd
from portal.core.mirror.folding import fold
from portal.core.ui.tables.columns import Column

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Words: TypeAlias = "str | _StrPromise"


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


class Unreadable(Exception):
    """The cells of a row hold no value of a field: its arguments are which of them, and the word for why."""


@cache
def bounds(sent: type[Sent]) -> dict[str, dict[str, Any]]:
    """Return what the model of a request says of each of its fields, in the words of JSON Schema."""
    properties: dict[str, dict[str, Any]] = sent.model_json_schema()["properties"]
    return properties


@dataclass(frozen=True, eq=False)
class Field:
    """One field: its name at the service and its label. By itself it is told and sent, and kept nowhere.

    - `sent`: the model of the request that changes it; it states the limits. Without one it is only received.
    - `listed`: lists tell it, not single reads alone. `inside`: the mirror's JSON column that keeps it with others.
    - `unsaid`: what a creation that leaves it out comes to.
    - `inputs`: what forms call it, the likeliest first; `within`: the same for the names of its parts. `help`, and
      `missing` for what must be given, are said there.
    - `part`: where on the page and in the form it is drawn with others; fields of none are drawn by hand.
    - `short`: what lists call its column. A `quiet` column waits until somebody chooses it. `mono`: drawn as a code.
    - `trail`: what the audit trail calls what it names and does not tell.
    - `cells`: the columns of spreadsheets that hold it.
    """

    # The type of values that a column of their own keeps.
    of: ClassVar[type | None] = None

    name: str
    label: Words
    _: KW_ONLY
    sent: type[Sent] | None = None
    listed: bool = True
    inside: str = ""
    unsaid: Any = None
    inputs: tuple[str, ...] = ()
    within: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: Words = ""
    missing: Words = ""
    part: str = ""
    short: str = ""
    quiet: bool = False
    mono: bool = False
    trail: str = ""
    cells: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        """Let its cells say what it says, where they say nothing else."""
        cells = tuple(
            replace(
                cell,
                name=cell.name or self.name,
                label=cell.label or self.label,
                help=format_lazy(cell.help, n=self.limits.get("maxLength", "")),
            )
            for cell in self.cells
        )
        object.__setattr__(self, "cells", cells)

    @property
    def input(self) -> str:
        """Its likeliest name in a form."""
        return self.inputs[0] if self.inputs else self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the mirror that follow from it."""
        more = [getattr(self, each, "") for each in ("key", "fingerprint", "flag")]
        return tuple(filter(None, (self.name, *more))) if self.of and not self.inside else ()

    def keep(self, item: Item, keys: Keys, odd: Odd) -> tuple[Any, ...]:
        """Return the values of these columns, secrets in clear; what is not of its type goes to `odd`."""
        value = item.get(self.name)
        if value is not None and type(value) is not self.of:
            odd[self.name], value = value, None
        return (value,)

    def written(self, row: Any) -> Any:
        """Return what the mirror's row keeps of it, as the interface writes it."""
        return (getattr(row, self.inside) or {}).get(self.name) if self.inside else getattr(row, self.name)

    def same(self, wanted: Any, told: Any) -> bool:
        """Whether two written values mean the same; empty and absent are one."""
        return bool((wanted or "") == (told or ""))

    def drawn(self, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it: secrets masked. `named`: names by identifier."""
        return "" if value in (None, "", {}) else str(value)

    def audited(self, value: Any, mask: str = NEW) -> dict[str, Any]:
        """Return a written value as the audit trail may hold it: what opens doors, or names people, is not told."""
        return {self.trail: mask if value else ""} if self.trail else {self.name: value}

    def typed(self, **more: Any) -> forms.Field:
        """Return the input of a form for it."""
        raise NotImplementedError(self.name)

    def meant(self, typed: Any) -> Any:
        """Return the written value of what a form's input was cleaned to."""
        return typed

    def parsed(self, texts: Mapping[str, str]) -> Any:
        """Return the written value that the cells of a row mean. Raises Unreadable."""
        return texts[self.name]

    def cell_of(self, value: Any) -> str:
        """Return the cell beside which a fault of this value is shown."""
        return self.cells[0].name if self.cells else self.name

    @property
    def is_clearable(self) -> bool:
        """Whether an update can leave it empty: `empty` is then what to send."""
        return self.sent is not None and (self.empty is None or "minLength" not in self.limits)

    @property
    def empty(self) -> Any:
        return None if self.sent is not None and self.name in self.sent.nullable else ""

    def column(self, **more: Any) -> Column:
        """Return the column of a list that shows it."""
        quiet = {"shown": False, "phone": "hide"} if self.quiet else {}
        return Column(self.short or self.name, self.label, **{**self._shown, **quiet, **more})

    @property
    def _shown(self) -> dict[str, Any]:
        return {"value": self.name, "kind": "mono" if self.mono else "text"}

    def _said(self, **more: Any) -> dict[str, Any]:
        return {"label": self.label, "help_text": self.help, **more}

    @property
    def limits(self) -> dict[str, Any]:
        """What the service takes, in the words of JSON Schema."""
        return bounds(self.sent)[self.name] if self.sent is not None else {}


class Fields:
    """The fields of one kind of thing, in order, and the mirror's model of it."""

    def __init__(self, model: type[models.Model], *fields: Field) -> None:
        self.model = model
        self._by_name = {each.name: each for each in fields}
        self._by_trail = {each.trail: each for each in fields if each.trail}
        self._by_trail |= {flag.name: flag for each in fields for flag in getattr(each, "flags", ())}
        self.names = frozenset(self._by_name)
        self.columns_of = {each.name: each.columns for each in fields if each.columns}
        self.kept = [each.keep for each in fields if each.columns]
        self.columns = (*(column for each in fields for column in each.columns), "extra")
        self.listed = tuple(column for each in fields if each.listed for column in each.columns)

    def __iter__(self) -> Iterator[Field]:
        return iter(self._by_name.values())

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]

    def get(self, name: str) -> Field | None:
        """Return the field of this name, at the service or in the audit trail; None for none."""
        return self._by_name.get(name) or self._by_trail.get(name)

    def inside(self, column: str) -> tuple[str, ...]:
        """Return the names of those that a JSON column keeps together."""
        return tuple(each.name for each in self if each.inside == column)

    def written(self, row: Any) -> dict[str, Any]:
        """Return what the mirror's row keeps of the fields that lists tell and requests change, as they are written."""
        return {each.name: each.written(row) for each in self if each.sent and not each.inside}

    def same(self, name: str, wanted: Any, told: Any) -> bool:
        """Whether two written values of a field mean the same."""
        return self[name].same(wanted, told)

    def audited(self, body: Mapping[str, Any], mask: str = NEW) -> dict[str, Any]:
        """Return a body as the audit trail may hold it."""
        return {key: told for name, value in body.items() for key, told in self[name].audited(value, mask).items()}

    def in_part(self, part: str) -> tuple[Field, ...]:
        return tuple(each for each in self if each.part == part)

    @cached_property
    def inputs(self) -> dict[str, tuple[str, ...]]:
        """What forms call each name that a refusal can blame, the likeliest first."""
        own = {each.name: each.inputs or (each.name,) for each in self}
        return own | {name: inputs for each in self for name, inputs in each.within.items()}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """What the columns of a spreadsheet may mean, in the order of the template."""
        return tuple(cell for each in self for cell in each.cells)

    def label(self, name: str) -> str:
        """Return what people call a field, or a column of a spreadsheet; the name itself when it is not described."""
        known = self.get(name) or next((cell for cell in self.cells if cell.name == name), None)
        return str(known.label) if known else name

    def drawn(self, name: str, value: Any, named: Mapping[str, str] | None = None) -> str:
        """Return a written value as pages show it."""
        known = self.get(name)
        return known.drawn(value, named) if known else str(value)


def form_of(fields: Iterable[Field]) -> type[forms.Form]:
    """Return a form with an input for each of these fields, under its own name."""
    return type("Described", (forms.Form,), {each.name: each.typed() for each in fields})


def faults(sent: type[Sent], body: Mapping[str, Any]) -> Iterator[tuple[list[str], str, dict[str, int]]]:
    """Yield what the model of a request refuses: the path of names, the word for it, and its numbers."""
    try:
        sent.model_validate(body)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            facts = {name: value for name, value in fault.get("ctx", {}).items() if isinstance(value, int)}
            yield [str(part) for part in fault["loc"]], fault["type"], facts


def key(heading: str) -> str:
    """Return the form in which headings are compared, without case, width, spaces and punctuation."""
    return "".join(c for c in fold(heading) if unicodedata.category(c)[0] in "LNM")[:200]


def meanings(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the name of a cell by the key of each heading that means it."""
    return {key(name): cell.name for cell in cells for name in (cell.name, *cell.headings, *cell.names.split(","))}
