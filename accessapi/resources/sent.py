"""Base and field types of everything that is sent: every limit of the specification, and no other fields.

Keys that were not given are not sent (`to_body()`). An explicit null is refused unless the specification allows it.
Error texts name the field, never the value.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from accessapi import limits

#: The interface's datetime format, for JSON Schema.
MOMENT_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+09:00$"
_MOMENT = re.compile(MOMENT_PATTERN.replace("$", r"\Z"))


class SentModel(BaseModel):
    """Base of everything sent. `nullable` names the fields that may be null."""

    # Built when first used, like received models.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, defer_build=True)

    nullable: ClassVar[frozenset[str]] = frozenset()

    @field_validator("*", mode="after")
    @classmethod
    def _no_null(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.field_name not in cls.nullable:
            raise PydanticCustomError("null", "may be left out but not be null")
        return value

    def to_body(self) -> dict[str, Any]:
        """Return the JSON values to send: only the keys that were given."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)

    def __repr_args__(self) -> Any:
        return [(name, "…") for name in sorted(self.model_fields_set)]


class SchemaKeywords:
    """Annotation that adds keywords to the JSON Schema of a field if a validator alone does not show them."""

    def __init__(self, **keywords: Any) -> None:
        self._keywords = keywords

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(core) | self._keywords


def _check_storable(value: str) -> str:
    if "\x00" in value:
        raise PydanticCustomError("nul", "may not hold the character NUL")
    return value


class _Storable(SchemaKeywords):
    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_check_storable, handler(source))


def _read_moment(value: Any) -> Any:
    if isinstance(value, str):
        if not _MOMENT.match(value):
            raise PydanticCustomError("moment", "must look like 2026-04-01T09:00:00+09:00")
        # Use the one zone object: converting the calendar's first hours from another zone would overflow.
        return datetime.fromisoformat(value).replace(tzinfo=limits.JST)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise PydanticCustomError("moment_naive", "needs a time zone")
        return value.astimezone(limits.JST).replace(microsecond=0)
    return value


def write_moment(value: datetime) -> str:
    """Return a datetime in the interface's format: whole seconds at +09:00."""
    return value.astimezone(limits.JST).replace(microsecond=0).isoformat()


def compose(value: Any) -> Any:
    """Return a text with each letter and its accents as one character, as its length is counted (NFC)."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


_COMPOSED = BeforeValidator(compose)
_STORABLE = _Storable(pattern=r"^[^\u0000]*$")
Text = Annotated[str, _STORABLE]
NonEmptyText = Annotated[str, StringConstraints(min_length=1), _STORABLE]
Identifier = Annotated[str, StringConstraints(min_length=1), _STORABLE]
Moment = Annotated[
    datetime,
    BeforeValidator(_read_moment),
    PlainSerializer(write_moment, when_used="json"),
    SchemaKeywords(pattern=MOMENT_PATTERN),
]

MemberName = Annotated[str, StringConstraints(min_length=1, max_length=limits.MEMBER_NAME_MAX), _STORABLE, _COMPOSED]
MemberCode = Annotated[str, StringConstraints(max_length=limits.MEMBER_CODE_MAX), _STORABLE, _COMPOSED]
CardData = Annotated[str, StringConstraints(max_length=limits.CARD_DATA_MAX), _STORABLE]
GroupName = Annotated[str, StringConstraints(min_length=1, max_length=limits.GROUP_NAME_MAX), _STORABLE, _COMPOSED]
GuestName = Annotated[str, StringConstraints(min_length=1, max_length=limits.GUEST_NAME_MAX), _STORABLE, _COMPOSED]
Email = Annotated[str, StringConstraints(min_length=1, max_length=limits.EMAIL_MAX), _STORABLE]
GuestQrData = Annotated[str, StringConstraints(max_length=limits.GUEST_QRCODE_MAX), _STORABLE]
Remarks = Annotated[str, StringConstraints(max_length=limits.REMARKS_MAX), _STORABLE]
GraceMinutes = Annotated[int, Field(ge=0, le=limits.GRACE_MINUTES_MAX)]
SecretToken = Annotated[str, StringConstraints(max_length=limits.SECRET_TOKEN_MAX), _STORABLE]
Info = Annotated[str, StringConstraints(max_length=limits.INFO_MAX), _STORABLE]
UnitNumber = Annotated[str, StringConstraints(pattern=r"\A[0-9]{2}\z"), SchemaKeywords(pattern=limits.UNIT_PATTERN)]


def check_distinct(values: list[Any]) -> list[Any]:
    """Check that an array has no value twice, where the specification requires it."""
    if len(set(values)) != len(values):
        raise PydanticCustomError("not_unique", "holds a value twice")
    return values
