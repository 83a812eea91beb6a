from django.apps import AppConfig


class DevicesConfig(AppConfig):
    name = "portal.devices"
    label = "devices"

    def ready(self) -> None:
        from portal.devices import follow, frame, watch

        follow.register()
        frame.register()
        watch.register()
