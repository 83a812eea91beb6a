"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.base.restore import marking
from portal.base.timers import rounds
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.notifications import outbox
from portal.reports import report_worker
from portal.today import erasing
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("reports", _("Reports"), "report", "reports:index", Permission.REPORTS_VIEW))
report_worker.REPORTS.register()
report_worker.SCHEDULES.register()
outbox.register(report_worker.REPORT)
rounds.register(
    "old_reports",
    rounds.tenant_steps(report_worker.old_reports, report_worker.delete_old_reports),
    every=3600.0,
    queue="bulk",
)
erasing.subscribe(report_worker.delete_guest_files)
marking.register("reports", report_worker.mark_restored)


register_subject("reports", _("Reports"), "report report_schedule")
register_sentences(
    {
        "report_kind.week": _("Week at a glance"),
        "report_kind.may_enter": _("Access by area"),
        "report_kind.entered": _("Who entered"),
        "report_kind.unused": _("Unused credentials and rights"),
        "report_kind.keys": _("Keys"),
        "report_kind.guests": _("Guests"),
        "report_kind.alerts": _("Alerts"),
        "report_kind.staff": _("Staff activity"),
        "report.asked": _("Report requested: %(kind)s"),
        "report.scheduled": _("Report scheduled: %(kind)s"),
        "report.schedule_changed": _("Report schedule changed: %(kind)s"),
        "report.schedule_ended": _("Report schedule ended: %(kind)s"),
        "report.sent_now": _("Latest report sent: %(kind)s"),
        "report.deleted": ngettext_lazy(
            "%(n)d report deleted after the retention period",
            "%(n)d reports deleted after the retention period",
            "n",
        ),
        "report.downloaded": _("Report downloaded: %(kind)s, %(form)s"),
    }
)
register_targets({"report": _("Report"), "report_schedule": _("Report schedule")})
