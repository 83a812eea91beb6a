"""Areas and devices. Specification: resources "Area", "Pass controller", "Key box"; operations 24 to 28,
35, 36.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from accessapi import limits
from accessapi.resources import received as r
from accessapi.resources import sent as s


class DoorOperation(s.Sent):
    """Body of operation 35. Physical: sent at most once."""

    tag: Literal["lock_operation"]
    control: Literal["unlock", "lock", "cont_unlock", "in_unlock", "out_unlock"]
    info: s.Info = ""


_Targets = Annotated[
    list[s.UnitNumber],
    Field(max_length=limits.KEY_TARGETS_MAX),
    AfterValidator(s.distinct),
    s.Described(uniqueItems=True),
]


class KeyOperation(s.Sent):
    """Body of operation 36. Physical: sent at most once."""

    tag: Literal["lock_operation"]
    control: Literal["unlock", "lock"]
    targets: _Targets
    info: s.Info = ""


class AreaDevice(r.Received):
    device_id: r.Identifier
    in_out: str | None = r.words("in")


class Area(r.Received):
    area_id: r.Identifier
    area_name: str | None = None
    is_outside: bool | None = None
    is_management: bool | None = None
    devices_list: Annotated[list[AreaDevice], BeforeValidator(r.each_readable(AreaDevice))] = Field(
        default_factory=list
    )


class PassController(r.Received):
    """A pass controller as listed; only its identifier is certain, the fields of the list are not shown."""

    device_id: r.Identifier
    device_name: str | None = None


class DoorStatus(r.Received):
    """The error values unlock_error and door_unlock_error occur. The complete sets of values are not shown."""

    door: str | None = r.words("open")
    lock: str | None = r.words("unlock")
    errors: list[str] | None = None


class _Powered(r.Received):
    door_status: DoorStatus | None = None
    power_status: str | None = r.words("running")
    cloud_com_status: str | None = r.words("connected")
    sync_status: str | None = None


class PassControllerStatus(_Powered):
    device_id: str | None = None
    device_name: str | None = None


class KeyUnit(r.Received):
    unit_no: r.UnitNo
    unit_name: str | None = None
    restriction: bool | None = None


class KeyBox(r.Received):
    key_device_id: r.Identifier
    key_device_name: str | None = None
    product_type: str | None = None
    number_of_management: r.Whole | None = None
    units: Annotated[list[KeyUnit], BeforeValidator(r.each_readable(KeyUnit))] = Field(default_factory=list)


class KeyUnitStatus(r.Received):
    unit_no: r.UnitNo
    door: str | None = None
    key: str | None = r.words("return")
    lock: str | None = None
    errors: list[str] | None = None


class KeyBoxStatus(_Powered):
    key_device_id: str | None = None
    key_device_name: str | None = None
    product_type: str | None = None
    units_status: Annotated[list[KeyUnitStatus], BeforeValidator(r.each_readable(KeyUnitStatus))] = Field(
        default_factory=list
    )


class RequestAccepted(r.Received):
    """Answer of every asynchronous request (8, 13 to 15, 35, 36): accepted, not done."""

    request_id: r.Identifier
    request_type: str | None = r.words("face", "members_bulk", "device_request")
