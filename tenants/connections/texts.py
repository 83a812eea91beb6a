"""The texts of the connection's pages."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tenants.connections.actions import RevocationOutcome
from tenants.connections.reissue import ReissueOutcome

# Why a tenant was not connected: shown on the connection page, and stored in the audit log.
REFUSALS: dict[str, Promise] = {
    "state": _("This response does not belong to a connection you started here. Start again from the connection page."),
    "used": _("This response was already used. See the connection page for the result."),
    "expired": _("More than ten minutes have passed since you started connecting. Start again."),
    "denied": _("The service did not grant access: consent was refused, or an error was reported."),
    "code": _("The service did not accept the authorization code. Start again."),
    "unreachable": _("The service could not be reached. Nothing was changed. Try again in a moment."),
    "no_answer": _("The service did not respond when the code was exchanged. No token was stored. Start again."),
    "token": _("The service does not accept the token it just issued. It was not stored. Start again."),
    "tenant_unread": _(
        "The service did not say whose token this is, so it was not stored. The permission tenant:read is needed."
    ),
    "other_tenant": _(
        "The account that gave consent belongs to a different organisation from the one "
        "connected first. The token was not stored."
    ),
    "taken": _("This organisation is already connected to another tenant here. The token was not stored."),
}

OUTCOMES = {
    ReissueOutcome.SENT: _("A reissue was sent, but the response is not known. If the connection is lost, reconnect."),
    ReissueOutcome.DONE: _("The access token was reissued and the new one works."),
    ReissueOutcome.UNPROVEN: _("A new access token is in use. The previous one is kept until the new one works."),
    ReissueOutcome.REFUSED: _("The service refused to reissue the access token. The current one stays in use."),
    ReissueOutcome.NOT_SENT: _("The service could not be reached. The access token was not changed."),
    ReissueOutcome.ANSWER_LOST: _(
        "The service's response was lost. The current access token stays in use. If the "
        "service stops accepting it, reconnect."
    ),
    ReissueOutcome.NEW_TOKEN_REFUSED: _("The new access token did not work. The previous one is in use again."),
    ReissueOutcome.BROKEN: _("The service's response was lost, and the old access token no longer works. Reconnect."),
}

REVOCATIONS = {
    RevocationOutcome.DONE: _(
        "The access token was revoked. Nothing can be loaded or changed until the tenant is reconnected."
    ),
    RevocationOutcome.REFUSED: _("The service refused to revoke the access token. It stays in use."),
    RevocationOutcome.NOT_SENT: _("The service could not be reached. The access token was not revoked."),
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

CONTRACTS = {
    "door": _("door-entry contract"),
    "key_box": _("key-box contract"),
    "qr": _("QR option contract"),
    "face": _("face-recognition option contract"),
    "licence": _("remote-operation licence"),
}
