"""The one table of what is kept as a code: each code with its sentence, worded when somebody reads it.

A code that rows may hold is never taken out of it, and never given another meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Who stands in a sentence whose name is forgotten, or is not looked up.
NOBODY: Mapping[str, Promise] = {"guest": _("a guest")}

# Titles of what is asked of the service: of intents, and of their entries in the audit trail.
REQUESTS: dict[str, Promise] = {
    "member.create": _("Create member: %(name)s"),
    "member.change": _("Change member: %(name)s"),
    "member.delete": _("Delete member: %(name)s"),
    "member.rights": _("Change rights: %(name)s"),
    "member.temporary_keys": _("Temporary keys: %(name)s"),
    "member.profile_picture": _("Profile picture: %(name)s"),
    "member.register_face": _("Register face: %(name)s"),
    "member.delete_face": _("Delete face: %(name)s"),
    "group.create": _("Create group %(name)s"),
    "group.rename": _("Rename group %(old)s to %(new)s"),
    "door.unlock": _("Unlock: %(door)s"),
    "door.lock": _("Lock: %(door)s"),
    "door.cont_unlock": _("Hold unlocked: %(door)s"),
    "door.in_unlock": _("Unlock for entry: %(door)s"),
    "door.out_unlock": _("Unlock for exit: %(door)s"),
    "guest.issue": _("Issue a code: %(guest)s"),
    "guest.change": _("Change guest: %(guest)s"),
    "guest.extend": _("Extend: %(guest)s"),
    "guest.cut_short": _("Cut short: %(guest)s"),
}

# Acts whose entry in the audit trail needs no more words than its own code has here.
ACTS: dict[str, Promise] = {
    "guest.code_shown": _("Guest’s code shown"),
    "guest.code_downloaded": _("Guest’s code downloaded"),
    "guest.badge_opened": _("Badge opened"),
    "guest.badge_downloaded": _("Badge downloaded"),
    "guest.code_linked": _("Link to a guest’s code made"),
    "guest.code_unlinked": _("Link to a guest’s code revoked"),
    "expected.uploaded": _("List of expected guests uploaded"),
    "expected.started": _("List of expected guests started"),
    "expected.stopped": _("List of expected guests stopped"),
    "expected.continued": _("List of expected guests continued"),
    "expected.discarded": _("List of expected guests discarded"),
    "expected.downloaded": _("List of expected guests downloaded"),
    "support.end": _("Support session ended"),
    "support.allow": _("Support sessions allowed"),
    "support.refuse": _("Support sessions refused"),
}

TEXTS: Mapping[str, Promise] = {**REQUESTS, **ACTS}
