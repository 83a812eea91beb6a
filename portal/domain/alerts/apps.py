from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "portal.domain.alerts"
    label = "alerts"

    def ready(self) -> None:
        from portal.domain.alerts import connection_alerts, detection, frame, log_alerts, safety_rules

        frame.register()
        safety_rules.register()
        log_alerts.register()
        connection_alerts.register()
        detection.register()
