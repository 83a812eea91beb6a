from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "portal.rights"
    label = "rights"

    def ready(self) -> None:
        from portal.rights import copying

        copying.register()
