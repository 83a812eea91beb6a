"""The models that an operation sends (query, body) and receives. Keys are the names of `accessapi.operations`.

`ANSWERS` has no entry if the specification shows no body (2, 9, 10): any body is accepted there. For a list it has the
model of an item.
"""

from accessapi.resources import (
    cameras,
    groups,
    guests,
    histories,
    members,
    places,
    queries,
    requests,
    tenants,
)
from accessapi.resources.received import ReceivedModel
from accessapi.resources.sent import SentModel

QUERIES: dict[str, type[SentModel]] = {
    "list_members": queries.FieldsQuery,
    "one_time_qr": queries.OneTimeQrQuery,
    "list_membergroups": queries.ListQuery,
    "list_guests": queries.FieldsQuery,
    "list_histories": queries.HistoriesQuery,
    "camera_snapshots": queries.SnapshotQuery,
    "camera_streaming": queries.StreamingQuery,
}

REQUESTS: dict[str, type[SentModel]] = {
    "update_webhook": tenants.WebhookUpdate,
    "create_member": members.MemberCreate,
    "update_member": members.MemberUpdate,
    "temporary_use": members.TemporaryUse,
    "bulk_create_members": members.BulkCreate,
    "bulk_update_members": members.BulkUpdate,
    "bulk_delete_members": members.BulkDelete,
    "create_membergroup": groups.GroupCreate,
    "update_membergroup": groups.GroupUpdate,
    "create_guest": guests.GuestCreate,
    "update_guest": guests.GuestUpdate,
    "operate_door": places.DoorOperation,
    "operate_keys": places.KeyOperation,
}

ANSWERS: dict[str, type[ReceivedModel]] = {
    "get_tenant": tenants.Tenant,
    "list_members": members.Member,
    "create_member": members.Member,
    "read_member": members.Member,
    "update_member": members.Member,
    "register_profile_image": members.Member,
    "register_face_image": places.RequestAccepted,
    "temporary_use": members.TemporaryUseSent,
    "one_time_qr": members.OneTimeQrIssued,
    "bulk_create_members": places.RequestAccepted,
    "bulk_update_members": places.RequestAccepted,
    "bulk_delete_members": places.RequestAccepted,
    "list_membergroups": groups.Group,
    "create_membergroup": groups.Group,
    "update_membergroup": groups.Group,
    "list_guests": guests.Guest,
    "create_guest": guests.Guest,
    "read_guest": guests.Guest,
    "update_guest": guests.Guest,
    "list_histories": histories.History,
    "list_areas": places.Area,
    "list_pass_controllers": places.PassController,
    "pass_controller_status": places.PassControllerStatus,
    "list_key_boxes": places.KeyBox,
    "key_box_status": places.KeyBoxStatus,
    "camera_usage": cameras.CameraUsage,
    "camera_snapshots": cameras.Snapshot,
    "camera_streaming": cameras.StreamingSession,
    "camera_status": cameras.CameraStatus,
    "history_video": cameras.HistoryVideo,
    "request_result": requests.RequestRecord,
    "operate_door": places.RequestAccepted,
    "operate_keys": places.RequestAccepted,
}
