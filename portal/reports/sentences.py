"""Register the stored sentences about reports."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "report_kind.week": _("Week at a glance"),
        "report_kind.may_enter": _("Who may enter"),
        "report_kind.entered": _("Who entered"),
        "report_kind.unused": _("Unused credentials and rights"),
        "report_kind.keys": _("Keys"),
        "report_kind.guests": _("Guests"),
        "report_kind.alerts": _("Alerts"),
        "report_kind.staff": _("Staff’s actions"),
        "report.asked": _("Report requested: %(kind)s"),
        "report.scheduled": _("Report scheduled: %(kind)s"),
        "report.schedule_changed": _("Report schedule changed: %(kind)s"),
        "report.schedule_ended": _("Report schedule ended: %(kind)s"),
        "report.sent_now": _("Latest report sent: %(kind)s"),
        "report.deleted": ngettext_lazy(
            "%(n)d report deleted after its time", "%(n)d reports deleted after their time", "n"
        ),
        "report.downloaded": _("Report downloaded: %(kind)s, %(form)s"),
    }
)
register_targets({"report": _("Report"), "report_schedule": _("Report schedule")})
