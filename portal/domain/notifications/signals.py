"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import rounds, timer_registry
from portal.base.timers.scaled_pauses import scaled_seconds
from portal.domain.alerts import lifecycle
from portal.domain.notifications import account_mails, queueing, sending
from portal.domain.notifications.safety_rules import ADDRESS, RECIPIENTS
from portal.domain.safety import rules

rules.register(RECIPIENTS)
rules.register(ADDRESS)
marking.register("alerts", sending.mark_restored)
lifecycle.subscribe_to_new_alerts(queueing.on_new_alerts)
timer_registry.register(
    "tellings", sending.DUE.check_due, every=scaled_seconds(2), queue="sync", due_rows=sending.DUE.querysets
)
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
