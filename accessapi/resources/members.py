"""Members, sent and received. Specification: resource "Member", operations 3 to 15."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from accessapi import limits
from accessapi.resources import received as r
from accessapi.resources import sent as s
from accessapi.resources.rights import DevicesRights, KeysRights, SchemaOf


class OneTimeQr(s.SentModel):
    """Settings of a one-time QR. timestep in seconds, skew in windows; both may be left to the service.

    If validated with `limits` in its context, an environment's lower limit applies (see `overrides`).
    """

    enabled: bool
    timestep: int = Field(default=limits.TIMESTEP_DEFAULT, ge=limits.TIMESTEP_MIN, le=limits.TIMESTEP_MAX)
    skew: int = Field(default=0, ge=0, le=limits.SKEW_MAX)

    @field_validator("timestep")
    @classmethod
    def _within_the_environments_limit(cls, value: int, info: ValidationInfo) -> int:
        stated = (info.context or {}).get("limits")
        if stated is not None and value > stated.one_time_timestep_max:
            most = {"le": stated.one_time_timestep_max}
            raise PydanticCustomError("less_than_equal", "Input should be less than or equal to {le}", most)
        return value


class QrCode(s.SentModel):
    """One variant of qrcode: data (static), email (issued and sent by the service), data and one_time_qr."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["data"], "properties": {"email": False}},
                {"required": ["email"], "maxProperties": 1},
            ]
        }
    )

    data: s.NonEmptyText = ""
    email: s.Email = ""
    one_time_qr: OneTimeQr | None = None

    @model_validator(mode="after")
    def _one_variant(self) -> QrCode:
        given = self.model_fields_set
        if given not in ({"data"}, {"email"}, {"data", "one_time_qr"}):
            raise PydanticCustomError("qr_variant", "needs data, or email, or data with one_time_qr")
        return self


class Privilege(s.SentModel):
    keys_without_2fa: bool = False
    restricted_keys_enabled: bool = False


def _check_privilege(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    # As with rights: the service's own values may hold unknown fields, and an update may replace the whole object. So
    # the client sends them back (see `accessapi.resources.rights`).
    if not (info.context and info.context.get("carry_unknown")):
        Privilege.model_validate(value)
    return value


Privileges = Annotated[dict[str, Any], AfterValidator(_check_privilege), SchemaOf(Privilege)]


class _MemberFields(s.SentModel):
    member_code: s.MemberCode = ""
    card_data: s.CardData = ""
    qrcode: QrCode | None = None
    use_date_start: s.Moment | None = None
    use_date_end: s.Moment | None = None
    devices_pass: DevicesRights = Field(default_factory=dict)
    keys_pass: KeysRights = Field(default_factory=dict)
    privilege: Privileges = Field(default_factory=dict)


class MemberCreate(_MemberFields):
    """Body of operation 4 and an item of 13."""

    member_name: s.MemberName
    membergroup_id: s.Identifier


class MemberUpdate(_MemberFields):
    """Body of operation 6. qrcode null removes the QR information (sent in the environment's shape)."""

    nullable: ClassVar[frozenset[str]] = frozenset({"qrcode", "use_date_start", "use_date_end"})

    member_name: s.MemberName = ""
    membergroup_id: s.Identifier = ""


class BulkMember(MemberUpdate):
    """An item of operation 14."""

    member_id: s.Identifier


class BulkMemberId(s.SentModel):
    member_id: s.Identifier


_BULK = Field(min_length=1, max_length=limits.BULK_MEMBERS_MAX)


class BulkCreate(s.SentModel):
    members: Annotated[list[MemberCreate], _BULK]


class BulkUpdate(s.SentModel):
    members: Annotated[list[BulkMember], _BULK]


class BulkDelete(s.SentModel):
    members: Annotated[list[BulkMemberId], _BULK]


class TemporaryTarget(s.SentModel):
    device_id: s.Identifier
    unit_no_list: list[s.UnitNumber]


class TemporaryUse(s.SentModel):
    """Body of operation 11. timer in seconds, counted from receipt: a repeated call extends access."""

    target: Literal["key"]
    timer: int = Field(ge=0, le=limits.TEMPORARY_USE_SECONDS_MAX)
    targets_list: list[TemporaryTarget] = Field(default_factory=list, max_length=limits.TEMPORARY_USE_TARGETS_MAX)
    device_action: bool = False
    info: s.Info = ""


class ReceivedOneTimeQr(r.ReceivedModel):
    enabled: bool | None = None
    timestep: r.WholeNumber | None = None
    skew: r.WholeNumber | None = None
    totp_seed: str | None = None


class ReceivedQrCode(r.ReceivedModel):
    data: str | None = None
    email: str | None = None
    one_time_qr: ReceivedOneTimeQr | None = None


class ReceivedPrivilege(r.ReceivedModel):
    keys_without_2fa: bool | None = None
    restricted_keys_enabled: bool | None = None


class Member(r.ReceivedModel):
    """A member as listed (3), read (5), or named by a write (4, 6). Only a single read returns rights."""

    member_id: r.Identifier
    member_name: str | None = None
    member_code: str | None = None
    membergroup_id: str | None = None
    membergroup_name: str | None = None
    card_data: str | None = None
    qrcode: ReceivedQrCode | None = None
    face_data: str | None = None
    profile_image_url: str | None = None
    account_type: str | None = None
    use_date_start: r.Moment | None = None
    use_date_end: r.Moment | None = None
    devices_pass: dict[str, Any] | None = None
    keys_pass: dict[str, Any] | None = None
    privilege: ReceivedPrivilege | None = None


class TemporaryUseSent(r.ReceivedModel):
    """Answer of operation 11."""

    sent_device_id_list: list[str] | None = None


class OneTimeQrIssued(r.ReceivedModel):
    """Answer of operation 12; expiration in seconds. The data is a live credential."""

    member_id: str | None = None
    one_time_qr_data: r.Identifier
    version: str | None = None
    expiration_in_seconds: r.WholeNumber | None = None
