from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "portal.hooks"
    label = "hooks"

    def ready(self) -> None:
        from portal.hooks import follow, panel

        follow.register()
        panel.register()
