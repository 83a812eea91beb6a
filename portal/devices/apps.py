from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "portal.devices"
    label = "devices"

    def ready(self) -> None:
        from portal.devices import alerts, follow, frame, watch

        alerts.register()
        follow.register()
        frame.register()
        watch.register()
