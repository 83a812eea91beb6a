from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "portal.keys"
    label = "keys"

    def ready(self) -> None:
        from portal.keys import alerts, follow, frame, status_reading

        alerts.register()
        follow.register()
        frame.register()
        status_reading.register()
