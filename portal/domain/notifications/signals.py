"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.restore import marking
from portal.base.timers import rounds, timer_registry
from portal.base.timers.clock import scaled_seconds
from portal.domain.alerts import detection
from portal.domain.notifications import account_mails, alert_messages, outbox
from portal.domain.notifications.actions import ADDRESS, RECIPIENTS
from portal.domain.safety import rules
from tenants.sentences import register_sentences

rules.register(RECIPIENTS)
rules.register(ADDRESS)
marking.register("messages", outbox.mark_restored)
outbox.register(alert_messages.ALERT)
outbox.OUTBOX.register()
detection.subscribe_to_new_alerts(alert_messages.on_new_alerts)
timer_registry.register(
    "account_mails",
    account_mails.send_due,
    every=scaled_seconds(2),
    queue="sync",
    due_rows=lambda: [account_mails.due_mails()],
    seconds=60,
)
rounds.register(
    "account_events", rounds.delete_steps(account_mails.old_events), every=12 * 3600.0, queue="sync", seconds=60
)


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
