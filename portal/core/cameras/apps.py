from django.apps import AppConfig


class CamerasConfig(AppConfig):
    name = "portal.core.cameras"
    label = "cameras"

    def ready(self) -> None:
        from portal.core.cameras import panel, watch

        panel.register()
        watch.register()
