"""Register the stored sentences about alerts and their rules."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "safety_rule.alert_rule": _("Alert rule: %(kind)s"),
        "alert.take": _("Alert %(alert)s taken"),
        "alert.give_back": _("Alert %(alert)s given back"),
        "alert.note": _("Note on alert %(alert)s"),
        "alert.close": _("Alert %(alert)s closed"),
        "alert_rule.change": _("Alert rule changed: %(kind)s"),
        "alert_kind.refused": _("Repeated refusals"),
        "alert_kind.suspicious": _("Suspicious event"),
        "alert_kind.out_of_hours": _("Person out of hours"),
        "alert_kind.connection": _("Connection lost"),
        "alert_kind.budget": _("API calls nearly used up"),
    }
)
