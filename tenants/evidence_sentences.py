"""Sentences for cameras, evidence and access reviews.

They belong to the table in `tenants.sentences`, under the same rules.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

EVIDENCE_SENTENCES: dict[str, Promise] = {
    "camera.added": _("Camera added: %(camera)s"),
    "camera.edited": _("Camera changed: %(camera)s"),
    "camera.settings": _("Camera settings changed"),
    "camera.removed": _("Camera removed: %(camera)s"),
    "camera.wall": _("Pictures of cameras viewed"),
    "camera.latest": _("Latest picture viewed: %(camera)s"),
    "camera.live": _("Camera viewed live: %(camera)s"),
    "camera.recorded": _("Recording viewed: %(camera)s, %(since)s to %(until)s"),
    "camera.clip": _("Video of a log record viewed: %(camera)s, %(at)s"),
    "camera.picture": _("Picture viewed: %(camera)s, %(at)s"),
    "incident.opened": _("Incident %(number)s opened"),
    "incident.edited": _("Incident %(number)s edited"),
    "incident.closed": _("Incident %(number)s closed"),
    "incident.reopened": _("Incident %(number)s opened again"),
    "incident.held": _("Incident %(number)s put on legal hold"),
    "incident.hold_ended": _("Legal hold of incident %(number)s ended"),
    "incident.deleted": _("Incident %(number)s deleted with its evidence"),
    "evidence.added": ngettext_lazy(
        "Incident %(number)s: %(count)s item added", "Incident %(number)s: %(count)s items added", "count"
    ),
    "evidence.removed": _("Incident %(number)s: 1 item removed"),
    "evidence.fetch": ngettext_lazy(
        "Incident %(number)s: %(count)s video or picture requested",
        "Incident %(number)s: %(count)s videos and pictures requested",
        "count",
    ),
    "evidence.stored": _("Incident %(number)s: video or picture saved"),
    "evidence.viewed": _("Incident %(number)s: video or picture viewed"),
    "evidence.export": _("Incident %(number)s: export requested"),
    "evidence.downloaded": _("Incident %(number)s: export downloaded"),
    "evidence.retention": ngettext_lazy(
        "Closed incidents are kept for %(days)s day", "Closed incidents are kept for %(days)s days", "days"
    ),
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
    "review.started": _("Access review started: %(title)s"),
    "review.changed": _("Access review changed: %(title)s"),
    "review.confirmed": _("Access confirmed: %(name)s, %(area)s"),
    "review.marked": _("Access to be withdrawn: %(name)s, %(area)s"),
    "review.undone": _("Decision undone: %(name)s, %(area)s"),
    "review.confirmed_many": ngettext_lazy(
        "Access review %(title)s: %(n)s right confirmed", "Access review %(title)s: %(n)s rights confirmed", "n"
    ),
    "review.marked_many": ngettext_lazy(
        "Access review %(title)s: %(n)s right to be withdrawn",
        "Access review %(title)s: %(n)s rights to be withdrawn",
        "n",
    ),
    "review.delegated": ngettext_lazy(
        "Access review %(title)s: %(n)s item delegated to %(who)s",
        "Access review %(title)s: %(n)s items delegated to %(who)s",
        "n",
    ),
    "review.withdrawals": ngettext_lazy(
        "Access review %(title)s: removal of %(n)s right prepared, %(area)s",
        "Access review %(title)s: removal of %(n)s rights prepared, %(area)s",
        "n",
    ),
    "review.finished": _("Access review finished: %(title)s"),
    "review.signed": _("Report of the access review signed: %(title)s"),
    "review.cancelled": _("Access review cancelled: %(title)s"),
    "review.downloaded": _("Report of the access review downloaded: %(title)s"),
}
