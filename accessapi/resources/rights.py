"""Entry and key permissions as they may be sent: devices_pass and keys_pass.

Specification: "Entry permissions (devices_pass) and key permissions (keys_pass)". In JSON and everywhere in this
project rights are plain objects; `accessapi.permissions` works on them. The models here only check them.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from accessapi.resources.sent import Identifier, SchemaKeywords, SentModel, UnitNumber

Mode = Literal["allow_all", "deny_all", "option"]
DayName = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Holiday"]
_TIME_PATTERN = r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\+09:00$"
_TIME = re.compile(_TIME_PATTERN.replace("$", r"\Z"))
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def _check_time(value: str) -> str:
    if not _TIME.match(value):
        raise PydanticCustomError("time", "must look like 09:00:00+09:00")
    return value


def _check_date(value: str) -> str:
    try:
        if _DATE.match(value):
            date.fromisoformat(value)
            return value
    except ValueError:
        pass
    raise PydanticCustomError("date", "must be a date like 2026-04-01")


Time = Annotated[str, AfterValidator(_check_time), SchemaKeywords(pattern=_TIME_PATTERN)]
Date = Annotated[str, AfterValidator(_check_date), SchemaKeywords(format="date")]


_Every = Annotated[list[Literal["*"]], Field(min_length=1, max_length=1)]


class TimeOfDay(SentModel):
    time: Time


class DatedTime(SentModel):
    date: Date
    time: Time


class Weekly(SentModel):
    """A time of day on weekdays. `week` is an array of names, or the single value * (bare or in an array)."""

    mode: Literal["weekly"]
    start: TimeOfDay
    end: TimeOfDay
    week: Annotated[list[DayName], Field(min_length=1)] | _Every | Literal["*"]


class Range(SentModel):
    """One span of time between two dated moments."""

    mode: Literal["range"]
    start: DatedTime
    end: DatedTime


ScheduleItem = Annotated[Weekly | Range, Field(discriminator="mode")]


class Pass(SentModel):
    """The access to one area or key: always, never, or by schedule."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"properties": {"effect": {"enum": ["allow_all", "deny_all"]}}}, {"required": ["schedule"]}]
        }
    )

    effect: Literal["allow_all", "deny_all", "allow"]
    schedule: list[ScheduleItem] = Field(default_factory=list)

    @model_validator(mode="after")
    def _schedule_for_allow(self) -> Pass:
        if self.effect == "allow" and "schedule" not in self.model_fields_set:
            raise PydanticCustomError("schedule", "effect allow needs a schedule")
        return self


class AreaPass(SentModel):
    area_id: Identifier
    pass_: Pass = Field(alias="pass")


class UnitPass(SentModel):
    unit_no: UnitNumber
    pass_: Pass = Field(alias="pass")


class KeyBoxPass(SentModel):
    key_device_id: Identifier
    default_mode: Mode
    units: list[UnitPass] = Field(default_factory=list)


class DevicesPass(SentModel):
    """Entry permissions of a member."""

    default_mode: Mode
    areas_list: list[AreaPass] = Field(default_factory=list)


class KeysPass(SentModel):
    """Key permissions of a member."""

    default_mode: Mode
    key_devices_list: list[KeyBoxPass] = Field(default_factory=list)


def _check_rights(model: type[SentModel], value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    # The service's own values may hold unknown modes or effects. An update replaces the whole object, so they must be
    # sent back unchanged. Only the client does so (context), forms and the sandbox do not.
    if info.context and info.context.get("carry_unknown"):
        if not isinstance(value.get("default_mode"), str):
            raise PydanticCustomError("default_mode", "needs a default_mode")
        return value
    model.model_validate(value)
    return value


def _check_devices(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    return _check_rights(DevicesPass, value, info)


def _check_keys(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    return _check_rights(KeysPass, value, info)


class SchemaOf:
    """Annotation: the JSON Schema of this plain object is that of the model."""

    def __init__(self, model: type[SentModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(self._model.__pydantic_core_schema__)


DevicesRights = Annotated[dict[str, Any], AfterValidator(_check_devices), SchemaOf(DevicesPass)]
KeysRights = Annotated[dict[str, Any], AfterValidator(_check_keys), SchemaOf(KeysPass)]
