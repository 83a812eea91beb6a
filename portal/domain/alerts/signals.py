"""Register the app's parts that other apps run or show."""

from portal.base.timers import timer_registry
from portal.base.ui import frame
from portal.domain.alerts import detection, kinds
from portal.domain.alerts.connection_alerts import SERVICE_ALERTS
from portal.domain.alerts.frame import _unassigned, banners, unassigned_summary
from portal.domain.alerts.log_alerts import LOG_ALERTS
from portal.domain.alerts.safety_rules import ALERT_RULE
from portal.domain.mirror import events
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.safety import rules as safety_rules

frame.register_banners(banners, rows=lambda: _unassigned().only("pk"))
frame.register_fact("alerts", unassigned_summary)
safety_rules.register(ALERT_RULE)
for kind in (*LOG_ALERTS, *SERVICE_ALERTS):
    kinds.register(kind)
events.subscribe(MirrorKind.HISTORIES, detection.on_histories)
timer_registry.register(
    "alerts",
    detection.check_due,
    every=5.0,
    queue="sync",
    due_rows=detection.rows_to_check,
    lag_rows=detection.rows_that_lag,
    seconds=60,
)
