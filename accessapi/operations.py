"""The interface as one table: the 36 operations of the specification (part "Endpoints") and the 4 of OAuth.

Client, sandbox, budget, permissions page and documentation use only this table. Each row has the source of its method
and path (`provenance`): the specification, public developer pages, or our own choice. Only rows that are not
`specified` may be overridden per service environment (see `overrides`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class CallClass(StrEnum):
    """The hourly limit that a call counts against."""

    GENERAL = "general"
    DEVICE = "device"
    OAUTH = "oauth"


class Delivery(StrEnum):
    """How often a call may reach the service: see the delivery promises."""

    READ = "read"
    SET = "set"
    CREATE = "create"
    PHYSICAL = "physical"


class Provenance(StrEnum):
    """The source of a fact about the service."""

    SPECIFIED = "specified"
    PUBLISHED = "published"
    ASSUMED = "assumed"


class Contract(StrEnum):
    """A contract of the tenant that an operation needs."""

    DOOR = "door"
    KEY_BOX = "key_box"
    QR = "qr"
    FACE = "face"


class Body(StrEnum):
    """The kind of body of a request."""

    NONE = "none"
    JSON = "json"
    IMAGE = "image"
    FORM = "form"


class RequestType(StrEnum):
    """The type of a request that the service processes after its answer (operation 34, `request_type`)."""

    MEMBERS_BULK = "members_bulk"
    FACE = "face"
    DEVICE = "device_request"


_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: all facts about a call except its fields.

    - `scope` is None: no permission needed (34), or not shown (35, 36).
    - `list_key` names the array of a list's answer. `list_names` has the fields of its items with another name in this
      environment (its name, ours). `is_paged`: it accepts limit and last_evaluated_key.
    - `may_be_empty`: the answer may have no body.
    - `request_type`: it answers with a request_id, under which the outcome of a request of this type is read.
    - `is_deletion`: a 404 means that the object is gone. `must_read_back`: the 404 may be about something else, so the
      object is read to be sure.
    """

    number: int
    name: str
    title: str
    method: str
    path: str
    scope: str | None = None
    contract: Contract | None = None
    needs_licence: bool = False
    call_class: CallClass = CallClass.GENERAL
    delivery: Delivery = Delivery.READ
    provenance: Provenance = Provenance.SPECIFIED
    body: Body = Body.NONE
    list_key: str | None = None
    list_names: tuple[tuple[str, str], ...] = ()
    is_paged: bool = False
    may_be_empty: bool = False
    request_type: RequestType | None = None
    is_deletion: bool = False
    must_read_back: bool = False
    is_overridden: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the path parameters, in order."""
        return tuple(_PARAMETER.findall(self.path))


_DEVICE = CallClass.DEVICE
_OAUTH = CallClass.OAUTH
_SET, _CREATE, _PHYSICAL = Delivery.SET, Delivery.CREATE, Delivery.PHYSICAL
_ASSUMED, _PUBLISHED = Provenance.ASSUMED, Provenance.PUBLISHED
_JSON, _IMAGE, _FORM = Body.JSON, Body.IMAGE, Body.FORM
_MEMBER = "/v1/members/{member_id}"

OPERATIONS: tuple[Operation, ...] = (
    Operation(1, "get_tenant", "Get tenant", "GET", "/v1/tenant", "tenant:read", provenance=_ASSUMED),
    Operation(2, "update_webhook", "Update webhook settings", "PUT", "/v1/tenant/webhook", "tenant:write",
              delivery=_SET, provenance=_ASSUMED, body=_JSON, may_be_empty=True),
    Operation(3, "list_members", "List members", "GET", "/v1/members", "members:read", list_key="members",
    is_paged=True),
    Operation(4, "create_member", "Create member", "POST", "/v1/members", "members:write",
              delivery=_CREATE, body=_JSON),
    Operation(5, "read_member", "Read member", "GET", _MEMBER, "members:read"),
    Operation(6, "update_member", "Update member", "PUT", _MEMBER, "members:write",
              delivery=_SET, provenance=_ASSUMED, body=_JSON),
    Operation(7, "register_profile_image", "Register profile image", "PUT", _MEMBER + "/profile_image",
              "members:write", delivery=_SET, provenance=_ASSUMED, body=_IMAGE),
    Operation(8, "register_face_image", "Register face image", "PUT", _MEMBER + "/face_image", "members:write",
              Contract.FACE, delivery=_CREATE, provenance=_ASSUMED, body=_IMAGE, request_type=RequestType.FACE),
    Operation(9, "delete_face_image", "Delete face image", "DELETE", _MEMBER + "/face_image", "members:write",
              Contract.FACE, delivery=_SET, provenance=_ASSUMED, may_be_empty=True, is_deletion=True,
              must_read_back=True),
    Operation(10, "delete_member", "Delete member", "DELETE", _MEMBER, "members:write",
              delivery=_SET, provenance=_ASSUMED, may_be_empty=True, is_deletion=True),
    Operation(11, "temporary_use", "Temporary key use", "PUT", _MEMBER + "/temporary_use", "members:write",
              Contract.KEY_BOX, delivery=_PHYSICAL, body=_JSON),
    Operation(12, "one_time_qr", "Issue one-time QR", "POST", _MEMBER + "/one_time_qr", "members:read", Contract.QR),
    Operation(13, "bulk_create_members", "Bulk create members", "POST", "/v1/members/bulk/create", "members:write",
              delivery=_CREATE, provenance=_ASSUMED, body=_JSON, request_type=RequestType.MEMBERS_BULK),
    Operation(14, "bulk_update_members", "Bulk update members", "POST", "/v1/members/bulk/update", "members:write",
              delivery=_SET, provenance=_ASSUMED, body=_JSON, request_type=RequestType.MEMBERS_BULK),
    Operation(15, "bulk_delete_members", "Bulk delete members", "POST", "/v1/members/bulk/delete", "members:write",
              delivery=_SET, provenance=_ASSUMED, body=_JSON, request_type=RequestType.MEMBERS_BULK),
    Operation(16, "list_membergroups", "List member groups", "GET", "/v1/membergroups", "membergroups:read",
              list_key="membergroups", is_paged=True),
    Operation(17, "create_membergroup", "Create member group", "POST", "/v1/membergroups", "membergroups:write",
              delivery=_CREATE, provenance=_ASSUMED, body=_JSON),
    Operation(18, "update_membergroup", "Update member group", "PUT", "/v1/membergroups/{membergroup_id}",
              "membergroups:write", delivery=_SET, provenance=_ASSUMED, body=_JSON),
    Operation(19, "list_guests", "List guests", "GET", "/v1/guests", "guests:read", Contract.QR,
              provenance=_ASSUMED, list_key="guests", is_paged=True),
    Operation(20, "create_guest", "Create guest", "POST", "/v1/guests", "guests:write", Contract.QR,
              delivery=_CREATE, body=_JSON),
    Operation(21, "read_guest", "Read guest", "GET", "/v1/guests/{guest_id}", "guests:read", Contract.QR),
    Operation(22, "update_guest", "Update guest", "PUT", "/v1/guests/{guest_id}", "guests:write", Contract.QR,
              delivery=_SET, provenance=_ASSUMED, body=_JSON),
    Operation(23, "list_histories", "List histories", "GET", "/v1/histories", "histories:read",
              list_key="histories", is_paged=True),
    Operation(24, "list_areas", "List areas", "GET", "/v1/areas", "areas:read", list_key="areas"),
    Operation(25, "list_pass_controllers", "List pass controllers", "GET", "/v1/devices/passes", "devices:read",
              list_key="devices"),
    Operation(26, "pass_controller_status", "Pass controller status", "GET", "/v1/devices/passes/{device_id}/status",
              "devices:read", Contract.DOOR, call_class=_DEVICE),
    Operation(27, "list_key_boxes", "List key boxes", "GET", "/v1/devices/keys", "devices:read", Contract.KEY_BOX,
              list_key="key_devices"),
    Operation(28, "key_box_status", "Key box status", "GET", "/v1/devices/devices/keys/{key_device_id}/status",
              "devices:read", Contract.KEY_BOX, call_class=_DEVICE),
    Operation(29, "camera_usage", "Camera usage", "GET", "/v1/cameras/usage", "cameras:read", provenance=_ASSUMED),
    Operation(30, "camera_snapshots", "Camera snapshots", "GET", "/v1/cameras/snapshots", "cameras:read",
              call_class=_DEVICE, provenance=_ASSUMED, list_key="cameras"),
    Operation(31, "camera_streaming", "Camera streaming session", "GET", "/v1/cameras/{camera_id}/streaming",
              "cameras:read", call_class=_DEVICE, provenance=_ASSUMED),
    Operation(32, "camera_status", "Camera status", "GET", "/v1/cameras/{camera_id}/status", "cameras:read",
              call_class=_DEVICE, provenance=_ASSUMED),
    Operation(33, "history_video", "Video of a history", "GET", "/v1/histories/{history_id}/video", "cameras:read",
              provenance=_ASSUMED),
    Operation(34, "request_result", "Request result", "GET", "/v1/requests/{request_id}", provenance=_ASSUMED),
    Operation(35, "operate_door", "Operate door lock", "POST", "/v1/devices/passes/{device_id}/requests",
              needs_licence=True, call_class=_DEVICE, delivery=_PHYSICAL, provenance=_PUBLISHED, body=_JSON,
              request_type=RequestType.DEVICE),
    Operation(36, "operate_keys", "Operate key box keys", "POST", "/v1/devices/keys/{key_device_id}/requests",
              needs_licence=True, call_class=_DEVICE, delivery=_PHYSICAL, provenance=_ASSUMED, body=_JSON,
              request_type=RequestType.DEVICE),
    Operation(37, "authorize", "Authorise", "GET", "/oauth2/authorize", call_class=_OAUTH),
    Operation(38, "issue_token", "Issue token", "POST", "/oauth2/token", call_class=_OAUTH,
              delivery=_CREATE, body=_FORM),
    Operation(39, "reissue_token", "Reissue token", "POST", "/oauth2/update", call_class=_OAUTH,
              delivery=_CREATE, body=_FORM),
    Operation(40, "revoke_token", "Revoke token", "POST", "/oauth2/revoke", call_class=_OAUTH,
              delivery=_SET, body=_FORM, may_be_empty=True),
)  # fmt: skip

SCOPES: tuple[str, ...] = (
    "tenant:read", "tenant:write", "members:read", "members:write", "membergroups:read", "membergroups:write",
    "guests:read", "guests:write", "histories:read", "areas:read", "devices:read", "cameras:read",
)  # fmt: skip

SPECIFIED_OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}


def operations_of_type(kind: RequestType) -> tuple[str, ...]:
    """Return the names of the operations whose outcome is read as a request of this type."""
    return tuple(operation.name for operation in OPERATIONS if operation.request_type is kind)
