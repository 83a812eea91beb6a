"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.changes.actions import BULK_CHANGES
from portal.domain.jobs import kinds
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("changes", _("Bulk changes"), "users-plus", "changes:index", Permission.MEMBERS_VIEW))
for change in BULK_CHANGES.values():
    kinds.register(change.job_kind)


register_subject("changes", _("Bulk changes"), "change bulk_create_members bulk_update_members bulk_delete_members")
register_sentences(
    {
        "job.suspend": ngettext_lazy("Suspend %(n)s member", "Suspend %(n)s members", "n"),
        "job.resume": ngettext_lazy("Resume %(n)s member", "Resume %(n)s members", "n"),
        "job.extend": ngettext_lazy("Extend the use of %(n)s member", "Extend the use of %(n)s members", "n"),
        "job.move": ngettext_lazy("Move %(n)s member to “%(group)s”", "Move %(n)s members to “%(group)s”", "n"),
        "job.rights": ngettext_lazy(
            "Set the rights of %(n)s member: %(source)s", "Set the rights of %(n)s members: %(source)s", "n"
        ),
        "job.delete": ngettext_lazy("Delete %(n)s member", "Delete %(n)s members", "n"),
        "job.undo": _("Undo: %(what)s"),
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
    }
)
register_targets({"change": _("Bulk change")})
