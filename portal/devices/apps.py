from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "portal.devices"
    label = "devices"

    def ready(self) -> None:
        from portal.devices import alerts, follow, frame, holds, watch

        alerts.register()
        follow.register()
        frame.register()
        holds.register()
        watch.register()
