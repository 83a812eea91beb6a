"""Register the app's parts that other apps run or show."""

from portal.domain.alerts import connection_alerts, detection, frame, log_alerts, safety_rules

frame.register()
safety_rules.register()
log_alerts.register()
connection_alerts.register()
detection.register()
