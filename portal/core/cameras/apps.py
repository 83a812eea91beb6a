from django.apps import AppConfig


class CamerasConfig(AppConfig):
    name = "portal.core.cameras"
    label = "cameras"

    def ready(self) -> None:
        from portal.core.cameras import clips, commands, panel, watch

        clips.register()
        commands.register()
        panel.register()
        watch.register()
