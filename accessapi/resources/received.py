"""Data that the service sends. No value of a single field ever raises an error.

A field of the wrong type has its default, and `odd` keeps the received value; an unknown field is kept as an extra.
Only an unusable object (not an object, or no identifier) is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)

from accessapi.limits import IDENTIFIER_BYTES_MAX, INTEGER_MAX, INTEGER_MIN
from accessapi.moments import to_service_time

_ORDINARY_LENGTH = IDENTIFIER_BYTES_MAX // 4  # characters of at most four bytes each


N = TypeVar("N", int, float)


def _check_length(value: str) -> str:
    if len(value.encode(errors="replace")) > IDENTIFIER_BYTES_MAX:
        raise ValueError("is too long for an identifier")
    return value


Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=IDENTIFIER_BYTES_MAX), AfterValidator(_check_length)
]


def _in_service_time(value: datetime) -> datetime:
    service_time = to_service_time(value)
    if service_time is None:
        raise ValueError("is outside the calendar")
    return service_time


def _check_range(value: N) -> N:
    if not INTEGER_MIN <= value <= INTEGER_MAX:  # also true for what is not a number
        raise ValueError("is no number that can be kept")
    return value


Moment = Annotated[datetime, AfterValidator(_in_service_time)]
WholeNumber = Annotated[int, AfterValidator(_check_range)]
Number = Annotated[float, AfterValidator(_check_range)]


def open_text(*examples: str) -> Any:
    """Return the type of a text with these known values; any other value is accepted too."""
    return Field(default=None, examples=list(examples))


class ReceivedModel(BaseModel):
    """Base of everything received. `odd` maps field names to unreadable values, unchanged.

    `nullable` names the fields that may be null according to the specification.
    """

    # Built when first used: no process uses all models, and building them took a tenth of a process's start.
    model_config = ConfigDict(
        extra="allow", frozen=True, hide_input_in_errors=True, coerce_numbers_to_str=True, defer_build=True
    )

    nullable: ClassVar[frozenset[str]] = frozenset()

    @cached_property
    def invalid_values(self) -> dict[str, Any]:
        return {}

    @property
    def unknown_fields(self) -> dict[str, Any]:
        """Return the fields that the specification does not name, unchanged."""
        return self.model_extra or {}

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, data: Any, handler: ValidatorFunctionWrapHandler) -> Self:
        try:
            read: Self = handler(data)
            return read
        except ValidationError as error:
            if not isinstance(data, dict):
                raise
            odd = {str(fault["loc"][0]) for fault in error.errors(include_url=False) if fault["loc"]} & set(data)
        read = handler({name: value for name, value in data.items() if name not in odd})
        # The key of the cached property: a private attribute would make each object a third slower.
        read.__dict__["invalid_values"] = {name: data[name] for name in sorted(odd)}
        return read

    def __repr_args__(self) -> Any:
        # Cards, QR data and seeds are secrets: a repr shows only the object's identifiers.
        return [(name, value) for name, value in self.__dict__.items() if name.endswith("_id") and value is not None]


R = TypeVar("R", bound=ReceivedModel)


def as_list(value: Any) -> list[Any]:
    """Return the listed items: a single object is the only item, anything else is an empty list."""
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def unit_number(value: Any) -> Any:
    """Return the number of a unit in the two digits that the specification shows, also if it was sent as a number."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return text.zfill(2) if isinstance(text, str) and text.isascii() and text.isdecimal() else text


UnitNo = Annotated[Identifier, BeforeValidator(unit_number)]


def readable_items(model: type[R]) -> Callable[[Any], list[Any]]:
    def keep(value: Any) -> list[Any]:
        if not isinstance(value, (list, dict)):
            raise ValueError("is not a list")
        return [item for item in as_list(value) if _is_readable(model, item)]

    return keep


def _is_readable(model: type[R], item: Any) -> bool:
    try:
        model.model_validate(item)
    except ValidationError:
        return False
    return True


@dataclass(frozen=True)
class ReceivedPage(Generic[R]):
    """One page of a list: its rows as received, and the cursor if there is more.

    `items` are the readable rows, `unreadable_rows` the others, unchanged. Rows become resources when `items` is read:
    code that reads a list of 200,000 row by row can avoid that.
    """

    rows: list[Any] = field(repr=False)
    model: type[R] = field(repr=False)
    cursor: str | None = field(repr=False, default=None)

    @property
    def items(self) -> list[R]:
        return self._parsed[0]

    @property
    def readable_rows(self) -> list[Any]:
        """Return the rows of `items`, in the same order, as received."""
        without = set(map(id, self.unreadable_rows))
        return [row for row in self.rows if id(row) not in without] if without else self.rows

    @property
    def unreadable_rows(self) -> list[Any]:
        needed = [name for name, each in self.model.model_fields.items() if each.is_required()]
        if needed and all(_all_have(self.rows, each) for each in needed):
            return []
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[list[R], list[Any]]:
        items: list[R] = []
        unreadable: list[Any] = []
        for row in self.rows:
            try:
                items.append(self.model.model_validate(row))
            except ValidationError:
                unreadable.append(row)
        return items, unreadable


def _all_have(rows: list[Any], name: str) -> bool:
    """Return whether every row certainly has a usable identifier, of ordinary length."""
    return all(
        isinstance(row, dict) and isinstance(value := row.get(name), str) and 0 < len(value) < _ORDINARY_LENGTH
        for row in rows
    )


def read_page(data: Any, key: str, model: type[R]) -> ReceivedPage[R]:
    """Return the page in `data[key]`; a bare array is taken as the page. Raises ValueError without an array.

    A single object in place of the array is its only row. Null is an unreadable row, not an empty page: so no stored
    object counts as deleted.
    """
    rows, cursor = data, None
    if isinstance(data, dict):
        rows, cursor = data.get(key), data.get("last_evaluated_key")
        rows = [rows] if isinstance(rows, dict) or (rows is None and key in data) else rows
    if not isinstance(rows, list):
        raise ValueError(f"the answer has no array {key}")
    return ReceivedPage(rows, model, _cursor(cursor))


def _cursor(value: Any) -> str | None:
    if value is None or value is False or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError("the cursor is not a string")
    return str(value)
