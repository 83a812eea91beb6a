"""The texts of the connection's pages."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from tenants import sentences
from tenants.connections.actions import RevocationOutcome
from tenants.connections.reissue import ReissueOutcome

REFUSALS = sentences.REFUSALS

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
