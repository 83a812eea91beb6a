"""The one table of everything that is stored as a code: each code with its sentence, in the reader's language.

A code that rows may hold is never removed, and its meaning never changes. An audit log entry uses its action as its
code if the action has one sentence. Values that are counted are called `n`.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, pgettext_lazy

from tenants.evidence_sentences import EVIDENCE_SENTENCES
from tenants.roles import ROLES

# Text for a person whose name was deleted, or is not looked up.
REPLACEMENT_NAMES: Mapping[str, Promise] = {"guest": _("a guest")}

# Titles of requests to the service, and of their audit log entries.
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
    "key.unlock": _("Release key %(numbers)s: %(box)s"),
    "key.lock": _("Lock key %(numbers)s: %(box)s"),
    "webhook.on": _("Switch on the webhook"),
    "webhook.off": _("Switch off the webhook"),
    "webhook.categories": _("Change the webhook categories"),
    "webhook.secret": _("Renew the webhook secret"),
    "webhook.address": _("Renew the webhook address"),
    "guest.issue": _("Issue a code: %(guest)s"),
    "guest.change": _("Change guest: %(guest)s"),
    "guest.extend": _("Extend: %(guest)s"),
    "guest.cut_short": _("Code deactivated: %(guest)s"),
    "job.part": _("%(job)s: %(what)s (request %(part)d)"),
    "job.creates": ngettext_lazy("create %(n)d member", "create %(n)d members", "n"),
    "job.deletes": ngettext_lazy("delete %(n)d member", "delete %(n)d members", "n"),
    "job.changes": ngettext_lazy("change %(n)d member", "change %(n)d members", "n"),
}

# Results of requests, by the last word of the action of the outcome's entry.
OUTCOMES: dict[str, Promise] = {
    "outcome.succeeded": _("Done"),
    "outcome.failed": _("Refused"),
    "outcome.uncertain": _("Uncertain"),
    "outcome.expired": _("Too late, not sent"),
    "outcome.cancelled": _("Not sent"),
    "intent.applied": _("Recorded as applied: %(what)s"),
    "intent.not_applied": _("Recorded as not applied: %(what)s"),
}

# Titles of long jobs on many members, and the audit log's sentence for each action on one.
JOBS: dict[str, Promise] = {
    "job.suspend": ngettext_lazy("Suspend %(n)s member", "Suspend %(n)s members", "n"),
    "job.resume": ngettext_lazy("Resume %(n)s member", "Resume %(n)s members", "n"),
    "job.extend": ngettext_lazy("Extend the use of %(n)s member", "Extend the use of %(n)s members", "n"),
    "job.move": ngettext_lazy("Move %(n)s member to “%(group)s”", "Move %(n)s members to “%(group)s”", "n"),
    "job.rights": ngettext_lazy(
        "Set the rights of %(n)s member: %(source)s", "Set the rights of %(n)s members: %(source)s", "n"
    ),
    "job.delete": ngettext_lazy("Delete %(n)s member", "Delete %(n)s members", "n"),
    "job.undo": _("Undo: %(what)s"),
    "job.copy_rights": _("Copy the rights of %(name)s"),
    "job.load_rights": ngettext_lazy("Load the rights of %(n)s member", "Load the rights of %(n)s members", "n"),
    "job.import": _("Import %(file)s"),
    "area.grant": _("Give access to %(area)s"),
    "area.grant_until": _("Give access to %(area)s until %(until)s"),
    "area.end": _("End of access to %(area)s"),
    "area.withdraw": _("Remove access to %(area)s"),
    "area.undo": _("Undo: access to %(area)s"),
    "change.prepared": _("Bulk change prepared: %(job)s"),
    "change.retried": _("Bulk change prepared again: %(job)s"),
    "change.scheduled": _("Bulk change scheduled: %(job)s"),
    "change.started": _("Bulk change started: %(job)s"),
    "change.begun": _("Scheduled bulk change started: %(job)s"),
    "change.stopped": _("Bulk change stopped: %(job)s"),
    "change.continued": _("Bulk change continued: %(job)s"),
    "change.decided": _("Uncertain results decided: %(job)s"),
    "change.discarded": _("Bulk change discarded: %(job)s"),
    "change.downloaded": _("Rows of a bulk change downloaded: %(job)s"),
    "import.uploaded": _("File uploaded: %(job)s"),
    "import.checked": _("Columns chosen: %(job)s"),
    "import.prepared": _("Prepared: %(job)s"),
    "import.retried": _("Prepared again: %(job)s"),
    "import.scheduled": _("Scheduled: %(job)s"),
    "import.started": _("Started: %(job)s"),
    "import.begun": _("Started as scheduled: %(job)s"),
    "import.stopped": _("Stopped: %(job)s"),
    "import.continued": _("Continued: %(job)s"),
    "import.decided": _("Uncertain results decided: %(job)s"),
    "import.discarded": _("Discarded: %(job)s"),
    "import.downloaded": _("Rows downloaded: %(job)s"),
}

# Actions at the desk. The guest's name is looked up for the reader (`tenants.audit_log.names`).
DESK: dict[str, Promise] = {
    "guest.noted": _("Company and host changed: %(guest)s"),
    "guest.received_without_code": _("Checked in without a code: %(guest)s"),
    "guest.arrived": _("Checked in: %(guest)s"),
    "guest.arrived_by_code": _("Checked in by using the code: %(guest)s"),
    "guest.left": _("Checked out: %(guest)s"),
    "guest.back": _("Check-out undone: %(guest)s"),
    "guest.arrival_undone": _("Check-in undone: %(guest)s"),
    "guest.undone": _("Step at the desk undone: %(guest)s"),
    "guest.code_shown": _("Code shown for %(guest)s"),
    "guest.code_downloaded": _("Code downloaded for %(guest)s"),
    "guest.badge_opened": _("Badge opened for %(guest)s"),
    "guest.badge_downloaded": _("Badge downloaded for %(guest)s"),
    "guest.code_linked": _("Link to the code created for %(guest)s"),
    "guest.code_unlinked": _("Link to the code revoked for %(guest)s"),
    "roll_call.started": _("Roll call started: %(name)s"),
    "roll_call.person_added": _("Person added to the roll call: %(name)s"),
    "roll_call.ended": _("Roll call ended: %(name)s"),
    "guests.building_exported": ngettext_lazy(
        "List of %(n)s person in the building exported as %(kind)s",
        "List of %(n)s people in the building exported as %(kind)s",
        "n",
    ),
    "guests.month_exported": ngettext_lazy(
        "%(n)s visit of %(month)s exported as %(kind)s", "%(n)s visits of %(month)s exported as %(kind)s", "n"
    ),
    "guests.closed": ngettext_lazy(
        "%(n)s guest of an earlier day checked out", "%(n)s guests of earlier days checked out", "n"
    ),
    "guests.erased": ngettext_lazy(
        "Personal data of %(n)s past visit deleted", "Personal data of %(n)s past visits deleted", "n"
    ),
    "desk.settings": _("Desk settings changed"),
    "preset.saved": _("Preset saved: %(name)s"),
    "preset.default": _("Preset made the default: %(name)s"),
    "preset.deleted": _("Preset deleted: %(name)s"),
    "expected.uploaded": _("List of expected guests uploaded"),
    "expected.started": _("List of expected guests started"),
    "expected.stopped": _("List of expected guests stopped"),
    "expected.continued": _("List of expected guests continued"),
    "expected.discarded": _("List of expected guests discarded"),
    "expected.downloaded": _("List of expected guests downloaded"),
}  # fmt: skip

# The portal's own records about members and places.
RECORDS: dict[str, Promise] = {
    "member.reveal_card": _("Card number shown: %(name)s"),
    "member.reveal_qr": _("QR data shown: %(name)s"),
    "member.reveal_one_time": _("One-time code shown: %(name)s"),
    "members.export": ngettext_lazy("%(n)s member exported as %(kind)s", "%(n)s members exported as %(kind)s", "n"),
    "groups.export": ngettext_lazy("%(n)s group exported as %(kind)s", "%(n)s groups exported as %(kind)s", "n"),
    "areas.export": ngettext_lazy("%(n)s area exported as %(kind)s", "%(n)s areas exported as %(kind)s", "n"),
    "area.export": ngettext_lazy(
        "People of %(area)s: %(n)s row exported as %(kind)s", "People of %(area)s: %(n)s rows exported as %(kind)s", "n"
    ),
    "log.days_asked": ngettext_lazy(
        "Activity log of %(n)s older day loaded: %(days)s", "Activity log of %(n)s older days loaded: %(days)s", "n"
    ),
    "log.export": _("Activity log as %(kind)s"),
    "log.export_started": _("Export of the activity log started: %(kind)s"),
    "log.export_stopped": _("Export of the activity log stopped: %(kind)s"),
    "log.export_continued": _("Export of the activity log continued: %(kind)s"),
    "log.export_downloaded": _("Export of the activity log downloaded: %(kind)s"),
    "lockdown.asked": ngettext_lazy(
        "Lockdown asked for, waiting for a second person: %(n)s door",
        "Lockdown asked for, waiting for a second person: %(n)s doors",
        "n",
    ),
    "lockdown.started": ngettext_lazy("Lockdown started: %(n)s door", "Lockdown started: %(n)s doors", "n"),
    "lockdown.sent_again": ngettext_lazy("Lockdown sent again: %(n)s door", "Lockdown sent again: %(n)s doors", "n"),
    "lockdown.released": ngettext_lazy("Lockdown released: %(n)s door", "Lockdown released: %(n)s doors", "n"),
    "lockdown.replaced": ngettext_lazy(
        "Lockdown replaced by a new one: %(n)s door", "Lockdown replaced by a new one: %(n)s doors", "n"
    ),
    "lockdown.withdrawn": ngettext_lazy(
        "Lockdown not confirmed, nothing sent: %(n)s door", "Lockdown not confirmed, nothing sent: %(n)s doors", "n"
    ),
    "lockdown.rehearsed": ngettext_lazy(
        "Lockdown rehearsed, nothing sent: %(n)s door", "Lockdown rehearsed, nothing sent: %(n)s doors", "n"
    ),
    "evacuation.asked": ngettext_lazy(
        "Evacuation unlock asked for, waiting for a second person: %(n)s door",
        "Evacuation unlock asked for, waiting for a second person: %(n)s doors",
        "n",
    ),
    "evacuation.started": ngettext_lazy(
        "Evacuation unlock started: %(n)s door", "Evacuation unlock started: %(n)s doors", "n"
    ),
    "evacuation.sent_again": ngettext_lazy(
        "Evacuation unlock sent again: %(n)s door", "Evacuation unlock sent again: %(n)s doors", "n"
    ),
    "evacuation.released": ngettext_lazy(
        "Evacuation unlock released: %(n)s door", "Evacuation unlock released: %(n)s doors", "n"
    ),
    "evacuation.replaced": ngettext_lazy(
        "Evacuation unlock replaced by a new one: %(n)s door",
        "Evacuation unlock replaced by a new one: %(n)s doors",
        "n",
    ),
    "evacuation.withdrawn": ngettext_lazy(
        "Evacuation unlock not confirmed, nothing sent: %(n)s door",
        "Evacuation unlock not confirmed, nothing sent: %(n)s doors",
        "n",
    ),
    "evacuation.rehearsed": ngettext_lazy(
        "Evacuation unlock rehearsed, nothing sent: %(n)s door",
        "Evacuation unlock rehearsed, nothing sent: %(n)s doors",
        "n",
    ),
    "relock.started": ngettext_lazy(
        "Locking after an evacuation started: %(n)s door", "Locking after an evacuation started: %(n)s doors", "n"
    ),
    "relock.sent_again": ngettext_lazy(
        "Locking after an evacuation sent again: %(n)s door", "Locking after an evacuation sent again: %(n)s doors", "n"
    ),
    "relock.released": ngettext_lazy(
        "Locking after an evacuation ended: %(n)s door", "Locking after an evacuation ended: %(n)s doors", "n"
    ),
    "relock.replaced": ngettext_lazy(
        "Locking after an evacuation replaced by a new one: %(n)s door",
        "Locking after an evacuation replaced by a new one: %(n)s doors",
        "n",
    ),
    "lockdown.settings": _("Lockdown settings changed"),
    "safety_rule.lockdown": pgettext_lazy("safety rule", "Lockdown settings"),
    "safety_rule.evidence_retention": pgettext_lazy("safety rule", "Retention of evidence"),
    "safety_rule.guest_retention": pgettext_lazy("safety rule", "Desk settings"),
    "safety_rule.command_pictures": pgettext_lazy("safety rule", "Camera settings"),
    "safety_rule.alert_rule": _("Alert rule: %(kind)s"),
    "safety_rule.alert_recipients": _("Recipients of an alert rule: %(kind)s"),
    "safety_rule.alert_address": _("Web address for alerts: %(name)s"),
    "safety.loosened": _("Safety rule loosened by an owner: %(rule)s"),
    "safety.asked": _("Change requested that needs a second person: %(rule)s"),
    "safety.confirmed": _("Change confirmed as the second person, requested by %(who)s: %(rule)s"),
    "safety.refused": _("Change declined, requested by %(who)s: %(rule)s"),
    "safety.withdrawn": _("Change cancelled before it was confirmed: %(rule)s"),
    "safety.expired": _("Change expired before it was confirmed: %(rule)s"),
    "safety.void": _("Change no longer valid: %(rule)s"),
    "plan.added": _("Floor plan added: %(name)s"),
    "plan.replaced": _("Floor plan replaced: %(name)s"),
    "plan.edited": _("Floor plan edited: %(name)s"),
    "plan.deleted": _("Floor plan deleted: %(name)s"),
    "alert_kind.evidence": _("Evidence about to be deleted"),
    "log.search_saved": _("Log search saved: %(name)s"),
    "log.search_renamed": _("Log search renamed: %(name)s"),
    "log.search_deleted": _("Log search deleted: %(name)s"),
    "alert.take": _("Alert %(alert)s taken"),
    "alert.give_back": _("Alert %(alert)s given back"),
    "alert.note": _("Note on alert %(alert)s"),
    "alert.close": _("Alert %(alert)s closed"),
    "alert_rule.change": _("Alert rule changed: %(kind)s"),
    "alert_rule.notify": _("Recipients of an alert rule changed: %(kind)s"),
    "alert_address.add": _("Web address for alerts added: %(name)s"),
    "alert_address.renew": _("Secret of a web address for alerts renewed: %(name)s"),
    "alert_address.remove": _("Web address for alerts removed: %(name)s"),
    "alert_address.test": _("Web address for alerts tested: %(name)s"),
    "alert_kind.refused": _("Repeated refusals"),
    "alert_kind.suspicious": _("Suspicious event"),
    "alert_kind.out_of_hours": _("Person out of hours"),
    "alert_kind.connection": _("Connection lost"),
    "alert_kind.budget": _("API calls nearly used up"),
    "alert_kind.silence": _("Webhook silent"),
    "alert_kind.forced": _("Door forced open"),
    "alert_kind.left_open": _("Door left open"),
    "alert_kind.offline": _("Device offline"),
    "alert_kind.key_overdue": _("Key overdue"),
    "alert_kind.key_wrong": _("Key in the wrong place"),
    "rights_template.create": _("Rights template created: %(name)s"),
    "rights_template.change": _("Rights template changed: %(name)s"),
    "rights_template.delete": _("Rights template deleted: %(name)s"),
}

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

TENANT: dict[str, Promise] = {
    "tenant.add": _("Tenant added: %(name)s"),
    "tenant.change": _("Tenant changed: %(name)s"),
    "connection.begin": _("Connection started: %(environment)s"),
    "restore.found": _("Data restored from a backup was found. Automatic work is paused."),
    "restore.released": _("Automatic work resumed after a restore"),
    "connection.connect": _("Connected to %(name)s"),
    "connection.refused": _("Not connected: %(why)s"),
    "connection.lost": _("Connection lost: the service no longer accepts the access token"),
    "connection.reissue": _("New access token requested"),
    "connection.reissued": _("New access token issued (number %(number)d)"),
    "connection.reissue_undone": _("New access token refused; the former one is used again"),
    "connection.revoke": _("Revoke the access token: %(outcome)s"),
    "connection.licence_key_stored": _("Licence key stored"),
    "connection.licence_key_removed": _("Licence key removed"),
    "webhook.leave": _("Webhook switched off in the portal alone"),
    "webhook.test": _("Test of the webhook started"),
    "webhook.reveal": _("Webhook address shown"),
    "connection.webhook_secret_stored": _("Webhook secret stored"),
    "connection.webhook_secret_removed": _("Webhook secret removed"),
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

TEXTS: Mapping[str, Promise] = {**REQUESTS, **OUTCOMES, **JOBS, **DESK, **RECORDS, **EVIDENCE_SENTENCES, **TENANT}

# Actors in the audit log that are not people.
ACTORS: Mapping[str, Promise] = {
    "portal": _("The portal"),
    "histories": _("The portal"),  # read from the service's log
    "service": _("The service"),
    "command line": _("Command line"),
}

# Kinds of targets, by the first part of the target's code.
TARGETS: Mapping[str, Promise] = {
    "area": _("Area"),
    "change": _("Bulk change"),
    "connection": _("Connection"),
    "desk": _("Desk"),
    "expected": _("Expected guests"),
    "groups": _("Groups"),
    "guest": _("Guest"),
    "guests": _("Guests"),
    "import": _("Import"),
    "invitation": _("Invitation"),
    "key_box": _("Key box"),
    "lockdown": _("Lockdown"),
    "log": _("Activity log"),
    "member": _("Member"),
    "membergroup": _("Group"),
    "members": _("Members"),
    "party": _("Guests"),
    "pass_controller": _("Door"),
    "preset": _("Preset"),
    "report": _("Report"),
    "report_schedule": _("Report schedule"),
    "review": _("Access review"),
    "rights_template": _("Rights template"),
    "safety": _("Safety rule"),
    "support": _("Support session"),
    "tenant": _("Tenant"),
    "user": _("Staff"),
    "visit": _("Visit"),
}
