from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "portal.devices"
    label = "devices"

    def ready(self) -> None:
        from portal.devices import alerts, follow, frame, holds, status_reading

        alerts.register()
        follow.register()
        frame.register()
        holds.register()
        status_reading.register()
