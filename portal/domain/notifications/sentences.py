"""Register the stored sentences about who is notified of alerts."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "safety_rule.alert_recipients": _("Recipients of an alert rule: %(kind)s"),
        "safety_rule.alert_address": _("Web address for alerts: %(name)s"),
        "alert_rule.notify": _("Recipients of an alert rule changed: %(kind)s"),
        "alert_address.add": _("Web address for alerts added: %(name)s"),
        "alert_address.renew": _("Secret of a web address for alerts renewed: %(name)s"),
        "alert_address.remove": _("Web address for alerts removed: %(name)s"),
        "alert_address.test": _("Web address for alerts tested: %(name)s"),
    }
)
