"""Forms of the console, validated by the JSON API's models, so that every limit is defined once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_origin

from django.http import QueryDict
from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)
FormErrors = dict[str, tuple[str, dict[str, Any]]]


class InvalidForm(Exception):
    """Invalid values: an error code for each field, and the values in its sentence."""

    def __init__(self, errors: FormErrors) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors

    @classmethod
    def for_field(cls, name: str, word: str, /, **parts: Any) -> "InvalidForm":
        """Return an error of one field, for a reason that only the console has."""
        return cls({name: (word, parts)})


@dataclass(frozen=True)
class Field:
    """One field for a template."""

    name: str
    value: Any
    error: str


@dataclass
class FormState:
    """The typed values of a form, and a sentence for each invalid field."""

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Field:
        return Field(name, self.values.get(name, ""), self.errors.get(name, ""))

    def __iter__(self) -> Iterator[str]:
        return iter(self.errors)


def typed_values(model: type[BaseModel], data: QueryDict) -> dict[str, Any]:
    """Return the sent fields of `model`; those with several values as lists."""
    several = {name for name, shape in model.model_fields.items() if get_origin(shape.annotation) is list}
    return {name: data.getlist(name) if name in several else str(data[name]).strip() for name in data}


def validate(model: type[M], values: Mapping[str, Any]) -> M:
    """Return the filled-in fields as validated by the model. Raises InvalidForm."""
    given = {name: value for name, value in values.items() if name in model.model_fields and value not in ("", [])}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise to_invalid_form(error) from None


def to_invalid_form(error: ValidationError) -> InvalidForm:
    """Return the first error of each field."""
    found: FormErrors = {}
    for item in error.errors(include_url=False, include_input=False):
        names = [part for part in item["loc"] if isinstance(part, str)]
        found.setdefault(names[-1] if names else "", (item["type"], item.get("ctx", {})))
    return InvalidForm(found)


def collect_errors(*reads: Callable[[], Any]) -> list[Any]:
    """Return the results of all these functions. Raises InvalidForm with the errors of all of them."""
    found: list[Any] = []
    errors: FormErrors = {}
    for read_one in reads:
        try:
            found.append(read_one())
        except ValidationError as error:
            errors |= to_invalid_form(error).errors
    if errors:
        raise InvalidForm(errors)
    return found


def rejected_form(values: Mapping[str, Any], wrong: InvalidForm, sentences: Mapping[str, str]) -> FormState:
    """Return the form again, with all typed values and its errors."""
    return FormState(
        values,
        {
            name: sentences.get(word, sentences["other"]).format_map(_PartsOrDots(parts))
            for name, (word, parts) in wrong.errors.items()
        },
    )


class _PartsOrDots(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "…"
