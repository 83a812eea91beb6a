"""The words of the connection's pages, and titles of the service's operations."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants.connections.actions import RevocationOutcome
from tenants.connections.reissue import ReissueOutcome

# Why a tenant was not connected: shown on the connection page, and stored in the audit log.
REFUSALS: dict[str, Promise] = {
    "state": _("This response does not belong to a connection you started here. Start again from the connection page."),
    "used": _("This response was already used. See the connection page for the result."),
    "expired": _("More than ten minutes have passed since you started connecting. Start again."),
    "denied": _(
        "The service did not grant access. Consent was refused, or the service reported an error. Start again."
    ),
    "code": _("The service did not accept the authorization code. Start again."),
    "unreachable": _("The service could not be reached. Nothing was changed. Try again in a moment."),
    "no_answer": _("The service did not respond when the code was exchanged. No token was stored. Start again."),
    "token": _("The service does not accept the token it just issued. It was not stored. Start again."),
    "tenant_unread": _(
        "The token's organisation is unknown, so the token was not stored. The permission tenant:read is needed."
    ),
    "other_tenant": _(
        "The token was not stored: this account belongs to a different organisation. "
        "Use an account of the organisation connected first."
    ),
    "taken": _(
        "The token was not stored: this organisation is already connected to another tenant. "
        "Use another organisation’s account."
    ),
}

OUTCOMES = {
    ReissueOutcome.SENT: _("A reissue was sent, but the response is not known. If the connection is lost, reconnect."),
    ReissueOutcome.DONE: _("The access token was reissued and the new one works."),
    ReissueOutcome.UNPROVEN: _("A new access token is in use. The previous one is kept until the new one works."),
    ReissueOutcome.REFUSED: _(
        "The service refused to reissue the access token. The current one stays in use. Try again later."
    ),
    ReissueOutcome.NOT_SENT: _("The service could not be reached. The access token was not changed. Try again later."),
    ReissueOutcome.ANSWER_LOST: _(
        "The service's response was lost. The current access token stays in use. If the "
        "service stops accepting it, reconnect."
    ),
    ReissueOutcome.NEW_TOKEN_REFUSED: _(
        "The new access token did not work. The previous one is in use again. Try again later."
    ),
    ReissueOutcome.BROKEN: _("The service's response was lost, and the old access token no longer works. Reconnect."),
}

REVOCATIONS = {
    RevocationOutcome.DONE: _(
        "The access token was revoked. Nothing can be loaded or changed until the tenant is reconnected."
    ),
    RevocationOutcome.REFUSED: _("The service refused to revoke the access token. It stays in use. Try again later."),
    RevocationOutcome.NOT_SENT: _(
        "The service could not be reached. The access token was not revoked. Try again later."
    ),
    RevocationOutcome.UNKNOWN: _(
        "The service's response was lost. The token may not be revoked. Revoke it again to be sure."
    ),
}

STATE_REASONS = {
    "token_refused": _("The service no longer accepts the access token. Reconnect."),
    "reissue_lost": _("The response to a reissue was lost, and the old access token no longer works. Reconnect."),
}

PROVENANCE = {
    "specified": _("specified"),
    "published": _("published"),
    "assumed": _("assumed"),
}

CONTRACTS: dict[str, str | Promise] = {
    "door": _("door-entry contract"),
    "key_box": _("key-box contract"),
    "qr": _("QR option contract"),
    "face": _("face-recognition option contract"),
    "licence": _("remote-operation licence"),
}

# Who can add what the connection lacks.
REMEDIES = {
    "scope": _("An owner reconnects and grants this permission at the service."),
    "contract": _("Not in the contract. Ask the vendor to add it, then an owner reconnects."),
    "licence": _("The vendor activates the licence. Then an owner enters its key below."),
}

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
