"""Register the stored sentences about the activity log."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "log.export": _("Activity log as %(kind)s"),
        "log.export_started": _("Export of the activity log started: %(kind)s"),
        "log.export_stopped": _("Export of the activity log stopped: %(kind)s"),
        "log.export_continued": _("Export of the activity log continued: %(kind)s"),
        "log.export_downloaded": _("Export of the activity log downloaded: %(kind)s"),
        "log.search_saved": _("Log search saved: %(name)s"),
        "log.search_renamed": _("Log search renamed: %(name)s"),
        "log.search_deleted": _("Log search deleted: %(name)s"),
    }
)
register_targets({"log": _("Activity log")})
