"""What the connection's pages say, in words for the person who reads them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from tenants.connections.actions import Revoked
from tenants.connections.reissue import Outcome

REFUSALS = {
    "state": _(
        "This answer does not belong to a connection that you began here. Begin again from the connection page."
    ),
    "used": _("This answer was already used. The connection page shows what came of it."),
    "expired": _("More than ten minutes passed since the connection was begun. Begin again."),
    "denied": _("The service did not grant access: consent was refused, or an error was reported."),
    "code": _("The service did not accept the authorization code. Begin again."),
    "unreachable": _("The service could not be reached. Nothing was changed. Try again in a moment."),
    "no_answer": _("The service did not answer when the code was exchanged. No token was stored. Begin again."),
    "token": _("The service does not accept the token that it just issued. It was not stored. Begin again."),
    "tenant_unread": _(
        "The service did not say whose token this is, so it was not stored. The permission tenant:read is needed."
    ),
    "other_tenant": _(
        "The account that gave consent belongs to another tenant of the service than the one connected first. "
        "The token was not stored."
    ),
    "taken": _("This tenant of the service is already connected to another tenant here. The token was not stored."),
}

OUTCOMES = {
    Outcome.SENT: _("A reissue was sent; its answer is not known. If the connection is lost, connect again."),
    Outcome.DONE: _("The access token was reissued, and the new one has worked."),
    Outcome.UNPROVEN: _("A new access token is in use. The old one is kept until the new one has worked."),
    Outcome.REFUSED: _("The service refused to reissue the access token. The old one stays in use."),
    Outcome.NOT_SENT: _("The service could not be reached. The access token was not changed."),
    Outcome.ANSWER_LOST: _(
        "The service's answer was lost. The old access token stays in use; "
        "if the service stops accepting it, connect again."
    ),
    Outcome.NEW_TOKEN_REFUSED: _("The new access token did not work. The old one is in use again."),
    Outcome.BROKEN: _("The service's answer was lost, and the old access token no longer works. Connect again."),
}

REVOCATIONS = {
    Revoked.DONE: _(
        "The access token was revoked. Nothing can be read or changed until the tenant is connected again."
    ),
    Revoked.REFUSED: _("The service refused to revoke the access token. It stays in use."),
    Revoked.NOT_SENT: _("The service could not be reached. The access token was not revoked."),
    Revoked.UNKNOWN: _("The service's answer was lost: the token may or may not be revoked. Revoke again to be sure."),
}

STATE_REASONS = {
    "token_refused": _("The service no longer accepts the access token. Connect again."),
    "reissue_lost": _("A reissue's answer was lost, and the old access token no longer works. Connect again."),
}

PROVENANCE = {
    "specified": _("specified"),
    "published": _("published"),
    "assumed": _("assumed"),
}

CONTRACTS = {
    "door": _("door-entry contract"),
    "key_box": _("key-box contract"),
    "qr": _("QR option contract"),
    "face": _("face-recognition option contract"),
    "licence": _("remote-operation licence"),
}
