from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "portal.core.alerts"
    label = "alerts"

    def ready(self) -> None:
        from portal.core.alerts import frame, loosening, of_connection, of_log, watching

        frame.register()
        loosening.register()
        of_log.register()
        of_connection.register()
        watching.register()
