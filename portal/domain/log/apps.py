from django.apps import AppConfig


class LogConfig(AppConfig):
    name = "portal.domain.log"
    label = "log"

    def ready(self) -> None:
        from portal.domain.log import filters

        filters.register()
