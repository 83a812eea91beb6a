"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.imports import actions, sheet_kinds
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("imports", _("Imports"), "table-import", "imports:index", Permission.IMPORTS_RUN))
kinds.register(actions.IMPORT)
sheet_kinds.register(actions.IMPORT.name, actions.MEMBERS)
kinds.register(actions.IMPORT_UNDO)


register_subject("imports", _("Imports"), "import")
register_sentences(
    {
        "job.import": _("Import %(file)s"),
        "import.uploaded": _("File uploaded: %(job)s"),
        "import.reread": _("File read in another way: %(job)s"),
        "import.checked": _("Columns chosen: %(job)s"),
        "import.prepared": _("Prepared: %(job)s"),
        "import.retried": _("Prepared again: %(job)s"),
        "import.scheduled": _("Scheduled: %(job)s"),
        "import.started": _("Started: %(job)s"),
        "import.begun": _("Started as scheduled: %(job)s"),
        "import.stopped": _("Stopped: %(job)s"),
        "import.continued": _("Continued: %(job)s"),
        "import.undone": _("Undo started: %(job)s"),
        "import.decided": _("Uncertain results decided: %(job)s"),
        "import.discarded": _("Discarded: %(job)s"),
        "import.downloaded": _("Rows downloaded: %(job)s"),
    }
)
register_targets({"import": _("Import")})
