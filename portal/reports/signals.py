"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.restore import marking
from portal.base.timers import rounds, timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.reports import creating, keeping, scheduling
from portal.today import erasing
from tenants.roles import Permission

nav.register(NavEntry("reports", _("Reports"), "report", "reports:index", Permission.REPORTS_VIEW))
timer_registry.register(
    "reports",
    creating.REPORTS_DUE.check_due,
    every=scaled_seconds(5),
    queue="bulk",
    due_rows=creating.REPORTS_DUE.querysets,
)
timer_registry.register(
    "report_schedules",
    scheduling.SCHEDULES_DUE.check_due,
    every=scaled_seconds(30),
    queue="bulk",
    due_rows=scheduling.SCHEDULES_DUE.querysets,
)
rounds.register(
    "old_reports", rounds.tenant_steps(keeping.old_reports, keeping.delete_old_reports), every=3600.0, queue="bulk"
)
erasing.subscribe(keeping.delete_guest_files)
marking.register("reports", scheduling.mark_restored)
