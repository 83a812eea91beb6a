"""The stored sentences about tenants, connections, staff and support sessions, and the results of requests."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from tenants.audit_log import targets
from tenants.connections.words import REFUSALS
from tenants.models import Invitation, User
from tenants.roles import ROLES
from tenants.sentences import register_actors, register_sentences, register_targets

register_sentences(
    {
        # Results of requests, by the last word of the action of the outcome's entry.
        "outcome.succeeded": _("Done"),
        "outcome.failed": _("Refused"),
        "outcome.uncertain": _("Uncertain"),
        "outcome.expired": _("Too late, not sent"),
        "outcome.cancelled": _("Not sent"),
        "tenant.add": _("Tenant added: %(name)s"),
        "tenant.change": _("Tenant changed: %(name)s"),
        "connection.begin": _("Connection started: %(environment)s"),
        "connection.connect": _("Connected to %(name)s"),
        "connection.refused": _("Not connected: %(why)s"),
        "connection.lost": _("Connection lost: the service no longer accepts the access token"),
        "connection.reissue": _("New access token requested"),
        "connection.reissued": _("New access token issued (no. %(number)d)"),
        "connection.reissue_undone": _("New access token refused; the previous one is used again"),
        "connection.revoke": _("Revoke the access token: %(outcome)s"),
        "connection.licence_key_stored": _("Licence key stored"),
        "connection.licence_key_removed": _("Licence key removed"),
        "staff.add": _("Staff added: %(person)s, %(role)s"),
        "staff.invite": _("Invited: %(person)s, %(role)s"),
        "staff.uninvite": _("Invitation cancelled: %(person)s"),
        "staff.join": _("Joined: %(person)s, %(role)s"),
        "staff.role": _("Role changed: %(person)s, from %(old)s to %(new)s"),
        "staff.remove": _("Staff removed: %(person)s, %(role)s"),
        "support.enter": _("Support session started for %(minutes)d minutes: %(reason)s"),
        "support.end": _("Support session ended"),
        "support.allow": _("Support sessions allowed"),
        "support.refuse": _("Support sessions refused"),
        **{f"refused.{reason}": text for reason, text in REFUSALS.items()},
        **{f"role.{role.name}": role.title for role in ROLES},
    }
)
register_targets(
    {
        "connection": _("Connection"),
        "invitation": _("Invitation"),
        "support": _("Support session"),
        "tenant": _("Tenant"),
        "user": _("Staff"),
    }
)
targets.register_names("user", User, "pk", "email")
targets.register_names("invitation", Invitation, "pk", "email")
register_actors({"portal": _("The portal"), "service": _("The service"), "command line": _("Command line")})
