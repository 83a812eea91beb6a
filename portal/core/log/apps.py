from django.apps import AppConfig


class LogConfig(AppConfig):
    name = "portal.core.log"
    label = "log"

    def ready(self) -> None:
        from portal.core.log import filters

        filters.register()
