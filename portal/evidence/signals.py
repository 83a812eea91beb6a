"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.timers import timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.base.ui import nav, panels
from portal.base.ui.nav import NavEntry
from portal.domain.alerts import kinds as alert_kinds
from portal.domain.safety import rules
from portal.evidence import alerts, backups, exporting, fetching, panel, retention, store
from tenants.backup import dependencies
from tenants.roles import Permission

nav.register(NavEntry("evidence", _("Evidence"), "folder", "evidence:index", Permission.EVIDENCE_VIEW))
timer_registry.register(
    "evidence_media",
    fetching.MEDIA_DUE.check_due,
    every=scaled_seconds(2),
    queue="sync",
    due_rows=fetching.MEDIA_DUE.querysets,
)
timer_registry.register(
    "evidence_exports",
    exporting.EXPORTS_DUE.check_due,
    every=2.0,
    queue="bulk",
    due_rows=exporting.EXPORTS_DUE.querysets,
)
timer_registry.register(
    "incidents_over",
    retention.INCIDENTS_DUE.check_due,
    every=600.0,
    queue="bulk",
    due_rows=retention.INCIDENTS_DUE.querysets,
)
timer_registry.register(
    "evidence_files", store.delete_due, every=60.0, queue="bulk", due_rows=store.FILES_DUE.querysets
)
rules.register(retention.RETENTION_RULE)
alert_kinds.register(alerts.EXPIRING_EVIDENCE)
dependencies.register(backups.EvidenceFiles)
panels.register("record", panel.draw_record_link)
panels.register("access_check", panel.draw_check_link)
