from django.apps import AppConfig


class CamerasConfig(AppConfig):
    name = "portal.domain.cameras"
    label = "cameras"

    def ready(self) -> None:
        from portal.domain.cameras import clips, door_command_pictures, panel, refreshing

        clips.register()
        door_command_pictures.register()
        panel.register()
        refreshing.register()
