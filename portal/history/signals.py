"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import batching, nav
from portal.base.ui.nav import NavEntry
from portal.domain.events import MirrorKind
from portal.domain.jobs import kinds
from portal.domain.sync import freshness
from portal.history import exports, searches
from tenants.audit_log import changes
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("logs", _("Activity log"), "list-details", "history:index", Permission.LOGS_TODAY))
kinds.register(exports.LOG_EXPORT)
batching.register_query(searches.BATCH_NAME, searches.all_searches, on_every_page=False)
freshness.register_footer("logs", MirrorKind.HISTORIES)


register_subject("log", _("Activity log"), "log")
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
changes.register_words("log", searches.audit_words)
changes.register_labels("log", searches.audit_label)
register_targets({"log": _("Activity log")})
