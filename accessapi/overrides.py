"""An operator's settings for one service environment that differs from the defaults, without a release.

The format is one TOML file. Every table is optional. Names under `operations` are free, the number decides::

    [operations.update_member]
    number = 6
    method = "POST"
    path = "/v1/members/{member_id}/modify"

    [shapes]
    qr_removal = { remove = true }
    image_body = "raw"                  # or "multipart", with image_field
    pass_list_key = "devices"
    pass_list_names = { device_id = "id" }  # and device_name: other names in its items
    snapshot = "url"                    # or "base64": the content of a camera's snapshot string
    guest_fields = "email,use_date_end" # value of `fields` in operation 19; "" requests nothing more
    history_fields = ""                 # the same for operation 23; the default is every field and camera_id

    [webhook]
    id_header = "X-Splats-ID"
    signature_header = "X-Splats-Signature"
    record = "data.record"              # path of a notification's record in its body; "": the body itself
    names = { history_id = "id", device_id = "device.id" }  # other names of its fields

    [states]
    device_request_done = ["succeeded", "completed"]
    device_request_failed = ["failed", "failed_*", "timeout"]
    locked = ["lock", "locked"]
    unlocked = ["unlock", "unlocked", "open"]
    leaf_open = ["open", "opened"]      # and leaf_closed, connected, powered: words of a door's status
    forced_open = ["forced_open*", "*forced open*"]  # and left_open, held_unlocked: errors and records of the log
    lost = ["*connection lost*", "*power cut*"]  # records of a lost connection to a device
    over = ["restore", "restored"]      # a record's status: its event has ended; begun: it happened
    way_in = ["in"]                     # and way_out: in_out of a door in an area; other words are not an exit
    key_in = ["return", "returned"]     # and key_out, key_wrong (another key): words of a key box's status
    key_taken = ["*key taken*"]         # and key_returned: records of the log

    [errors]                            # meaning of a refusal; a code that is not listed has none
    scope = ["40301"]
    contract = { door = ["40302"], key_box = ["40302"], qr = ["40302"], face = ["40302"] }
    licence = ["40303"]
    setting = ["40304", "40305"]
    duplicate = { card = ["40901"], face = ["40902"], qr = ["40903"] }

    [limits]
    general = 720
    device = 180
    window_seconds = 3600
    one_time_timestep_max = 86400
    relock_seconds = 10                 # seconds until a momentary unlock ends

    [records]                           # categories of the log
    categories = ["normal", "operation", "suspicious", "warning", "error", "emergency"]  # that can notify
    refused = ["suspicious", "warning"] # a person was refused, with a person in the record
    suspicious = ["suspicious", "emergency"]
    used = ["normal"]                   # a person used a door or a key
    operated = ["operation"]            # remote operation

    [media]
    hosts = ["media.example.com"]       # allowed hosts of pictures and video; default: the service's own
    usage_seconds = 1                   # seconds in one unit of the camera usage
    later = ["40402"]                   # codes for a log's video that comes later (never: that never comes)
    never = ["40403"]

    [rules]
    weekdays_on_holidays = false        # whether an item for a weekday also applies on a holiday

Method and path of a row that is `specified` cannot be overridden. `Catalogue` joins overrides and the table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from accessapi import limits
from accessapi.doors import check_exclusive
from accessapi.meanings import Codes, ErrorCodes, OverridesTable, RefusalCause, RefusalMeaning, RequestOutcome, States
from accessapi.operations import OPERATIONS, Operation, Provenance
from accessapi.webhook_format import WebhookFormat

__all__ = [
    "Catalogue",
    "ErrorCodes",
    "Limits",
    "OverrideError",
    "Overrides",
    "RefusalCause",
    "RefusalMeaning",
    "RequestOutcome",
    "States",
    "load_overrides",
]

_FIELDS = r"^[A-Za-z0-9_.,-]*$"
_PATH = re.compile(r"(/[A-Za-z0-9._~{}-]+)+\Z")


class OverrideError(ValueError):
    """The overrides file cannot be used; the text says which entry and why."""


class OperationOverride(OverridesTable):
    """Another method, path or both for the operation of this number."""

    number: int = Field(ge=1, le=40)
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None = None
    path: str | None = None

    @field_validator("path")
    @classmethod
    def _plain_path(cls, value: str | None) -> str | None:
        if value is not None and not _PATH.match(value):
            raise ValueError("must begin with / and hold only letters, digits, . _ ~ - and {parameters}")
        return value


class PassListNames(OverridesTable):
    """The names that items of the list of pass controllers use for the fields that the portal needs."""

    device_id: str = Field(default="device_id", min_length=1, max_length=100)
    device_name: str = Field(default="device_name", min_length=1, max_length=100)

    @model_validator(mode="after")
    def _check_distinct(self) -> PassListNames:
        if self.device_id == self.device_name:
            raise ValueError("two fields cannot have one name")
        return self

    @property
    def renamed_fields(self) -> tuple[tuple[str, str], ...]:
        """Return (its name, ours) for the fields with another name."""
        return tuple((name, field) for field, name in self if name != field)


class Shapes(OverridesTable):
    """Shapes that the specification does not show. Defaults are assumed."""

    qr_removal: Any = None
    image_body: Literal["raw", "multipart"] = "raw"
    image_field: str = Field(default="image", min_length=1, max_length=100)
    pass_list_key: str = Field(default="devices", min_length=1, max_length=100)
    pass_list_names: PassListNames = PassListNames()
    snapshot: Literal["url", "base64"] = "url"
    guest_fields: str = Field(
        default="email,use_date_start,use_date_end,key_return_date_end,is_for_reserve",
        pattern=_FIELDS,
        max_length=500,
    )
    history_fields: str = Field(
        default="history_id,datetime,status,category,_content,member,device,camera_id", pattern=_FIELDS, max_length=500
    )


class Limits(OverridesTable):
    """Calls per token and window, and bounds of values that the specification does not show.

    The calls can be set so that a test environment can be small. Rate headers have priority over them.
    """

    general: int = Field(default=limits.GENERAL_CALLS, ge=1)
    device: int = Field(default=limits.DEVICE_CALLS, ge=1)
    window_seconds: int = Field(default=limits.CALL_WINDOW_SECONDS, ge=1)
    one_time_timestep_max: int = Field(default=limits.TIMESTEP_MAX, ge=limits.TIMESTEP_MIN, le=limits.TIMESTEP_MAX)
    relock_seconds: int = Field(default=limits.RELOCK_SECONDS, ge=1, le=limits.RELOCK_SECONDS_MAX)

    @property
    def relock_delay(self) -> timedelta:
        """Return the longest time that a momentary unlock lasts."""
        return timedelta(seconds=self.relock_seconds)


_Category = Annotated[str, Field(min_length=1, max_length=100)]


class Records(OverridesTable):
    """Categories of log records. One in no list is shown unchanged.

    The specification shows normal and operation, the others are published. Their meaning is assumed.
    """

    categories: tuple[_Category, ...] = ("normal", "operation", "suspicious", "warning", "error", "emergency")
    refused: tuple[_Category, ...] = ("suspicious", "warning")
    suspicious: tuple[_Category, ...] = ("suspicious", "emergency")
    used: tuple[_Category, ...] = ("normal",)
    operated: tuple[_Category, ...] = ("operation",)

    @model_validator(mode="after")
    def _used_or_refused(self) -> Records:
        check_exclusive(self, ("used", "refused"))
        return self

    def service_category(self, usual: str) -> str:
        """Return this service's category for a usual one: the file's categories are in the same order."""
        return dict(zip(_DEFAULT_CATEGORIES, self.categories, strict=False)).get(usual, usual)

    @property
    def alarm_categories(self) -> set[str]:
        """Return the known categories except those of use and operation."""
        return {*self.categories, *self.suspicious, *self.refused} - {*self.used, *self.operated}

    @property
    def device_alarm_categories(self) -> set[str]:
        """Return the alarm categories that are about a device, not about a refused person."""
        return self.alarm_categories - {*self.refused}


_DEFAULT_CATEGORIES = Records().categories


class Rules(OverridesTable):
    """How the service reads rights where the specification does not define it. Defaults are assumed."""

    weekdays_on_holidays: bool = False


class Media(OverridesTable):
    """Hosts of media addresses, the unit of the camera usage, and error codes of a log's video.

    Hosts are host or host:port. The unit is assumed to be a second. The codes mean that the video comes later, or never
    (assumed).
    """

    hosts: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$", max_length=253)], ...] = ()
    usage_seconds: Annotated[float, Field(gt=0, le=86400)] = 1.0
    later: Codes = ("40402",)
    never: Codes = ("40403",)


class Overrides(OverridesTable):
    """The whole file."""

    operations: dict[str, OperationOverride] = Field(default_factory=dict)
    shapes: Shapes = Shapes()
    webhook: WebhookFormat = WebhookFormat()
    states: States = States()
    errors: ErrorCodes = ErrorCodes()
    limits: Limits = Limits()
    records: Records = Records()
    media: Media = Media()
    rules: Rules = Rules()

    @model_validator(mode="after")
    def _one_each(self) -> Overrides:
        numbers = [row.number for row in self.operations.values()]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise ValueError(f"operation {twice[0]} is overridden twice")
        return self


def load_overrides(source: str | Path | None) -> Overrides:
    """Return the overrides from TOML text or, given a `Path`, from that file; None and "" mean no overrides.

    Raises `OverrideError` with a sentence per problem; also for an override that the table does not allow.
    """
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source or ""
    try:
        overrides = Overrides.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise OverrideError(f"not TOML: {error}") from error
    except ValidationError as error:
        raise OverrideError("; ".join(_sentence(fault) for fault in error.errors())) from error
    Catalogue(overrides)
    return overrides


def _sentence(fault: Any) -> str:
    return f"{'.'.join(str(part) for part in fault['loc']) or 'file'}: {fault['msg']}"


class Catalogue:
    """The table of operations for one service environment, with its shapes, states, errors, webhook and limits.

    Iterates over the operations in the order of their numbers. Raises `OverrideError` if an override changes a
    specified row, changes the path parameters, or makes two operations the same.
    """

    def __init__(self, overrides: Overrides | None = None) -> None:
        overrides = overrides or Overrides()
        rows = {row.number: row for row in OPERATIONS}
        for label, override in overrides.operations.items():
            rows[override.number] = _apply(rows[override.number], override, label)
        shapes = overrides.shapes
        rows[25] = replace(rows[25], list_key=shapes.pass_list_key, list_names=shapes.pass_list_names.renamed_fields)
        _check_distinct(rows)
        self._by_number = MappingProxyType(rows)
        self._by_name = MappingProxyType({row.name: row for row in rows.values()})
        self.shapes = shapes
        self.states = overrides.states
        self.errors = overrides.errors
        self.webhook = overrides.webhook
        self.limits = overrides.limits
        self.records = overrides.records
        self.media = overrides.media
        self.rules = overrides.rules

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._by_number.values())

    def find(self, name: str) -> Operation:
        """Return the operation of this name. Raises KeyError with the name if there is none."""
        return self._by_name[name]

    def find_by_number(self, number: int) -> Operation:
        return self._by_number[number]


def _apply(row: Operation, override: OperationOverride, label: str) -> Operation:
    if row.provenance is Provenance.SPECIFIED:
        raise OverrideError(
            f"operations.{label}: operation {row.number} ({row.title}) is {row.method} {row.path} by the"
            " specification and cannot be overridden"
        )
    changed = replace(row, method=override.method or row.method, path=override.path or row.path, is_overridden=True)
    if sorted(changed.parameters) != sorted(row.parameters):
        required = ", ".join(f"{{{name}}}" for name in row.parameters) or "no parameters"
        raise OverrideError(f"operations.{label}: the path of operation {row.number} needs {required}")
    return changed


def _check_distinct(rows: dict[int, Operation]) -> None:
    number_of: dict[tuple[str, str], int] = {}
    for row in rows.values():
        key = row.method, re.sub(r"\{\w+\}", "{}", row.path)
        if key in number_of:
            raise OverrideError(f"operations {number_of[key]} and {row.number} would both be {row.method} {row.path}")
        number_of[key] = row.number
