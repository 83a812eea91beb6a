"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.jobs import kinds
from portal.imports import actions
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("imports", _("Imports"), "table-import", "imports:index", Permission.IMPORTS_RUN))
kinds.register(actions.IMPORT)


register_subject("imports", _("Imports"), "import")
register_sentences(
    {
        "job.import": gettext_lazy("Import %(file)s"),
        "import.uploaded": gettext_lazy("File uploaded: %(job)s"),
        "import.checked": gettext_lazy("Columns chosen: %(job)s"),
        "import.prepared": gettext_lazy("Prepared: %(job)s"),
        "import.retried": gettext_lazy("Prepared again: %(job)s"),
        "import.scheduled": gettext_lazy("Scheduled: %(job)s"),
        "import.started": gettext_lazy("Started: %(job)s"),
        "import.begun": gettext_lazy("Started as scheduled: %(job)s"),
        "import.stopped": gettext_lazy("Stopped: %(job)s"),
        "import.continued": gettext_lazy("Continued: %(job)s"),
        "import.decided": gettext_lazy("Uncertain results decided: %(job)s"),
        "import.discarded": gettext_lazy("Discarded: %(job)s"),
        "import.downloaded": gettext_lazy("Rows downloaded: %(job)s"),
    }
)
register_targets({"import": gettext_lazy("Import")})
