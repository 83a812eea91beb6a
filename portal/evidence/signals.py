"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.timers import timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.safety import rules
from portal.evidence import alerts, backups, exporting, fetching, panel, retention, store
from tenants.roles import Permission

nav.register(NavEntry("evidence", _("Evidence"), "folder", "evidence:index", Permission.EVIDENCE_VIEW))
timer_registry.register(
    "evidence_media",
    fetching.DUE.check_due,
    every=scaled_seconds(2),
    queue="sync",
    due_rows=fetching.DUE.querysets,
)
timer_registry.register(
    "evidence_exports", exporting.DUE.check_due, every=2.0, queue="bulk", due_rows=exporting.DUE.querysets
)
timer_registry.register(
    "incidents_over", retention.DUE.check_due, every=600.0, queue="bulk", due_rows=retention.DUE.querysets
)
rules.register(retention.RETENTION_RULE)
store.register()
alerts.register()
backups.register()
panel.register()
