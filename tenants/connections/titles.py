"""Translated titles of the service's operations."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

TITLES: dict[str, str | Promise] = {
    "get_tenant": _("Get tenant"),
    "update_webhook": _("Update webhook settings"),
    "list_members": _("List members"),
    "create_member": pgettext_lazy("operation", "Create member"),
    "read_member": _("Read member"),
    "update_member": _("Update member"),
    "register_profile_image": _("Register profile image"),
    "register_face_image": _("Register face image"),
    "delete_face_image": _("Delete face image"),
    "delete_member": pgettext_lazy("operation", "Delete member"),
    "temporary_use": _("Temporary key use"),
    "one_time_qr": _("Issue one-time QR"),
    "bulk_create_members": _("Bulk create members"),
    "bulk_update_members": _("Bulk update members"),
    "bulk_delete_members": _("Bulk delete members"),
    "list_membergroups": _("List member groups"),
    "create_membergroup": _("Create member group"),
    "update_membergroup": _("Update member group"),
    "list_guests": _("List guests"),
    "create_guest": _("Create guest"),
    "read_guest": _("Read guest"),
    "update_guest": _("Update guest"),
    "list_histories": _("List histories"),
    "list_areas": _("List areas"),
    "list_pass_controllers": _("List pass controllers"),
    "pass_controller_status": _("Pass controller status"),
    "list_key_boxes": _("List key boxes"),
    "key_box_status": _("Key box status"),
    "camera_usage": _("Camera usage"),
    "camera_snapshots": _("Camera snapshots"),
    "camera_streaming": _("Camera streaming session"),
    "camera_status": _("Camera status"),
    "history_video": _("Video of a history"),
    "request_result": _("Request result"),
    "operate_door": _("Operate door lock"),
    "operate_keys": _("Operate key box keys"),
    "authorize": _("Authorise"),
    "issue_token": _("Issue token"),
    "reissue_token": _("Reissue token"),
    "revoke_token": _("Revoke token"),
}


def title_of(name: str, default: str = "") -> str | Promise:
    """Return the title of the operation `name`, or `default` if it has none here."""
    return TITLES.get(name, default or name)
