"""Every resource of the service as a model: strict for sent values, tolerant for received ones.

Sent: `model_validate` refuses values beyond a limit of the specification, and `to_body()` returns the JSON body.
Received: no field ever raises (`ReceivedModel.odd`, `ReceivedModel.unknown_fields`). `ReceivedPage` is one page of a
list.
"""

from accessapi.resources.cameras import CameraStatus, CameraUsage, HistoryVideo, Snapshot, StreamingSession
from accessapi.resources.groups import Group, GroupCreate, GroupUpdate
from accessapi.resources.guests import Guest, GuestCreate, GuestKeys, GuestUpdate, IssuingMethod
from accessapi.resources.histories import History, HistoryDevice, HistoryMember, HistoryUnit, WebhookMessage
from accessapi.resources.members import (
    BulkCreate,
    BulkDelete,
    BulkMember,
    BulkMemberId,
    BulkUpdate,
    Member,
    MemberCreate,
    MemberUpdate,
    OneTimeQr,
    OneTimeQrIssued,
    Privilege,
    QrCode,
    TemporaryTarget,
    TemporaryUse,
    TemporaryUseSent,
)
from accessapi.resources.places import (
    Area,
    AreaDevice,
    DoorOperation,
    DoorStatus,
    KeyBox,
    KeyBoxStatus,
    KeyOperation,
    KeyUnit,
    KeyUnitStatus,
    PassController,
    PassControllerStatus,
    RequestAccepted,
)
from accessapi.resources.received import ReceivedModel, ReceivedPage
from accessapi.resources.requests import BulkItem, BulkResult, MemberError, RequestRecord
from accessapi.resources.rights import DevicesPass, KeysPass, Pass
from accessapi.resources.sent import SentModel, compose, write_moment
from accessapi.resources.tenants import HolidaySettings, Settings, Tenant, WebhookSettings, WebhookUpdate

__all__ = [
    "Area",
    "AreaDevice",
    "BulkCreate",
    "BulkDelete",
    "BulkItem",
    "BulkMember",
    "BulkMemberId",
    "BulkResult",
    "BulkUpdate",
    "CameraStatus",
    "CameraUsage",
    "DevicesPass",
    "DoorOperation",
    "DoorStatus",
    "Group",
    "GroupCreate",
    "GroupUpdate",
    "Guest",
    "GuestCreate",
    "GuestKeys",
    "GuestUpdate",
    "History",
    "HistoryDevice",
    "HistoryMember",
    "HistoryUnit",
    "HistoryVideo",
    "HolidaySettings",
    "IssuingMethod",
    "KeyBox",
    "KeyBoxStatus",
    "KeyOperation",
    "KeyUnit",
    "KeyUnitStatus",
    "KeysPass",
    "Member",
    "MemberCreate",
    "MemberError",
    "MemberUpdate",
    "OneTimeQr",
    "OneTimeQrIssued",
    "Pass",
    "PassController",
    "PassControllerStatus",
    "Privilege",
    "QrCode",
    "ReceivedModel",
    "ReceivedPage",
    "RequestAccepted",
    "RequestRecord",
    "SentModel",
    "Settings",
    "Snapshot",
    "StreamingSession",
    "TemporaryTarget",
    "TemporaryUse",
    "TemporaryUseSent",
    "Tenant",
    "WebhookMessage",
    "WebhookSettings",
    "WebhookUpdate",
    "compose",
    "write_moment",
]
