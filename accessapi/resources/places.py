"""Areas and devices. Specification: resources "Area", "Pass controller", "Key box"; operations 24 to 28, 35, 36."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from accessapi import limits
from accessapi.resources import received as r
from accessapi.resources import sent as s


class DoorOperation(s.SentModel):
    """Body of operation 35. Physical: sent at most once."""

    tag: Literal["lock_operation"]
    control: Literal["unlock", "lock", "cont_unlock", "in_unlock", "out_unlock"]
    info: s.Info = ""


_Targets = Annotated[
    list[s.UnitNumber],
    Field(max_length=limits.KEY_TARGETS_MAX),
    AfterValidator(s.check_distinct),
    s.SchemaKeywords(uniqueItems=True),
]


class KeyOperation(s.SentModel):
    """Body of operation 36. Physical: sent at most once."""

    tag: Literal["lock_operation"]
    control: Literal["unlock", "lock"]
    targets: _Targets
    info: s.Info = ""


class AreaDevice(r.ReceivedModel):
    device_id: r.Identifier
    in_out: str | None = r.open_text("in")


class Area(r.ReceivedModel):
    area_id: r.Identifier
    area_name: str | None = None
    is_outside: bool | None = None
    is_management: bool | None = None
    devices_list: Annotated[list[AreaDevice], BeforeValidator(r.readable_items(AreaDevice))] = Field(
        default_factory=list
    )


class PassController(r.ReceivedModel):
    """A pass controller as listed; only its identifier is certain, the fields of the list are not shown."""

    device_id: r.Identifier
    device_name: str | None = None


class DoorStatus(r.ReceivedModel):
    """The error values unlock_error and door_unlock_error occur. The complete sets of values are not shown."""

    door: str | None = r.open_text("open")
    lock: str | None = r.open_text("unlock")
    errors: list[str] | None = None


class _Powered(r.ReceivedModel):
    door_status: DoorStatus | None = None
    power_status: str | None = r.open_text("running")
    cloud_com_status: str | None = r.open_text("connected")
    sync_status: str | None = None


class PassControllerStatus(_Powered):
    device_id: str | None = None
    device_name: str | None = None


class KeyUnit(r.ReceivedModel):
    unit_no: r.UnitNo
    unit_name: str | None = None
    restriction: bool | None = None


class KeyBox(r.ReceivedModel):
    key_device_id: r.Identifier
    key_device_name: str | None = None
    product_type: str | None = None
    number_of_management: r.WholeNumber | None = None
    units: Annotated[list[KeyUnit], BeforeValidator(r.readable_items(KeyUnit))] = Field(default_factory=list)


class KeyUnitStatus(r.ReceivedModel):
    unit_no: r.UnitNo
    door: str | None = None
    key: str | None = r.open_text("return")
    lock: str | None = None
    errors: list[str] | None = None


class KeyBoxStatus(_Powered):
    key_device_id: str | None = None
    key_device_name: str | None = None
    product_type: str | None = None
    units_status: Annotated[list[KeyUnitStatus], BeforeValidator(r.readable_items(KeyUnitStatus))] = Field(
        default_factory=list
    )


class RequestAccepted(r.ReceivedModel):
    """Answer of every asynchronous request (8, 13 to 15, 35, 36): accepted, not done."""

    request_id: r.Identifier
    request_type: str | None = r.open_text("face", "members_bulk", "device_request")
