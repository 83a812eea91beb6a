"""Guests. Specification: resource "Guest", operations 19 to 22."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from accessapi import limits
from accessapi.resources import received as r
from accessapi.resources import sent as s


class IssuingMethod(s.SentModel):
    """qrcode_issuing_method: email (with remarks, if any) or qrcode_data. With email a live QR code is sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["email"], "properties": {"qrcode_data": False}},
                {"required": ["qrcode_data"], "maxProperties": 1},
            ]
        }
    )

    email: s.Email = ""
    remarks: s.Remarks = ""
    qrcode_data: s.GuestQrData = ""

    @model_validator(mode="after")
    def _one_way(self) -> IssuingMethod:
        if self.model_fields_set not in ({"email"}, {"email", "remarks"}, {"qrcode_data"}):
            raise PydanticCustomError("issuing_method", "needs email (with remarks if wanted) or qrcode_data")
        return self


class GuestKeys(s.SentModel):
    key_device_id: s.Identifier
    units_no_list: list[s.UnitNumber]


Areas = Annotated[
    list[s.Identifier],
    Field(max_length=limits.GUEST_AREAS_MAX),
    AfterValidator(s.check_distinct),
    s.SchemaKeywords(uniqueItems=True),
]
Keys = Annotated[list[GuestKeys], Field(max_length=limits.GUEST_KEY_DEVICES_MAX)]


class _GuestFields(s.SentModel):
    email: s.Email = ""
    return_grace_period: s.GraceMinutes = 0
    area_id_list: Areas = Field(default_factory=list)
    key_devices_list: Keys = Field(default_factory=list)


class GuestCreate(_GuestFields):
    """Body of operation 20. The service has no idempotency: a duplicate is a second live credential."""

    guest_name: s.GuestName
    use_date_start: s.Moment
    use_date_end: s.Moment
    qrcode_issuing_method: IssuingMethod
    is_for_reserve: bool = False


class GuestUpdate(_GuestFields):
    """Body of operation 22."""

    guest_name: s.GuestName = ""
    use_date_start: s.Moment | None = None
    use_date_end: s.Moment | None = None
    qrcode_data: s.GuestQrData = ""
    remarks: s.Remarks = ""


class Guest(r.ReceivedModel):
    """A guest as listed (19), read (21), or named by a write (20, 22)."""

    guest_id: r.Identifier
    guest_name: str | None = None
    email: str | None = None
    use_date_start: r.Moment | None = None
    use_date_end: r.Moment | None = None
    key_return_date_end: r.Moment | None = None
    return_grace_period: r.WholeNumber | None = None
    qrcode_data: str | None = None
    area_id_list: list[str] | None = None
    key_devices_list: list[dict[str, Any]] | None = None
    devices_pass: dict[str, Any] | None = None
    keys_pass: dict[str, Any] | None = None
    remarks: str | None = None
    is_for_reserve: bool | None = None
