"""Register the stored sentences about incidents and their evidence."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, pgettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "safety_rule.evidence_retention": pgettext_lazy("safety rule", "Retention of evidence"),
        "alert_kind.evidence": _("Evidence about to be deleted"),
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
    }
)
