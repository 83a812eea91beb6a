"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.domain.alerts import lifecycle
from portal.domain.notifications import account_mails, queueing, safety_rules, sending

safety_rules.register()
marking.register("alerts", sending.mark_restored)
lifecycle.subscribe_to_new_alerts(queueing.on_new_alerts)
timer_registry.register(
    "tellings", sending.DUE.check_due, every=scaled_seconds(2), queue="sync", due_rows=sending.DUE.querysets
)
account_mails.register()
