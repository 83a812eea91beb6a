from django.apps import AppConfig


class CamerasConfig(AppConfig):
    name = "portal.core.cameras"
    label = "cameras"

    def ready(self) -> None:
        from portal.core.cameras import clips, door_command_pictures, panel, refreshing

        clips.register()
        door_command_pictures.register()
        panel.register()
        refreshing.register()
